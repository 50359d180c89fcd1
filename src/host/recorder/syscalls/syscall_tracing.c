/*
 * The thread that reads the kernel's ring, and the counts of calls cut by both ends of a recording.
 */
#include "host/recorder/syscalls/syscall_tracing.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/threads/worker.h"
#include "host/process/procfs.h"
#include "host/process/threads.h"
#include "host/recorder/syscalls/syscall_writer.h"
#include "host/sampling/priority.h"

#include <errno.h>
#include <string.h>

#define PAUSE_NS    2000000u
#define REFRESH_NS  1000000000u
#define LAST_DRAINS 3 /* for programs still running while they are detached */

struct syscall_tracing {
	struct recording *recording;
	struct syscall_writer *writer;
	struct syscall_source *source; /* NULL: not started, or paused */
	pid_t pid;                     /* the first that the user named */
	uint64_t refreshed_ns;
	uint64_t dropped_before; /* by this start */
	struct err trouble;      /* with a record; used by the thread only */

	struct worker worker; /* its lock guards what follows */
	struct syscall_totals shown;
	struct err failure;
};

int syscall_tracing_new(struct syscall_tracing **ret, struct programs *programs, struct err *err)
{
	struct syscall_tracing *self;
	int r = syscall_source_probe(err);

	if (r)
		return err_while(err, "trace system calls");
	self = calloc(1, sizeof(*self));
	if (!self)
		return err_set(err, -ENOMEM, "system calls: no memory");
	worker_init(&self->worker);
	self->recording = programs->recording;
	r = syscall_writer_new(&self->writer, programs, err);
	if (r)
		syscall_tracing_free(self);
	else
		*ret = self;
	return r;
}

void syscall_tracing_free(struct syscall_tracing *self)
{
	if (!self)
		return;
	worker_stop(&self->worker);
	syscall_source_close(self->source);
	syscall_writer_free(self->writer);
	worker_done(&self->worker);
	free(self);
}

static int on_record(const struct syscall_record *record, void *context)
{
	struct syscall_tracing *self = context;

	return syscall_writer_add(self->writer, record, &self->trouble);
}

static void show_totals(struct syscall_tracing *self)
{
	worker_lock(&self->worker);
	self->shown = self->writer->totals;
	worker_unlock(&self->worker);
}

static int drain_once(struct syscall_tracing *self, struct err *err)
{
	int r = syscall_source_drain(self->source, on_record, self);

	if (self->trouble.code) {
		*err = self->trouble;
		return err->code;
	}
	return r < 0 ? err_set(err, r, "reading system calls: %s", strerror(-r)) : 0;
}

static int tracing_pass(struct syscall_tracing *self, struct err *err)
{
	int r = drain_once(self, err);

	if (!r)
		r = syscall_writer_flush(self->writer, /* everything */ false, err);
	if (!r && now_ns() - self->refreshed_ns >= REFRESH_NS) {
		self->refreshed_ns = now_ns();
		r = syscall_writer_refresh(self->writer, err);
		if (!r)
			r = recording_clock(self->recording, err);
	}
	show_totals(self);
	return r;
}

static void *tracing_run(void *argument)
{
	struct syscall_tracing *self = argument;
	struct priority priority;
	struct err err = { 0 };

	priority_raise(&priority);
	do {
		if (tracing_pass(self, &err)) {
			worker_lock(&self->worker);
			self->failure = err;
			worker_unlock(&self->worker);
			break;
		}
	} while (worker_sleep_until(&self->worker, now_ns() + PAUSE_NS));
	priority_restore(&priority);
	return NULL;
}

int syscall_tracing_start(struct syscall_tracing *self,
			  const struct syscall_source_options *options, struct err *err)
{
	int r;

	self->pid = options->pids[0];
	syscall_writer_begin(self->writer);
	self->dropped_before = self->writer->totals.collected.drops[DROP_FULL];
	self->refreshed_ns = now_ns();
	r = syscall_source_open(&self->source, options, err);
	if (r)
		return r;
	r = worker_start(&self->worker, tracing_run, self);
	return r ? err_set(err, r, "start the thread for system calls: %s", strerror(-r)) : 0;
}

int syscall_tracing_check(struct syscall_tracing *self, struct err *err)
{
	return worker_check(&self->worker, &self->failure, err);
}

/* The threads seen, and the calls in flight. */
struct cut_count {
	struct syscall_tracing *tracing;
	struct table threads; /* (tid, 0) */
	struct err *err;
	int r;
};

static void count_thread(const struct syscall_thread *thread, void *context)
{
	struct cut_count *count = context;
	bool is_new;

	if (!table_make(&count->threads, thread->tid, 0, &is_new))
		count->r = err_set(count->err, -ENOMEM, "system calls: no memory");
	if (!count->r)
		count->r = syscall_writer_cut(count->tracing->writer, (pid_t)thread->pid,
					      thread->is_within, 0, count->err);
}

/* Counts threads in calls that have not returned since tracing began. */
static void count_silent(struct cut_count *count, pid_t pid)
{
	CLEANUP(free) pid_t *tids = NULL;
	struct blocked_call call;
	size_t tid_count = 0;

	if (proc_list(pid, "task", &tids, &tid_count, NULL))
		return;
	for (size_t i = 0; !count->r && i < tid_count; i++) {
		if (table_find(&count->threads, (uint64_t)tids[i], 0))
			continue;
		(void)thread_read_call(pid, tids[i], &call);
		if (call.is_known)
			count->r =
				syscall_writer_cut(count->tracing->writer, pid, 1, 1, count->err);
	}
}

static int count_cut(struct syscall_tracing *self, const pid_t *pids, size_t pid_count,
		     struct err *err)
{
	struct cut_count count = { .tracing = self, .err = err };

	syscall_source_each_thread(self->source, count_thread, &count);
	for (size_t i = 0; i < pid_count; i++)
		count_silent(&count, pids[i]);
	table_done(&count.threads);
	return count.r;
}

/* Dropped calls that no record has reported: each thread's last ones. */
static int count_dropped(struct syscall_tracing *self, struct err *err)
{
	struct syscall_counts counts;
	uint64_t reported = self->writer->totals.collected.drops[DROP_FULL] - self->dropped_before;
	int r;

	syscall_source_counts(self->source, &counts);
	r = syscall_writer_drop(self->writer, self->pid, DROP_FULL,
				counts.dropped - MIN(reported, counts.dropped), err);
	return r ? r
		 : syscall_writer_drop(self->writer, self->pid, DROP_NO_RING, counts.untracked,
				       err);
}

int syscall_tracing_pause(struct syscall_tracing *self, struct err *err)
{
	CLEANUP(free) pid_t *pids = NULL;
	size_t pid_count = 0;
	int r;

	if (!self->source)
		return 0;
	worker_stop(&self->worker);
	r = syscall_tracing_check(self, err);
	if (!r)
		r = syscall_source_list(self->source, &pids, &pid_count, err);
	syscall_source_stop(self->source);
	for (unsigned i = 0; !r && i < LAST_DRAINS; i++) {
		r = drain_once(self, err);
		sleep_ns(1000000);
	}
	if (!r)
		r = count_cut(self, pids, pid_count, err);
	if (!r)
		r = count_dropped(self, err);
	if (!r)
		r = syscall_writer_refresh(self->writer, err);
	if (!r)
		r = syscall_writer_flush(self->writer, /* everything */ true, err);
	show_totals(self);
	syscall_source_close(self->source);
	self->source = NULL;
	return r;
}

bool syscall_tracing_goes_on(const struct syscall_tracing *self)
{
	return self->source && syscall_source_has_processes(self->source);
}

void syscall_tracing_totals(struct syscall_tracing *self, struct syscall_totals *ret)
{
	worker_lock(&self->worker);
	*ret = self->shown;
	worker_unlock(&self->worker);
}
