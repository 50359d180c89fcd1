/*
 * Gets the stack of every thread of a process once.  Needs what the sampler "bpf" needs, and Linux
 * 5.18 for reading the stacks of other threads.
 */
#include "host/sampling/bpf/snapshot.h"

#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/core/sorted.h"
#include "host/sampling/bpf/kernel_tables.h"
#include "host/sampling/bpf/sent_stack.h"
#include "host/sampling/bpf/thread_clocks.h"
#include "host/sampling/bpf/thread_walk.h"
#include "host/sampling/generated_code.h"
#include "host/sampling/interpreter_stacks.h"
#include "host/sampling/priority.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS_MAX 8        /* for threads that ran or switched meanwhile */
#define ROUND_NS   20000000 /* how long a round waits for their clocks */
#define TICK_NS    500000
#define RING_BYTES (64u << 20) /* all threads with all frames, without a reader meanwhile */

struct taking {
	struct snapshot *snapshot;
	pid_t pid;
	bool with_kernel_frames;
	const struct snapshot_hook *hook;
	struct priority priority;
	struct kernel_session session;
	struct kernel_tables tables;
	struct ring_buffer *ring;
	struct interpreter *interpreter; /* NULL: none is known */
	struct generated_code generated;
	struct interpreter_stacks interpreter_stacks;
	union whole_sample walked; /* a record whose stack was walked in user space */
	int failure;
};

static size_t size_of(const struct sample *sample)
{
	return sizeof(*sample) + ((size_t)sample->kernel_count + sample->user_count) * 8;
}

static uint64_t tid_at(const void *samples, size_t index)
{
	return ((struct sample *const *)samples)[index]->tid;
}

static bool is_caught(const struct sample *sample)
{
	return sample->end != STACK_NO_USER || sample->kind != SAMPLE_RUNNING;
}

/* Of two samples of a thread, the one that was caught stays. */
static int snapshot_keep(struct snapshot *snapshot, struct sample *sample)
{
	size_t index;
	int r = 0;

	if (find_sorted(snapshot->samples, snapshot->count, sample->tid, tid_at, &index)) {
		if (is_caught(snapshot->samples[index])) {
			free(sample);
			return 0;
		}
		free(snapshot->samples[index]);
	} else {
		r = insert_room(&snapshot->samples, &snapshot->count, &snapshot->room,
				sizeof(void *), index);
	}
	if (r)
		free(sample);
	else
		snapshot->samples[index] = sample;
	return r;
}

static void add_limit(struct snapshot *snapshot, const char *limit)
{
	size_t length = strlen(snapshot->limits);

	snprintf(snapshot->limits + length, sizeof(snapshot->limits) - length, "%s%s",
		 length ? "; " : "", limit);
}

static int on_record(void *context, void *data, size_t size)
{
	struct taking *taking = context;
	const struct sample *record = data;
	struct space *space = taking->snapshot->space;
	struct sample *copy;

	if (size < sizeof(*record) || size < size_of(record) || record->end >= STACK_ENDS ||
	    (record->flags & KERNEL_RAW && !taking->generated.java))
		return 0;
	if (record->kind == KERNEL_EVENT_INTERPRETED)
		return taking->failure =
			       interpreter_stacks_hold(&taking->interpreter_stacks, record);
	if (record->kind != KERNEL_EVENT_SEEN && record->kind != KERNEL_EVENT_RUNNING &&
	    record->kind != SAMPLE_RUNNING)
		return 0;
	if (record->flags & KERNEL_REST) {
		stack_rest_walk(record, space, &taking->walked.sample);
		record = &taking->walked.sample;
	} else if (record->flags & KERNEL_RAW) {
		/* Java has compiled code since it was read. */
		generated_code_read(&taking->generated, space);
		raw_stack_walk(record, space, &taking->walked.sample);
		record = &taking->walked.sample;
	}
	record = interpreter_stacks_merge(&taking->interpreter_stacks, taking->interpreter, record);
	copy = malloc(size_of(record));
	if (!copy)
		return taking->failure = -ENOMEM;
	memcpy(copy, record, size_of(record));
	copy->weight_ns = 0;
	if (record->kind == KERNEL_EVENT_SEEN) {
		copy->kind = record->state == 'R' ? SAMPLE_RUNNABLE : SAMPLE_BLOCKED;
	} else {
		copy->kind = SAMPLE_RUNNING;
		copy->state = 'R';
	}
	return taking->failure = snapshot_keep(taking->snapshot, copy);
}

/* What a stack needs besides tables of files: rules of generated code, and the interpreter. */
static void find_runtimes(struct taking *taking)
{
	struct snapshot *snapshot = taking->snapshot;
	struct err why = { 0 };
	int r;

	generated_code_read(&taking->generated, snapshot->space);
	if (taking->generated.why[0])
		add_limit(snapshot, taking->generated.why);
	r = interpreter_open(&taking->interpreter, snapshot->space, taking->pid, READER_KERNEL,
			     &why);
	if (r && r != -ENOENT && r != -EAGAIN)
		add_limit(snapshot, why.what);
}

static int snapshot_load(struct taking *taking, struct err *err)
{
	struct kernel_settings settings = { .period_ns = TICK_NS,
					    .with_kernel_frames = taking->with_kernel_frames };
	struct kernel_sizes sizes;
	int r;

	find_runtimes(taking);
	settings.has_no_interpreter = !taking->interpreter;
	kernel_tables_measure(taking->snapshot->space, false, &sizes);
	sizes.ring_bytes = RING_BYTES;
	r = kernel_session_init(&taking->session, &settings, &sizes, err);
	if (!r)
		r = kernel_session_load(&taking->session, KERNEL_THREADS, err);
	if (!r)
		r = kernel_tables_init(&taking->tables, &taking->session, err);
	if (!r)
		r = kernel_tables_publish(&taking->tables, taking->snapshot->space, ASKING, err);
	if (!r && taking->interpreter)
		r = kernel_tables_interpreter(&taking->tables, taking->pid, taking->interpreter,
					      err);
	if (r)
		return r;
	taking->ring = kernel_session_ring(&taking->session, on_record, taking, err);
	return taking->ring ? 0 : err->code;
}

static int walk_threads(struct taking *taking, struct err *err)
{
	const struct kernel_question question = { .pid = (uint32_t)taking->pid,
						  .is_kernel = taking->with_kernel_frames };
	int r = thread_walk(&taking->session, &taking->tables, taking->snapshot->space, &question,
			    err);

	if (r)
		return r;
	r = ring_buffer__consume(taking->ring);
	return r < 0 ? err_set(err, r, "reading threads: %s", strerror(-r)) : 0;
}

static size_t count_missing(const struct snapshot *snapshot)
{
	size_t count = 0;

	for (size_t i = 0; i < snapshot->count; i++)
		count += !is_caught(snapshot->samples[i]);
	return count;
}

/* Waits until the clock of each has ticked; the clock of a thread that stopped running does not. */
static int catch_running(struct taking *taking, struct err *err)
{
	const struct snapshot *snapshot = taking->snapshot;
	const struct timespec pause = { .tv_nsec = TICK_NS };
	struct thread_clocks clocks = {
		.options = { .pid = taking->pid,
			     .period_ns = TICK_NS,
			     .program = kernel_session_program(&taking->session, KERNEL_SAMPLE,
							       "sample_running") },
	};
	uint64_t end_ns = now_ns() + ROUND_NS;
	int r = 0;

	for (size_t i = 0; !r && i < snapshot->count; i++)
		if (!is_caught(snapshot->samples[i]))
			r = thread_clocks_open_one(&clocks, (pid_t)snapshot->samples[i]->tid, err);
	while (!r && count_missing(snapshot) && now_ns() < end_ns) {
		nanosleep(&pause, NULL);
		r = ring_buffer__consume(taking->ring);
		r = r < 0 ? err_set(err, r, "reading threads: %s", strerror(-r)) : 0;
	}
	thread_clocks_close(&clocks);
	return r;
}

static int snapshot_collect(struct taking *taking, struct err *err)
{
	int r = snapshot_load(taking, err);

	if (!r && taking->hook)
		r = taking->hook->before(taking->hook->context, err);
	if (!r)
		r = walk_threads(taking, err);
	if (!r && count_missing(taking->snapshot))
		r = kernel_session_load(&taking->session, KERNEL_SAMPLE, err);
	for (int i = 0; i < ROUNDS_MAX && !r && count_missing(taking->snapshot); i++) {
		r = catch_running(taking, err);
		if (!r && count_missing(taking->snapshot))
			r = walk_threads(taking, err);
	}
	return r;
}

static int take_with_rights(struct snapshot *snapshot, pid_t pid, bool with_kernel_frames,
			    const struct snapshot_hook *hook, struct err *err)
{
	struct taking taking = { .snapshot = snapshot,
				 .pid = pid,
				 .hook = hook,
				 .with_kernel_frames = with_kernel_frames };
	int r;

	priority_shorten_turns(&taking.priority);
	r = snapshot_collect(&taking, err);
	ring_buffer__free(taking.ring);
	interpreter_stacks_done(&taking.interpreter_stacks);
	interpreter_close(taking.interpreter);
	generated_code_done(&taking.generated);
	kernel_tables_done(&taking.tables);
	kernel_session_done(&taking.session);
	priority_restore(&taking.priority);
	if (!r && !snapshot->count)
		r = err_set(err, -ESRCH, "process %d has no threads any more", pid);
	return r ? err_while(err, "seeing the threads of %d by BPF", pid) : 0;
}

int snapshot_take(struct snapshot **ret, pid_t pid, bool with_kernel_frames,
		  const struct snapshot_hook *hook, struct err *err)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int r;

	if (!snapshot)
		return err_set(err, -ENOMEM, "seeing the threads of %d", pid);
	r = kernel_session_probe(err);
	if (!r)
		r = space_open(&snapshot->space, pid, err);
	if (!r)
		r = take_with_rights(snapshot, pid, with_kernel_frames, hook, err);
	if (r) {
		snapshot_free(snapshot);
		return r;
	}
	*ret = snapshot;
	return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	for (size_t i = 0; i < snapshot->count; i++)
		free(snapshot->samples[i]);
	free(snapshot->samples);
	space_close(snapshot->space);
	free(snapshot);
}
