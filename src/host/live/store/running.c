/*
 * Fills lanes of threads.  A thread's samples and waits are in the order of their ends, and no
 * sample ends within a wait: so the time between two ends is either running or waiting.
 */
#include "host/live/store/bins.h"

#include "host/core/cleanup.h"

#include <errno.h>
#include <stdlib.h>

struct filling {
	struct bins_sums *sums;
	const struct bins *bins;
	const struct bins_rows *rows;
	const struct slice *slice;
	uint64_t hole_ns;
	uint64_t *until_ns; /* of each thread: the end of its known time; 0: none yet */
};

static void lane_add(struct filling *self, const struct recorded_sample *sample, unsigned kind,
		     uint64_t begin_ns, uint64_t end_ns)
{
	size_t row = self->rows->of_threads[sample->thread] + kind * self->rows->kind_step;

	if (begin_ns < end_ns)
		bins_add(self->sums, self->bins, row * self->bins->count,
			 &(struct piece){ .begin_ns = begin_ns, .end_ns = end_ns });
}

static void sample_add(struct filling *self, const struct recorded_sample *sample)
{
	uint64_t *until_ns = &self->until_ns[sample->thread], end_ns = sample->time_ns;
	uint64_t begin_ns = end_ns - MIN(end_ns, sample->weight_ns);
	bool is_running = sample->kind == SAMPLE_RUNNING;
	bool is_next = *until_ns && begin_ns - MIN(begin_ns, *until_ns) <= self->hole_ns;

	if (end_ns <= *until_ns)
		return;
	if (is_next && (is_running || begin_ns > *until_ns))
		lane_add(self, sample, SAMPLE_RUNNING, *until_ns, is_running ? end_ns : begin_ns);
	if (!is_running)
		lane_add(self, sample, sample->kind, begin_ns, end_ns);
	else if (!is_next)
		lane_add(self, sample, SAMPLE_RUNNING, begin_ns, end_ns);
	*until_ns = end_ns;
}

int running_fill(struct bins_sums *sums, const struct bins *bins, const struct bins_rows *rows,
		 const struct slice *slice, uint64_t hole_ns)
{
	CLEANUP(free)
	uint64_t *until_ns = calloc(slice->model->thread_count + 1u, sizeof(*until_ns));
	struct filling self = { sums, bins, rows, slice, hole_ns, until_ns };
	struct piece piece;

	if (!until_ns)
		return -ENOMEM;
	for (size_t i = 0; i < slice->count; i++)
		if (slice_piece(slice, &slice->items[i], &piece))
			sample_add(&self, &slice->items[i]);
	bins_sums_finish(sums, bins, rows->count * bins->count);
	return 0;
}
