/*
 * Joins the begin and the end of a time off the processor; finds the scheduler's address.
 */
#include "host/sampling/bpf/sched_switch.h"

#include "host/symbols/kernel_symbols.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compilers add a suffix to the name of a variant of a function; those called cold are parts in
 * another location. */
static bool is_scheduler(const char *name)
{
	size_t length = strlen("__schedule");

	return !strncmp(name, "__schedule", length) && (!name[length] || name[length] == '.') &&
	       !strstr(name, ".cold");
}

bool scheduler_find(struct scheduler *ret, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	*ret = (struct scheduler){ 0 };
	/* The function ends where the next one begins: the kernel's own symbols are sorted. */
	while (file && !ret->end && (length = getline(&line, &room, file)) > 0) {
		struct symbol symbol;

		line[length - 1] = 0;
		if (!kallsyms_line(line, &symbol))
			continue;
		if (ret->start && symbol.address > ret->start)
			ret->end = symbol.address;
		else if (!ret->start && is_scheduler(symbol.name))
			ret->start = symbol.address;
	}
	free(line);
	if (file)
		fclose(file);
	return ret->end != 0;
}

/* Frames are return addresses: one may be just behind the last instruction. */
void scheduler_cut(const struct scheduler *scheduler, struct sample *sample)
{
	size_t inner = 0, count;

	while (inner < sample->kernel_count && (sample->frames[inner] <= scheduler->start ||
						sample->frames[inner] > scheduler->end))
		inner++;
	if (inner == sample->kernel_count)
		return;
	count = (size_t)sample->kernel_count + sample->user_count - inner;
	memmove(sample->frames, sample->frames + inner, count * sizeof(*sample->frames));
	sample->kernel_count = (uint16_t)(sample->kernel_count - inner);
}

int off_cpu_threads_begin(struct off_cpu_threads *self, const struct sample *left)
{
	struct off_thread *thread =
		off_cpu_thread(&self->threads, (pid_t)left->pid, (pid_t)left->tid);

	if (!thread || off_thread_keep_stack(thread, left, /* read_ns */ 0))
		return -ENOMEM;
	scheduler_cut(&self->scheduler, thread->stack);
	thread->is_out = true;
	return 0;
}

static void visit_times(struct sample *sample, const struct kernel_return *times, uint64_t now_ns,
			off_cpu_visitor *visit, void *context)
{
	if (times->blocked_ns) {
		sample->kind = SAMPLE_BLOCKED;
		sample->state = sample->state == 'R' ? 'S' : sample->state;
		sample->time_ns = now_ns - times->runnable_ns;
		sample->weight_ns = times->blocked_ns;
		visit(sample, context);
	}
	if (times->runnable_ns) {
		sample->kind = SAMPLE_RUNNABLE;
		sample->state = 'R';
		sample->time_ns = now_ns;
		sample->weight_ns = times->runnable_ns;
		visit(sample, context);
	}
}

/* A record whose stack was lost still yields the times. */
void off_cpu_threads_end(struct off_cpu_threads *self, const struct sample *came,
			 off_cpu_visitor *visit, void *context)
{
	struct off_thread *thread = off_cpu_find(&self->threads, (pid_t)came->tid);
	struct sample bare = *came, *sample = &bare;
	struct kernel_return times = { came->frames[0], came->frames[1] };

	if (thread && thread->is_out) {
		sample = thread->stack;
		thread->is_out = false;
	} else {
		bare.user_count = 0;
		bare.end = STACK_NO_USER;
		bare.state = 'S';
	}
	sample->cpu = came->cpu;
	visit_times(sample, &times, came->time_ns, visit, context);
}

/* No return was recorded: the thread may have been woken, and have waited for a processor since. */
static struct kernel_return times_until(const struct off_thread *thread, int map, uint64_t now_ns)
{
	struct kernel_off_cpu known = { .since_ns = thread->stack->time_ns,
					.is_blocked = thread->stack->state != 'R' };
	struct kernel_return times;
	uint64_t end_ns;

	bpf_map_lookup_elem(map, &thread->tid, &known);
	if (!known.since_ns)
		return (struct kernel_return){ 0, 0 };
	end_ns = known.woken_ns ? known.woken_ns : now_ns;
	times.blocked_ns = known.is_blocked ? end_ns - MIN(end_ns, known.since_ns) : 0;
	times.runnable_ns = now_ns - MIN(now_ns, known.since_ns + times.blocked_ns);
	times.blocked_ns += known.more_blocked_ns;
	times.runnable_ns += known.more_runnable_ns;
	return times;
}

void off_cpu_threads_flush(struct off_cpu_threads *self, int map, uint64_t now_ns,
			   off_cpu_visitor *visit, void *context)
{
	for (size_t i = 0; i < self->threads.count; i++) {
		struct off_thread *thread = &self->threads.items[i];
		struct kernel_return times;

		if (!thread->is_out)
			continue;
		thread->is_out = false;
		times = times_until(thread, map, now_ns);
		visit_times(thread->stack, &times, now_ns, visit, context);
	}
}
