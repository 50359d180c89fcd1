/*
 * Leaves out the parts before and after a part of a recording.
 */
#include "host/model/samples/samples.h"
#include "host/model/windows/windows.h"

#include <string.h>

static int count_sample(const struct sample_event *event, void *context)
{
	struct model *model = context;
	struct samples *samples = model->samples;
	uint64_t begin_ns = event->time_ns - MIN(event->time_ns, event->weight_ns);

	samples->first_ns = samples->count ? MIN(samples->first_ns, begin_ns) : begin_ns;
	samples->last_ns = MAX(samples->last_ns, event->time_ns);
	samples->count++;
	samples->kinds[event->kind]++;
	samples->weights_ns[event->kind] += event->weight_ns;
	samples->ends[event->end]++;
	samples->guessed += event->is_guessed;
	model->threads[event->thread->number]->samples++;
	return 0;
}

static int count_call(const struct call *call, void *context)
{
	(void)call;
	(*(uint64_t *)context)++;
	return 0;
}

static void forget_counts(struct model *model)
{
	struct samples *samples = model->samples;

	samples->count = samples->first_ns = samples->last_ns = samples->guessed = 0;
	model->windows.count = model->windows.first_ns = model->windows.last_ns = 0;
	memset(samples->kinds, 0, sizeof(samples->kinds));
	memset(samples->weights_ns, 0, sizeof(samples->weights_ns));
	memset(samples->ends, 0, sizeof(samples->ends));
	for (uint32_t i = 0; i < model->thread_count; i++)
		model->threads[i]->samples = 0;
}

int model_narrow_between(struct model *model, uint64_t from_ns, uint64_t to_ns)
{
	bool has_calls = model->calls;
	int r;

	model->from_ns = from_ns;
	model->to_ns = to_ns;
	forget_counts(model);
	r = model_each_sample(model, count_sample, model);
	if (!r)
		r = model_each_window(model, windows_count, &model->windows);
	model->calls = 0;
	return !r && has_calls ? model_each_call(model, count_call, &model->calls) : r;
}

int model_narrow(struct model *model, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t begin_ns = model_span(model).begin_ns, room_ns = UINT64_MAX - begin_ns;

	return model_narrow_between(model, begin_ns + MIN(from_ns, room_ns),
				    begin_ns + MIN(to_ns, room_ns));
}
