/*
 * Remembers threads that are off the processor.
 */
#include "host/sampling/off_cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/room.h"
#include "host/core/sorted.h"

static uint64_t tid_at(const void *items, size_t index)
{
	return (uint64_t)((const struct off_thread *)items)[index].tid;
}

static bool find_thread(const struct off_cpu *off_cpu, pid_t tid, size_t *ret_index)
{
	return find_sorted(off_cpu->items, off_cpu->count, (uint64_t)tid, tid_at, ret_index);
}

struct off_thread *off_cpu_find(const struct off_cpu *off_cpu, pid_t tid)
{
	size_t index;

	return find_thread(off_cpu, tid, &index) ? &off_cpu->items[index] : NULL;
}

struct off_thread *off_cpu_thread(struct off_cpu *off_cpu, pid_t pid, pid_t tid)
{
	size_t index;

	if (!find_thread(off_cpu, tid, &index)) {
		if (insert_room(&off_cpu->items, &off_cpu->count, &off_cpu->room,
				sizeof(*off_cpu->items), index))
			return NULL;
		off_cpu->items[index] = (struct off_thread){ .pid = pid, .tid = tid };
	}
	return &off_cpu->items[index];
}

int off_thread_keep_stack(struct off_thread *thread, const struct sample *sample, uint64_t read_ns)
{
	size_t count = (size_t)sample->kernel_count + sample->user_count;
	size_t size = sizeof(*sample) + count * sizeof(*sample->frames);
	struct sample *larger;

	if (size > thread->capacity) {
		larger = realloc(thread->stack, size);
		if (!larger)
			return -ENOMEM;
		thread->stack = larger;
		thread->capacity = size;
	}
	memcpy(thread->stack, sample, size);
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
	size_t index;

	if (!find_thread(off_cpu, tid, &index))
		return;
	free(off_cpu->items[index].stack);
	remove_item(off_cpu->items, &off_cpu->count, sizeof(*off_cpu->items), index);
}

void off_cpu_done(struct off_cpu *off_cpu)
{
	for (size_t i = 0; i < off_cpu->count; i++)
		free(off_cpu->items[i].stack);
	free(off_cpu->items);
	*off_cpu = (struct off_cpu){ 0 };
}
