/*
 * Passes the samples of a live model to readers.
 */
#include "host/top/live.h"
#include "host/top/live_private.h"

#include "shared/base/macros.h"

#include <errno.h>
#include <stdlib.h>

/* They are in the order of their times, except those from different sources at one moment. */
static void samples_choose(struct live_view *view, uint64_t from_ns, uint64_t until_ns)
{
	const struct recorded_sample *items = view->kept->items;
	size_t first, end = view->kept_count;

	while (end && items[end - 1].time_ns > until_ns)
		end--;
	for (first = end; first && items[first - 1].time_ns >= from_ns;)
		first--;
	view->model->samples->kept = items + first;
	view->model->samples->kept_count = end - first;
}

static bool is_in(const struct recorded_sample *sample, uint64_t from_ns, uint64_t until_ns)
{
	return sample->time_ns >= from_ns && sample->time_ns <= until_ns;
}

/* The chosen samples without others among them; the caller frees *ret. */
static int samples_filter(struct samples *samples, uint64_t from_ns, uint64_t until_ns,
			  struct recorded_sample **ret)
{
	size_t count = 0, all = samples->kept_count;

	while (count < all && is_in(&samples->kept[count], from_ns, until_ns))
		count++;
	if (count == all)
		return 0;
	*ret = calloc(all, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	count = 0;
	for (size_t i = 0; i < all; i++)
		if (is_in(&samples->kept[i], from_ns, until_ns))
			(*ret)[count++] = samples->kept[i];
	samples->kept = *ret;
	samples->kept_count = count;
	return 0;
}

int live_read(struct live *self, uint64_t from_ns, uint64_t until_ns, live_reader *read,
	      void *context)
{
	struct recorded_sample *filtered = NULL;
	int r;

	pthread_mutex_lock(&self->reading);
	r = live_view_update(self);
	if (!r) {
		samples_choose(&self->view, from_ns - MIN(from_ns, self->view.late_ns), until_ns);
		r = samples_filter(self->view.model->samples, from_ns, until_ns, &filtered);
	}
	if (!r)
		r = read(self->view.model, context);
	if (filtered)
		samples_choose(&self->view, UINT64_MAX, UINT64_MAX);
	free(filtered);
	pthread_mutex_unlock(&self->reading);
	return r;
}

int live_read_around(struct live *self, uint64_t from_ns, live_reader *read, void *context)
{
	int r;

	pthread_mutex_lock(&self->reading);
	r = live_view_update(self);
	if (!r) {
		samples_choose(&self->view, from_ns - MIN(from_ns, self->view.late_ns), UINT64_MAX);
		r = read(self->view.model, context);
	}
	pthread_mutex_unlock(&self->reading);
	return r;
}

static void samples_choose_new(struct live_view *view, uint64_t *seen, uint64_t *ret_missed)
{
	uint64_t first = MAX(*seen, view->forgotten);

	*ret_missed = first - *seen;
	*seen = view->forgotten + view->kept_count;
	view->model->samples->kept = view->kept->items + (first - view->forgotten);
	view->model->samples->kept_count = *seen - first;
}

int live_read_new(struct live *self, uint64_t *seen, uint64_t *ret_missed, live_reader *read,
		  void *context)
{
	int r;

	pthread_mutex_lock(&self->reading);
	r = live_view_update(self);
	if (!r) {
		samples_choose_new(&self->view, seen, ret_missed);
		r = read(self->view.model, context);
	}
	pthread_mutex_unlock(&self->reading);
	return r;
}
