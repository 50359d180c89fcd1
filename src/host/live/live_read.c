/*
 * Passes the samples of a live store to readers.
 */
#include "host/live/live_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINES_AT_ONCE 64u

bool live_thread_number(const struct live *live, pid_t tid, uint32_t *ret)
{
	const struct table_entry *entry = table_find(&live->view->threads, (uint64_t)tid, 0);

	if (entry)
		*ret = (uint32_t)entry->value;
	return entry;
}

struct call_tree *live_trees(struct live *live)
{
	return live->view->trees;
}

struct live_view *live_view_hold(struct live *live)
{
	atomic_fetch_add(&live->view->refs, 1);
	return live->view;
}

static void samples_show(struct live_view *view, size_t first, size_t end)
{
	view->model->samples->kept = view->kept->items + first;
	view->model->samples->kept_count = end - first;
}

/* Samples are in the order of their times, except those from different sources at one moment. */
static void samples_choose(struct live_view *view, uint64_t from_ns, uint64_t until_ns)
{
	const struct recorded_sample *items = view->kept->items;
	uint64_t begin_ns = from_ns - MIN(from_ns, view->late_ns);
	size_t first, end = view->kept_count;

	while (end && items[end - 1].time_ns > until_ns)
		end--;
	for (first = end; first && items[first - 1].time_ns >= begin_ns;)
		first--;
	samples_show(view, first, end);
}

static bool is_in(const struct recorded_sample *sample, uint64_t from_ns, uint64_t until_ns)
{
	return sample->time_ns >= from_ns && sample->time_ns <= until_ns;
}

/* Leaves out the others among the chosen samples; the caller frees *ret. */
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
		samples_choose(self->view, from_ns, until_ns);
		r = samples_filter(self->view->model->samples, from_ns, until_ns, &filtered);
	}
	if (!r)
		r = read(self->view->model, context);
	if (filtered)
		samples_show(self->view, 0, 0);
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
		samples_choose(self->view, from_ns, UINT64_MAX);
		r = read(self->view->model, context);
	}
	pthread_mutex_unlock(&self->reading);
	return r;
}

int live_read_new(struct live *self, uint64_t *seen, uint64_t *ret_missed, live_reader *read,
		  void *context)
{
	uint64_t first, forgotten;
	int r;

	pthread_mutex_lock(&self->reading);
	r = live_view_update(self);
	if (!r) {
		forgotten = self->view->forgotten;
		first = MAX(*seen, forgotten);
		*ret_missed = first - *seen;
		*seen = forgotten + self->view->kept_count;
		samples_show(self->view, first - forgotten, self->view->kept_count);
		r = read(self->view->model, context);
	}
	pthread_mutex_unlock(&self->reading);
	return r;
}

/* The location of the function itself, of a frame that is named already: inlined functions stay
 * part of it.  NULL: the frame is another function's, or its lines are known. */
static struct sample_location *location_of(struct samples *samples,
					   const struct sample_frame *frame, const char *function,
					   const char *module)
{
	struct sample_location *location;
	const struct sample_function *is;

	if (frame->has_lines || !frame->location_count)
		return NULL;
	location = &samples->locations[frame->first_location + frame->location_count - 1];
	is = &samples->functions[location->function];
	return !strcmp(is->name, function) && !strcmp(samples->codes[is->code].name, module)
		       ? location
		       : NULL;
}

static int frame_find_lines(struct live *live, struct sample_frame *frame,
			    struct sample_location *location)
{
	struct recorded_name names[FRAME_NAMES_MAX];
	uint32_t count;
	bool is_named;

	if (live_frame_names(live, frame, /* wants_lines */ true, names, &count, &is_named))
		return -ENOMEM;
	frame->has_lines = true;
	if (!count || !names[count - 1].line)
		return 0;
	location->line = names[count - 1].line;
	location->file = pool_keep(&live->view->model->samples->texts, names[count - 1].file);
	return location->file ? 0 : -ENOMEM;
}

static int find_lines(struct live *live, const char *function, const char *module)
{
	struct samples *samples = live->view->model->samples;
	size_t count = live->view->named_count;
	int r = 0;

	for (size_t i = 0; !r && i < count;) {
		live_lock_later(live);
		for (size_t some = 0; !r && i < count && some < LINES_AT_ONCE; i++) {
			struct sample_frame *frame = &samples->frames[i];
			struct sample_location *location =
				location_of(samples, frame, function, module);

			if (!location)
				continue;
			r = frame_find_lines(live, frame, location);
			some++;
		}
		live_unlock(live);
	}
	return r;
}

int live_find_lines(struct live *self, const char *function, const char *module)
{
	int r;

	pthread_mutex_lock(&self->reading);
	r = live_view_update(self);
	if (!r)
		r = find_lines(self, function, module);
	pthread_mutex_unlock(&self->reading);
	return r;
}
