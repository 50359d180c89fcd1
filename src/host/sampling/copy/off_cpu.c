/*
 * Remembers threads that are off the processor.
 */
#include "host/sampling/copy/off_cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/room.h"
#include "host/core/sorted.h"

static uint64_t tid_at(const void *items, size_t index)
{
	return (uint64_t)((const struct off_thread *)items)[index].tid;
}

/* The index of the thread, or where it would be inserted. */
static size_t index_of(const struct off_cpu *off_cpu, pid_t tid)
{
	return count_below(off_cpu->items, off_cpu->count, (uint64_t)tid, tid_at);
}

static bool is_at(const struct off_cpu *off_cpu, size_t index, pid_t tid)
{
	return index < off_cpu->count && off_cpu->items[index].tid == tid;
}

struct off_thread *off_cpu_thread(struct off_cpu *off_cpu, pid_t pid, pid_t tid)
{
	size_t index = index_of(off_cpu, tid);
	struct off_thread *thread;

	if (is_at(off_cpu, index, tid))
		return &off_cpu->items[index];
	if (make_room(&off_cpu->items, off_cpu->count, &off_cpu->room, sizeof(*thread)) < 0)
		return NULL;
	thread = &off_cpu->items[index];
	memmove(thread + 1, thread, (off_cpu->count - index) * sizeof(*thread));
	*thread = (struct off_thread){ .pid = pid, .tid = tid };
	off_cpu->count++;
	return thread;
}

int off_thread_keep_stack(struct off_thread *thread, const struct sample *sample, uint64_t read_ns)
{
	size_t count = (size_t)sample->kernel_count + sample->user_count;
	__u64 *frames = reallocarray(thread->frames, count ? count : 1, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	memcpy(frames, sample->frames, count * sizeof(*frames));
	thread->frames = frames;
	thread->kernel_count = sample->kernel_count;
	thread->user_count = sample->user_count;
	thread->end = sample->end;
	thread->flags = sample->flags;
	thread->has_stack = true;
	thread->read_ns = read_ns;
	return 0;
}

bool off_thread_owns_stack(const struct off_thread *thread, uint64_t end_ns)
{
	return thread->has_stack && thread->read_ns <= end_ns &&
	       (!thread->read_ns || thread->read_ns >= thread->since_ns);
}

void off_cpu_forget(struct off_cpu *off_cpu, pid_t tid)
{
	size_t index = index_of(off_cpu, tid);
	struct off_thread *thread = &off_cpu->items[index];

	if (!is_at(off_cpu, index, tid))
		return;
	free(thread->frames);
	off_cpu->count--;
	memmove(thread, thread + 1, (off_cpu->count - index) * sizeof(*thread));
}

void off_cpu_done(struct off_cpu *off_cpu)
{
	for (size_t i = 0; i < off_cpu->count; i++)
		free(off_cpu->items[i].frames);
	free(off_cpu->items);
	*off_cpu = (struct off_cpu){ 0 };
}
