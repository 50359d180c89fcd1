/*
 * Loads recordings.
 */
#include "host/ui/store.h"

#include "host/core/room.h"
#include "host/model/span.h"

#include <errno.h>
#include <stdlib.h>

#define BLOCK 1024u

static uint64_t clock_difference(const struct model *model)
{
	return model->first.boot_ns - model->first.monotonic_ns;
}

static int sample_keep(const struct sample_event *event, void *context)
{
	struct store *self = context;

	if (make_room(&self->items, self->count, &self->room, sizeof(*self->items)))
		return -ENOMEM;
	self->items[self->count++] = (struct recorded_sample){
		.thread = event->thread->number,
		.stack = event->stack,
		.time_ns = event->time_ns - clock_difference(self->model),
		.weight_ns = event->weight_ns,
		.cpu = event->cpu,
		.kind = (uint8_t)event->kind,
		.end = (uint8_t)event->end,
		.state = (uint8_t)event->state,
	};
	return 0;
}

static int by_end(const void *left, const void *right)
{
	const struct recorded_sample *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static bool is_sorted(const struct store *self)
{
	for (size_t i = 1; i < self->count; i++)
		if (self->items[i].time_ns < self->items[i - 1].time_ns)
			return false;
	return true;
}

static uint64_t begin_of(const struct recorded_sample *sample)
{
	return sample->time_ns - MIN(sample->time_ns, sample->weight_ns);
}

static int index_make(struct store *self)
{
	size_t blocks = self->count / BLOCK + 1;
	uint64_t least = UINT64_MAX;

	self->least_begins = calloc(blocks + 1, sizeof(*self->least_begins));
	if (!self->least_begins)
		return -ENOMEM;
	self->least_begins[blocks] = UINT64_MAX;
	for (size_t i = self->count; i-- > 0;) {
		least = MIN(least, begin_of(&self->items[i]));
		self->least_begins[i / BLOCK] = least;
	}
	if (self->count / BLOCK * BLOCK == self->count)
		self->least_begins[blocks - 1] = UINT64_MAX;
	return 0;
}

int store_open(struct store *ret, struct model *model)
{
	struct model_span span = model_span(model);
	int r;

	*ret = (struct store){ .model = model };
	ret->begin_ns = span.begin_ns - clock_difference(model);
	ret->end_ns = MAX(span.end_ns, span.begin_ns) - clock_difference(model);
	r = model_each_sample(model, sample_keep, ret);
	if (!r && !is_sorted(ret))
		qsort(ret->items, ret->count, sizeof(*ret->items), by_end);
	if (!r)
		r = index_make(ret);
	if (r)
		store_close(ret);
	return r;
}

void store_close(struct store *store)
{
	model_free(store->model);
	free(store->items);
	free(store->least_begins);
	*store = (struct store){ 0 };
}

/* How many ended before or at that time. */
static size_t ended_until(const struct store *self, uint64_t time_ns)
{
	size_t low = 0, high = self->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (self->items[middle].time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t store_find(const struct store *self, uint64_t from_ns, uint64_t to_ns, size_t *ret_first)
{
	size_t first = ended_until(self, from_ns ? from_ns - 1 : 0), end = first;

	if (!self->count)
		return *ret_first = 0;
	while (end < self->count && self->least_begins[end / BLOCK] < to_ns)
		end = (end / BLOCK + 1) * BLOCK;
	*ret_first = first;
	return MIN(end, self->count) - MIN(first, self->count);
}
