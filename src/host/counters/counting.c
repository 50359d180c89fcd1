/*
 * Counts processes.
 *
 * Counters are opened for the existing threads, and the kernel hands them on to threads that these
 * start.  A thread that starts meanwhile may or may not have inherited counters, and nothing shows
 * which: so opening is repeated until no thread started meanwhile.  If that does not end, new
 * threads are taken to have inherited, and the process's own clock shows afterwards whether that
 * was right.
 */
#include "host/counters/counting.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/descriptors.h"
#include "host/core/room.h"
#include "host/counters/reason.h"
#include "host/process/forks/descendants.h"
#include "host/process/procfs.h"
#include "host/process/rights/rights.h"
#include "host/process/status.h"
#include "host/process/threads.h"

#define ROUNDS_MAX 4u        /* in which all counters are opened */
#define LOOK_NS    10000000u /* between two scans of the list of threads */
#define LOOK_SHARE 50u       /* scans may take one part in this many of the time */
#define ENDED_MAX  4096u     /* threads that ended and keep a line of their own */

struct task_list {
	struct counted_task *items;
	size_t count, room;
};

static int task_compare(const void *left, const void *right)
{
	const struct counted_task *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

static bool task_is_in(const struct counted_task *items, size_t count, pid_t tid)
{
	const struct counted_task key = { .tid = tid };

	return count && bsearch(&key, items, count, sizeof(key), task_compare);
}

static int task_list_add(struct task_list *list, pid_t pid, struct err *err)
{
	CLEANUP(free) pid_t *tids = NULL;
	size_t count;
	int r = proc_list(pid, "task", &tids, &count, err);

	for (size_t i = 0; !r && i < count; i++) {
		r = make_room(&list->items, list->count, &list->room, sizeof(*list->items));
		if (!r)
			list->items[list->count++] = (struct counted_task){ pid, tids[i] };
		else
			err_set(err, r, "no memory for threads");
	}
	return r;
}

/* All threads that count as this process.  Descendants may end meanwhile. */
static int task_list_read(struct task_list *ret, pid_t pid, bool has_children, struct err *err)
{
	CLEANUP(free) pid_t *descendants = NULL;
	struct err ignored = { 0 };
	size_t count = 0;
	int r = task_list_add(ret, pid, err);

	if (!r && has_children)
		r = descendants_list(pid, &descendants, &count, err);
	for (size_t i = 0; !r && i < count; i++)
		(void)!task_list_add(ret, descendants[i], &ignored);
	if (!r && ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), task_compare);
	return r;
}

static int set_cover(struct counter_set *set, const struct task_list *list, struct err *err)
{
	for (size_t i = 0; i < list->count; i++) {
		int r = counter_set_add(set, list->items[i].pid, list->items[i].tid, err);

		if (r && r != -ESRCH)
			return r;
	}
	return 0;
}

/* Has a thread begun since? */
static bool task_list_has_news(const struct task_list *before, const struct task_list *now)
{
	for (size_t i = 0; i < now->count; i++)
		if (!task_is_in(before->items, before->count, now->items[i].tid))
			return true;
	return false;
}

/* 1: threads began meanwhile. */
static int counted_cover_once(struct counted_process *self, bool has_children, struct err *err)
{
	struct task_list before = { 0 }, now = { 0 };
	int r = task_list_read(&before, self->pid, has_children, err);

	if (!r)
		r = set_cover(&self->whole, &before, err);
	if (!r)
		r = task_list_read(&now, self->pid, has_children, err);
	if (!r)
		r = task_list_has_news(&before, &now);
	free(before.items);
	free(now.items);
	return r;
}

static int counted_cover(struct counted_process *self, bool has_children, struct err *err)
{
	int r = 1;

	for (unsigned round = 0; r == 1 && round < ROUNDS_MAX; round++) {
		counter_set_clear(&self->whole);
		r = counted_cover_once(self, has_children, err);
	}
	self->has_doubt = r == 1;
	return MIN(r, 0);
}

static int counted_cover_threads(struct counted_process *self, bool has_children, struct err *err)
{
	struct task_list list = { 0 };
	int r = task_list_read(&list, self->pid, has_children, err);

	if (!r)
		r = set_cover(&self->threads, &list, err);
	self->seen = list.items;
	self->seen_count = list.count;
	return r;
}

/* Does any event have counters?  If none is shown, checks others. */
static bool counted_counts(const struct counted_process *self, const struct counter_events *events)
{
	bool is_any_shown = false;

	for (size_t i = 0; i < events->count; i++) {
		is_any_shown |= !events->items[i].is_hidden;
		if (!events->items[i].is_hidden &&
		    ((self->whole.count && counter_set_has(&self->whole, i)) ||
		     (self->threads.count && counter_set_has(&self->threads, i))))
			return true;
	}
	return !is_any_shown;
}

/* Rights before all else: with more of them there may be counts. */
static size_t counted_find_refusal(const struct counter_set *set)
{
	for (size_t i = 0; i < set->events->count; i++)
		if (!set->events->items[i].is_hidden &&
		    (set->answers[i].refusal == -EACCES || set->answers[i].refusal == -EPERM))
			return i;
	return 0;
}

static int counted_refuse(const struct counted_process *self, struct err *err)
{
	const struct counter_set *set = self->threads.events ? &self->threads : &self->whole;
	size_t event = counted_find_refusal(set);
	const struct count none = { .status = COUNT_NOT_SUPPORTED };
	int code = set->answers[event].refusal;
	struct counter_machine machine;
	struct counter_reason reason;

	if (!set->count) {
		err_set(err, -ESRCH, "process %d has ended", (int)self->pid);
		return err_exit(err, EXIT_NO_PROCESS);
	}
	if (code == -EACCES || code == -EPERM) {
		perf_access_explain(code, err);
		return err_while(err, "count %d (%s)", (int)self->pid, self->name);
	}
	err_set(err, -ENODEV, "count %d (%s): none of these events can be counted here",
		(int)self->pid, self->name);
	counter_machine_read(&machine);
	counter_reason_find(&set->events->items[event], &set->answers[event], &none, &machine,
			    &reason);
	err_why(err, "%s", reason.why);
	err_fix(err, "%s", reason.fix);
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

static bool program_read(pid_t pid, struct counted_program *ret)
{
	struct process_status status;
	struct err ignored = { 0 };

	*ret = (struct counted_program){ 0 };
	if (status_read(pid, pid, &status, &ignored))
		return false;
	if (proc_read_link(pid, "exe", ret->path, sizeof(ret->path)) < 0)
		ret->path[0] = '\0';
	ret->euid = status.euid;
	ret->egid = status.egid;
	ret->capabilities = status.capabilities_permitted;
	return true;
}

static bool program_has_new_rights(const struct counted_program *before, pid_t pid)
{
	struct counted_program now;

	return program_read(pid, &now) && strcmp(now.path, before->path) &&
	       (now.euid != before->euid || now.egid != before->egid ||
		now.capabilities != before->capabilities);
}

/* Until it is reaped no other process can get its number: what was read before is its own. */
static bool counted_is_there(const struct counted_process *self)
{
	return !syscall(SYS_pidfd_send_signal, self->pidfd, 0, NULL, 0) || errno != ESRCH;
}

static int counted_open(struct counted_process *self, const struct counting_options *options,
			enum counter_heirs heirs, struct err *err)
{
	long pidfd = syscall(SYS_pidfd_open, self->pid, 0);
	int r;

	self->pidfd = pidfd < 0 ? -1 : (int)pidfd;
	if (pidfd < 0)
		return proc_error(self->pid, "task", -ESRCH, err);
	thread_read_name(self->pid, self->pid, self->name, sizeof(self->name));
	program_read(self->pid, &self->program);
	counter_set_init(&self->whole, options->events, heirs);
	self->whole.software_only = options->by_thread;
	r = counted_cover(self, options->has_children, err);
	if (!r && options->by_thread) {
		counter_set_init(&self->threads, options->events, HEIRS_NONE);
		r = counted_cover_threads(self, options->has_children, err);
	}
	if (r)
		return err_while(err, "count %d", (int)self->pid);
	return counted_counts(self, options->events) ? 0 : counted_refuse(self, err);
}

static enum counter_heirs heirs_choose(struct counting *self)
{
	if (self->options.has_children)
		return HEIRS_PROCESSES;
	self->counts_forks = !counter_can_keep_to_threads();
	return self->counts_forks ? HEIRS_PROCESSES : HEIRS_THREADS;
}

int counting_open(struct counting *ret, const struct counting_options *options, struct err *err)
{
	enum counter_heirs heirs;
	int r = 0;

	*ret = (struct counting){ .options = *options };
	descriptors_raise_limit();
	heirs = heirs_choose(ret);
	ret->processes = calloc(options->pid_count, sizeof(*ret->processes));
	if (!ret->processes)
		return err_set(err, -ENOMEM, "no memory for counters");
	for (size_t i = 0; !r && i < options->pid_count; i++) {
		struct counted_process *process = &ret->processes[ret->count++];

		*process = (struct counted_process){ .pid = options->pids[i], .pidfd = -1 };
		r = counted_open(process, options, heirs, err);
	}
	if (r)
		counting_close(ret);
	return r;
}

/* The time of all its threads, including ended ones; 0 if it has ended. */
static uint64_t counted_cpu_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The whole begins before its parts and ends after them, so that it is never less. */
void counting_start(struct counting *self)
{
	for (size_t i = 0; i < self->count; i++) {
		struct counted_process *process = &self->processes[i];

		counter_set_switch(&process->whole, true);
		process->cpu_begin_ns = counted_cpu_ns(process->pid);
		if (self->options.by_thread)
			counter_set_switch(&process->threads, true);
	}
	self->begin_ns = self->interval_begin_ns = self->now_ns = now_ns();
	self->looked_ns = self->begin_ns;
	self->next_look_ns = self->begin_ns + LOOK_NS;
}

static void counted_refresh_names(struct counted_process *self)
{
	thread_read_name(self->pid, self->pid, self->name, sizeof(self->name));
	for (size_t i = 0; i < self->threads.count; i++) {
		struct counter_thread *thread = &self->threads.threads[i];

		if (!thread->has_ended)
			thread_read_name(thread->pid, thread->tid, thread->name,
					 sizeof(thread->name));
	}
}

void counting_stop(struct counting *self)
{
	counting_look(self);
	for (size_t i = 0; i < self->count; i++) {
		struct counted_process *process = &self->processes[i];

		if (self->options.by_thread)
			counter_set_switch(&process->threads, false);
		process->cpu_end_ns = counted_cpu_ns(process->pid);
		if (!counted_is_there(process))
			process->cpu_end_ns = 0;
		counter_set_switch(&process->whole, false);
		counted_refresh_names(process);
	}
	counting_read(self);
}

void counting_close(struct counting *self)
{
	for (size_t i = 0; i < self->count; i++) {
		struct counted_process *process = &self->processes[i];

		if (process->whole.events)
			counter_set_done(&process->whole);
		if (process->threads.events)
			counter_set_done(&process->threads);
		free(process->seen);
		if (process->pidfd >= 0)
			close(process->pidfd);
	}
	free(self->processes);
	*self = (struct counting){ 0 };
}

static void counted_end_thread(struct counted_process *self, pid_t tid)
{
	for (size_t i = self->threads.count; i-- > 0;)
		if (self->threads.threads[i].tid == tid && !self->threads.threads[i].has_ended)
			counter_thread_end(&self->threads, &self->threads.threads[i]);
}

/* A thread that cannot have counters, for want of descriptors: the rest has it. */
static void counted_begin_thread(struct counting *self, struct counted_process *process,
				 const struct counted_task *task)
{
	struct err ignored = { 0 };
	int r = counter_set_add(&process->threads, task->pid, task->tid, &ignored);

	process->later_threads++;
	if (!r) {
		counter_thread_switch(&process->threads,
				      &process->threads.threads[process->threads.count - 1], true);
	} else if (r != -ESRCH) {
		self->threads_unseen++;
		process->has_unseen_threads = true;
	}
}

static void counted_look(struct counting *self, struct counted_process *process)
{
	struct task_list now = { 0 };
	struct err ignored = { 0 };

	if (process->has_ended ||
	    task_list_read(&now, process->pid, self->options.has_children, &ignored)) {
		free(now.items);
		return;
	}
	for (size_t i = 0; i < process->seen_count; i++)
		if (!task_is_in(now.items, now.count, process->seen[i].tid))
			counted_end_thread(process, process->seen[i].tid);
	for (size_t i = 0; i < now.count; i++)
		if (!task_is_in(process->seen, process->seen_count, now.items[i].tid))
			counted_begin_thread(self, process, &now.items[i]);
	counter_set_fold(&process->threads, ENDED_MAX);
	free(process->seen);
	process->seen = now.items;
	process->seen_count = now.count;
}

void counting_look(struct counting *self)
{
	uint64_t begin_ns = now_ns(), took_ns;

	if (!self->options.by_thread)
		return;
	for (size_t i = 0; i < self->count; i++)
		counted_look(self, &self->processes[i]);
	took_ns = now_ns() - begin_ns;
	self->look_apart_ns = MAX(self->look_apart_ns, begin_ns - self->looked_ns);
	self->looked_ns = begin_ns;
	self->next_look_ns = begin_ns + MAX(LOOK_NS, took_ns * LOOK_SHARE);
}

uint64_t counting_look_wait_ns(const struct counting *self)
{
	uint64_t now = now_ns();

	if (!self->options.by_thread)
		return UINT64_MAX;
	return self->next_look_ns > now ? self->next_look_ns - now : 0;
}

static bool counted_has_ended(const struct counted_process *self)
{
	struct pollfd wait = { .fd = self->pidfd, .events = POLLIN };

	return self->has_ended || poll(&wait, 1, 0) > 0;
}

void counting_read(struct counting *self)
{
	for (size_t i = 0; i < self->count; i++) {
		struct counted_process *process = &self->processes[i];

		process->has_ended = counted_has_ended(process);
		bool has_changed = program_has_new_rights(&process->program, process->pid);

		process->has_new_rights |= has_changed && counted_is_there(process);
		if (self->options.by_thread)
			counter_set_read(&process->threads);
		counter_set_read(&process->whole);
	}
	self->now_ns = now_ns();
}

void counting_turn(struct counting *self)
{
	for (size_t i = 0; i < self->count; i++) {
		self->processes[i].later_threads_before = self->processes[i].later_threads;
		counter_set_turn(&self->processes[i].whole);
		if (self->options.by_thread)
			counter_set_turn(&self->processes[i].threads);
	}
	self->interval_begin_ns = self->now_ns;
}

struct counted_process *counting_find_alive(struct counting *self)
{
	for (size_t i = 0; i < self->count; i++)
		if (!self->processes[i].has_ended)
			return &self->processes[i];
	return NULL;
}
