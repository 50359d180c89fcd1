/*
 * Joins the two halves of a time off the processor.  Host only.
 */
#include "host/sampling/bpf/off_cpu.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct absence {
	uint32_t tid;
	bool is_away;
	struct sample *left;
	size_t capacity;
};

static int compare(const void *a, const void *b)
{
	const struct absence *left = a, *right = b;

	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static struct absence *find(struct absences *absences, uint32_t tid)
{
	struct absence key = { .tid = tid }, **found = tfind(&key, &absences->tree, compare);

	return found ? *found : NULL;
}

static struct absence *find_or_make(struct absences *absences, uint32_t tid)
{
	struct absence *absence = find(absences, tid);

	if (absence)
		return absence;
	absence = calloc(1, sizeof(*absence));
	if (!absence)
		return NULL;
	absence->tid = tid;
	if (tsearch(absence, &absences->tree, compare))
		return absence;
	free(absence);
	return NULL;
}

static size_t size_of(const struct sample *sample)
{
	return sizeof(*sample) + ((size_t)sample->kernel_count + sample->user_count) * 8;
}

int absences_begin(struct absences *absences, const struct sample *left)
{
	struct absence *absence = find_or_make(absences, left->tid);
	size_t size = size_of(left);

	if (!absence)
		return -ENOMEM;
	if (size > absence->capacity) {
		struct sample *larger = realloc(absence->left, size);

		if (!larger)
			return -ENOMEM;
		absence->left = larger;
		absence->capacity = size;
	}
	memcpy(absence->left, left, size);
	scheduler_cut(&absences->scheduler, absence->left);
	absence->is_away = true;
	return 0;
}

static void visit_times(struct sample *sample, const struct kernel_return *times, uint64_t now_ns,
			absence_visitor *visit, void *context)
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

/* One whose stack was lost on its way still has its times. */
void absences_end(struct absences *absences, const struct sample *came, absence_visitor *visit,
		  void *context)
{
	struct absence *absence = find(absences, came->tid);
	struct sample bare = *came, *sample = &bare;
	struct kernel_return times = { came->frames[0], came->frames[1] };

	if (absence && absence->is_away) {
		sample = absence->left;
		absence->is_away = false;
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
	absence_visitor *visit;
	void *context;
};

/* Nobody saw it come back: it may have been woken, and have waited for a processor since. */
static struct kernel_return times_until(const struct flush *flush, const struct absence *absence)
{
	struct kernel_absence known = { .since_ns = absence->left->time_ns,
					.is_blocked = absence->left->state != 'R' };
	struct kernel_return times;
	uint64_t end_ns;

	bpf_map_lookup_elem(flush->map, &absence->tid, &known);
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
	struct absence *absence = *(struct absence *const *)node;
	const struct flush *flush = closure;
	struct kernel_return times;

	if ((order != postorder && order != leaf) || !absence->is_away)
		return;
	absence->is_away = false;
	times = times_until(flush, absence);
	visit_times(absence->left, &times, flush->now_ns, flush->visit, flush->context);
}

void absences_flush(struct absences *absences, int map, uint64_t now_ns, absence_visitor *visit,
		    void *context)
{
	struct flush flush = { map, now_ns, visit, context };

	twalk_r(absences->tree, flush_one, &flush);
}

static void absence_free(void *item)
{
	struct absence *absence = item;

	free(absence->left);
	free(absence);
}

void absences_done(struct absences *absences)
{
	tdestroy(absences->tree, absence_free);
	absences->tree = NULL;
}
