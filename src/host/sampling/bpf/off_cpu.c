/*
 * Joins the begin and the end of a time off the processor.
 */
#include "host/sampling/bpf/off_cpu.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct off_cpu {
	uint32_t tid;
	bool is_away;
	struct sample *left;
	size_t capacity;
};

static int off_cpu_compare(const void *a, const void *b)
{
	const struct off_cpu *left = a, *right = b;

	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static struct off_cpu *off_cpu_find(struct off_cpu_threads *off_cpu_threads, uint32_t tid)
{
	struct off_cpu key = { .tid = tid },
		       **found = tfind(&key, &off_cpu_threads->tree, off_cpu_compare);

	return found ? *found : NULL;
}

static struct off_cpu *find_or_make(struct off_cpu_threads *off_cpu_threads, uint32_t tid)
{
	struct off_cpu *off_cpu = off_cpu_find(off_cpu_threads, tid);

	if (off_cpu)
		return off_cpu;
	off_cpu = calloc(1, sizeof(*off_cpu));
	if (!off_cpu)
		return NULL;
	off_cpu->tid = tid;
	if (tsearch(off_cpu, &off_cpu_threads->tree, off_cpu_compare))
		return off_cpu;
	free(off_cpu);
	return NULL;
}

static size_t size_of(const struct sample *sample)
{
	return sizeof(*sample) + ((size_t)sample->kernel_count + sample->user_count) * 8;
}

int off_cpu_threads_begin(struct off_cpu_threads *off_cpu_threads, const struct sample *left)
{
	struct off_cpu *off_cpu = find_or_make(off_cpu_threads, left->tid);
	size_t size = size_of(left);

	if (!off_cpu)
		return -ENOMEM;
	if (size > off_cpu->capacity) {
		struct sample *larger = realloc(off_cpu->left, size);

		if (!larger)
			return -ENOMEM;
		off_cpu->left = larger;
		off_cpu->capacity = size;
	}
	memcpy(off_cpu->left, left, size);
	scheduler_cut(&off_cpu_threads->scheduler, off_cpu->left);
	off_cpu->is_away = true;
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
void off_cpu_threads_end(struct off_cpu_threads *off_cpu_threads, const struct sample *came,
			 off_cpu_visitor *visit, void *context)
{
	struct off_cpu *off_cpu = off_cpu_find(off_cpu_threads, came->tid);
	struct sample bare = *came, *sample = &bare;
	struct kernel_return times = { came->frames[0], came->frames[1] };

	if (off_cpu && off_cpu->is_away) {
		sample = off_cpu->left;
		off_cpu->is_away = false;
	} else {
		bare.user_count = 0;
		bare.end = STACK_NO_USER;
		bare.state = 'S';
	}
	sample->cpu = came->cpu;
	visit_times(sample, &times, came->time_ns, visit, context);
}

struct flush {
	int map;
	uint64_t now_ns;
	off_cpu_visitor *visit;
	void *context;
};

/* No return was recorded: the thread may have been woken, and have waited for a processor since. */
static struct kernel_return times_until(const struct flush *flush, const struct off_cpu *off_cpu)
{
	struct kernel_off_cpu known = { .since_ns = off_cpu->left->time_ns,
					.is_blocked = off_cpu->left->state != 'R' };
	struct kernel_return times;
	uint64_t end_ns;

	bpf_map_lookup_elem(flush->map, &off_cpu->tid, &known);
	if (!known.since_ns)
		return (struct kernel_return){ 0, 0 };
	end_ns = known.woken_ns ? known.woken_ns : flush->now_ns;
	times.blocked_ns = known.is_blocked ? end_ns - MIN(end_ns, known.since_ns) : 0;
	times.runnable_ns = flush->now_ns - MIN(flush->now_ns, known.since_ns + times.blocked_ns);
	times.blocked_ns += known.more_blocked_ns;
	times.runnable_ns += known.more_runnable_ns;
	return times;
}

static void flush_one(const void *node, VISIT order, void *closure)
{
	struct off_cpu *off_cpu = *(struct off_cpu *const *)node;
	const struct flush *flush = closure;
	struct kernel_return times;

	if ((order != postorder && order != leaf) || !off_cpu->is_away)
		return;
	off_cpu->is_away = false;
	times = times_until(flush, off_cpu);
	visit_times(off_cpu->left, &times, flush->now_ns, flush->visit, flush->context);
}

void off_cpu_threads_flush(struct off_cpu_threads *off_cpu_threads, int map, uint64_t now_ns,
			   off_cpu_visitor *visit, void *context)
{
	struct flush flush = { map, now_ns, visit, context };

	twalk_r(off_cpu_threads->tree, flush_one, &flush);
}

static void off_cpu_free(void *item)
{
	struct off_cpu *off_cpu = item;

	free(off_cpu->left);
	free(off_cpu);
}

void off_cpu_threads_done(struct off_cpu_threads *off_cpu_threads)
{
	tdestroy(off_cpu_threads->tree, off_cpu_free);
	off_cpu_threads->tree = NULL;
}
