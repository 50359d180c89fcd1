/*
 * Turns windows into points of curves.
 */
#include "host/model/windows/window_points.h"

#include <errno.h>
#include <stdlib.h>

struct points {
	point_visitor *visit;
	void *context;
	uint64_t *ends; /* of the last window of each metric; 0: none */
};

/* Nothing is known from there on. */
static int series_end(struct points *self, const struct model_metric *metric)
{
	uint64_t end_ns = self->ends[metric->number];

	self->ends[metric->number] = 0;
	return end_ns && metric->form == METRIC_COUNT
		       ? self->visit(metric, end_ns, 0, self->context)
		       : 0;
}

static int series_take(const struct window *window, void *context)
{
	struct points *self = context;
	uint64_t *end_ns = &self->ends[window->metric->number];
	double value;
	int r = 0;

	if (*end_ns != window->begin_ns)
		r = series_end(self, window->metric);
	if (r || !window_rate(window, &value))
		return r ? r : series_end(self, window->metric);
	*end_ns = window->end_ns;
	return self->visit(window->metric, window->begin_ns, value, self->context);
}

int model_each_point(struct model *model, point_visitor *visit, void *context)
{
	size_t count = model->windows.metric_count;
	struct points self = { visit, context, calloc(count + 1, sizeof(*self.ends)) };
	int r = self.ends ? model_each_window(model, series_take, &self) : -ENOMEM;

	for (size_t i = 0; !r && i < count; i++)
		r = series_end(&self, &model->windows.metrics[i]);
	free(self.ends);
	return r;
}
