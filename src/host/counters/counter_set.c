/*
 * Opens and reads counting perf events.
 */
#include "host/counters/counter_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/core/room.h"
#include "host/process/rights/rights.h"
#include "host/process/threads.h"

static int counter_open_attr(struct perf_event_attr attr, pid_t tid, int leader)
{
	long fd = syscall(SYS_perf_event_open, &attr, tid, /* cpu */ -1, leader,
			  PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

struct perf_event_attr counter_attr(const struct counter_event *event, enum counter_heirs heirs,
				    bool is_user_only, bool is_leader)
{
	unsigned exclusions = event->exclusions;

	if (is_user_only)
		exclusions |= COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR;
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = event->type,
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = is_leader,
		.inherit = heirs != HEIRS_NONE,
		.inherit_thread = heirs == HEIRS_THREADS,
		.exclude_user = !!(exclusions & COUNTER_NO_USER),
		.exclude_kernel = !!(exclusions & COUNTER_NO_KERNEL),
		.exclude_hv = !!(exclusions & COUNTER_NO_HYPERVISOR),
		.exclude_guest = !!(exclusions & COUNTER_NO_GUEST),
		.exclude_host = !!(exclusions & COUNTER_NO_HOST),
	};
}

/* Tried on limpet itself, where there can be no other reason. */
bool counter_can_keep_to_threads(void)
{
	struct counter_event dummy = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY };
	int fd = counter_open_attr(counter_attr(&dummy, HEIRS_THREADS, true, true), 0, -1);

	if (fd >= 0)
		close(fd);
	return fd != -EINVAL;
}

void counter_set_init(struct counter_set *ret, const struct counter_events *events,
		      enum counter_heirs heirs)
{
	*ret = (struct counter_set){ .events = events, .heirs = heirs };
}

/* The counter that leads the group of this event in the thread; -1: it leads itself. */
static int thread_find_leader(const struct counter_set *set, const struct counter_thread *thread,
			      size_t event)
{
	if (set->answers[event].is_alone)
		return -1;
	for (size_t i = 0; i < event; i++)
		if (set->events->items[i].group == set->events->items[event].group &&
		    !set->answers[i].is_alone && thread->counters[i].fd >= 0)
			return thread->counters[i].fd;
	return -1;
}

/* The next thing to try after a refusal; false: there is none. */
static bool answer_step_down(struct counter_answer *answer, const struct counter_event *event,
			     int code, int leader)
{
	bool wants_kernel = !(event->exclusions & COUNTER_NO_KERNEL);

	if ((code == -EACCES || code == -EPERM) && wants_kernel && !answer->is_user_only &&
	    !event->is_kernel_side && !(event->exclusions & COUNTER_NO_USER))
		return answer->is_user_only = true;
	if (code == -EINVAL && leader >= 0)
		return answer->is_alone = true;
	return false;
}

/* The descriptor; -errno. */
static int thread_open_counter(struct counter_set *set, const struct counter_thread *thread,
			       size_t index)
{
	const struct counter_event *event = &set->events->items[index];
	struct counter_answer *answer = &set->answers[index];
	int leader, fd;

	do {
		leader = thread_find_leader(set, thread, index);
		fd = counter_open_attr(counter_attr(event, set->heirs, answer->is_user_only,
						    /* is_leader */ leader < 0),
				       thread->tid, leader);
	} while (fd < 0 && answer_step_down(answer, event, fd, leader));
	return fd;
}

/* Errors of limpet or the kernel, not of the event. */
static bool code_is_fatal(int code)
{
	return code == -EMFILE || code == -ENFILE || code == -ENOMEM || code == -ENOSYS;
}

bool counter_set_has(const struct counter_set *set, size_t event)
{
	return !set->answers[event].refusal &&
	       !(set->software_only && set->events->items[event].needs_pmu);
}

/* An event that happens in the kernel and may only be counted outside of it would be 0 for ever. */
static int event_check_modes(const struct counter_event *event)
{
	return event->is_kernel_side && event->exclusions & COUNTER_NO_KERNEL ? -EDOM : 0;
}

static int thread_open(struct counter_set *set, struct counter_thread *thread)
{
	for (size_t i = 0; i < set->events->count; i++) {
		struct counter_answer *answer = &set->answers[i];
		int fd;

		answer->refusal = answer->refusal ? answer->refusal
						  : event_check_modes(&set->events->items[i]);
		if (!counter_set_has(set, i))
			continue;
		fd = thread_open_counter(set, thread, i);
		if (fd == -ESRCH || code_is_fatal(fd))
			return fd;
		if (fd < 0)
			answer->refusal = fd;
		else
			thread->counters[i].fd = fd;
	}
	return 0;
}

static void thread_close(const struct counter_set *set, struct counter_thread *thread)
{
	for (size_t i = 0; i < set->events->count; i++) {
		if (thread->counters[i].fd >= 0)
			close(thread->counters[i].fd);
		thread->counters[i].fd = -1;
	}
}

/* A thread may end before its counters are opened, and another process reuse its number: then the
 * kernel's answer was for that one. */
static int thread_open_own(struct counter_set *set, struct counter_thread *thread)
{
	struct counter_answer before[COUNTER_EVENTS_MAX];
	int r;

	memcpy(before, set->answers, sizeof(before));
	r = thread_open(set, thread);
	if (!r && !thread_is_there(thread->pid, thread->tid))
		r = -ESRCH;
	if (r == -ESRCH)
		memcpy(set->answers, before, sizeof(before));
	return r;
}

int counter_set_add(struct counter_set *set, pid_t pid, pid_t tid, struct err *err)
{
	struct counter_thread thread = { .pid = pid, .tid = tid };
	int r = make_room(&set->threads, set->count, &set->room, sizeof(thread));

	if (!r) {
		thread.counters = calloc(set->events->count, sizeof(*thread.counters));
		r = thread.counters ? 0 : -ENOMEM;
	}
	if (r)
		return err_set(err, r, "no memory for counters");
	for (size_t i = 0; i < set->events->count; i++)
		thread.counters[i].fd = -1;
	r = thread_open_own(set, &thread);
	if (!r) {
		thread_read_name(pid, tid, thread.name, sizeof(thread.name));
		set->threads[set->count++] = thread;
		return 0;
	}
	thread_close(set, &thread);
	free(thread.counters);
	return r == -ESRCH ? r : perf_access_explain(r, err);
}

/* Only leaders can be off; an order to one of the others would change nothing. */
void counter_thread_switch(const struct counter_set *set, const struct counter_thread *thread,
			   bool is_on)
{
	unsigned long order = is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < set->events->count; i++)
		if (thread->counters[i].fd >= 0 && thread_find_leader(set, thread, i) < 0)
			ioctl(thread->counters[i].fd, order, 0);
}

void counter_set_switch(struct counter_set *set, bool is_on)
{
	for (size_t i = 0; i < set->count; i++)
		counter_thread_switch(set, &set->threads[i], is_on);
}

static void thread_read(const struct counter_set *set, struct counter_thread *thread)
{
	for (size_t i = 0; i < set->events->count; i++) {
		struct counter_reading reading;
		struct counter *counter = &thread->counters[i];

		if (counter->fd >= 0 &&
		    read(counter->fd, &reading, sizeof(reading)) == sizeof(reading))
			counter->now = reading;
	}
}

void counter_set_read(struct counter_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		if (!set->threads[i].has_ended)
			thread_read(set, &set->threads[i]);
}

void counter_thread_end(const struct counter_set *set, struct counter_thread *thread)
{
	thread_read(set, thread);
	thread_close(set, thread);
	thread->has_ended = true;
}

static void counter_add(const struct counter *counter, bool is_interval, struct counter_sum *sum)
{
	static const struct counter_reading nothing;
	struct counter_reading since =
		counter_reading_since(&counter->now, is_interval ? &counter->before : &nothing);

	counter_sum_add(sum, &since);
}

static void thread_fold(struct counter_set *set, struct counter_thread *thread)
{
	for (size_t i = 0; i < set->events->count; i++) {
		counter_add(&thread->counters[i], /* is_interval */ false, &set->folded[i].all);
		counter_add(&thread->counters[i], /* is_interval */ true, &set->folded[i].interval);
	}
	free(thread->counters);
	set->folded_count++;
}

void counter_set_fold(struct counter_set *set, size_t most)
{
	size_t ended = 0, kept = 0, left;

	for (size_t i = 0; i < set->count; i++)
		ended += set->threads[i].has_ended;
	if (ended <= most)
		return;
	left = ended - most / 2;
	for (size_t i = 0; i < set->count; i++) {
		if (left && set->threads[i].has_ended) {
			thread_fold(set, &set->threads[i]);
			left--;
		} else {
			set->threads[kept++] = set->threads[i];
		}
	}
	set->count = kept;
}

void counter_set_turn(struct counter_set *set)
{
	for (size_t i = 0; i < set->events->count; i++)
		set->folded[i].interval = (struct counter_sum){ 0 };
	for (size_t i = 0; i < set->count; i++)
		for (size_t k = 0; k < set->events->count; k++)
			set->threads[i].counters[k].before = set->threads[i].counters[k].now;
}

void counter_set_clear(struct counter_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		thread_close(set, &set->threads[i]);
		free(set->threads[i].counters);
	}
	set->count = set->folded_count = 0;
	memset(set->folded, 0, sizeof(set->folded));
	memset(set->answers, 0, sizeof(set->answers));
}

void counter_set_done(struct counter_set *set)
{
	counter_set_clear(set);
	free(set->threads);
	*set = (struct counter_set){ 0 };
}

/* Of the machine, or of rights. */
static struct count answer_count(int refusal)
{
	bool is_right = refusal == -EACCES || refusal == -EPERM || refusal == -EBUSY;

	return (struct count){ .status = is_right ? COUNT_NOT_COUNTED : COUNT_NOT_SUPPORTED };
}

static struct counter_sum set_folded_sum(const struct counter_set *set, size_t event,
					 bool is_interval)
{
	return is_interval ? set->folded[event].interval : set->folded[event].all;
}

struct count counter_set_count_folded(const struct counter_set *set, size_t event, bool is_interval)
{
	struct counter_sum sum = set_folded_sum(set, event, is_interval);

	return counter_set_has(set, event) ? counter_sum_count(&sum, &set->events->items[event])
					   : answer_count(set->answers[event].refusal);
}

struct count counter_set_count(const struct counter_set *set, const struct counter_thread *thread,
			       size_t event, bool is_interval)
{
	struct counter_sum sum = { 0 };

	if (!counter_set_has(set, event))
		return answer_count(set->answers[event].refusal);
	if (thread) {
		counter_add(&thread->counters[event], is_interval, &sum);
	} else {
		sum = set_folded_sum(set, event, is_interval);
		for (size_t i = 0; i < set->count; i++)
			counter_add(&set->threads[i].counters[event], is_interval, &sum);
	}
	return counter_sum_count(&sum, &set->events->items[event]);
}
