#include "host/export/profile/thread_samples.h"

#include "host/core/room.h"
#include "host/core/rows.h"

#include <errno.h>

static int sample_keep(const struct sample_event *event, void *context)
{
	struct thread_samples *self = context;

	if (!(self->kinds & KIND_BIT(event->kind)))
		return 0;
	if (make_room(&self->items, self->count, &self->room, sizeof(*self->items)))
		return -ENOMEM;
	self->items[self->count] = (struct thread_sample){
		.thread = event->thread->number,
		.stack = event->stack,
		.time_ns = event->time_ns,
		.weight_ns = event->weight_ns,
		.order = self->count,
		.kind = event->kind,
		.end = event->end,
		.state = event->state,
	};
	self->count++;
	return 0;
}

static int by_thread(const void *left, const void *right)
{
	const struct thread_sample *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

int thread_samples_gather(struct thread_samples *self, struct model *model)
{
	int r = model_each_sample(model, sample_keep, self);

	rows_sort(self->items, self->count, sizeof(*self->items), by_thread);
	return r;
}

size_t thread_samples_end(const struct thread_samples *self, size_t first)
{
	size_t end = first;

	while (end < self->count && self->items[end].thread == self->items[first].thread)
		end++;
	return end;
}
