/*
 * Adds windows up.  Means are over the whole time: a long window counts for more than a short one.
 */
#include "host/model/windows/windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int row_add(const struct window *window, void *context)
{
	struct window_row *row = &((struct window_summary *)context)->rows[window->metric->number];
	uint64_t length_ns = window->end_ns - window->begin_ns;
	double rate;

	if (!window_rate(window, &rate)) {
		row->missing++;
		return 0;
	}
	row->least = row->windows && row->least < rate ? row->least : rate;
	row->most = row->windows && row->most > rate ? row->most : rate;
	row->total += window->value;
	row->mean += rate * (double)length_ns;
	row->time_ns += length_ns;
	row->estimated += window->is_estimated;
	row->windows++;
	return 0;
}

int window_summary_make(struct model *model, struct window_summary *ret)
{
	const struct windows *windows = &model->windows;
	int r;

	ret->count = windows->metric_count;
	ret->rows = calloc(MAX(ret->count, (size_t)1), sizeof(*ret->rows));
	if (!ret->rows)
		return -ENOMEM;
	for (size_t i = 0; i < ret->count; i++)
		ret->rows[i].metric = &windows->metrics[i];
	r = model_each_window(model, row_add, ret);
	for (size_t i = 0; i < ret->count; i++)
		if (ret->rows[i].time_ns)
			ret->rows[i].mean /= (double)ret->rows[i].time_ns;
	if (r)
		window_summary_done(ret);
	return r;
}

void window_summary_done(struct window_summary *summary)
{
	free(summary->rows);
	*summary = (struct window_summary){ 0 };
}
