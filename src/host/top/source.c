/*
 * The recorder's sampling, without a recording: each sample is added to the live model.
 */
#include "host/top/source.h"

#include "host/top/live.h"

#include <errno.h>
#include <stdlib.h>

struct source {
	struct live *live;
	struct sampling *sampling;
	bool is_running;
};

static int source_take_sample(void *context, const struct sample *sample, struct space *space)
{
	const struct source *self = context;

	return live_take(self->live, sample, space);
}

static int source_take_process(void *context, const struct sampled_process *process)
{
	const struct source *self = context;

	return live_process(self->live, process);
}

int source_start(struct source **ret, struct live *live, const struct sampling_options *given,
		 struct err *err)
{
	struct sampling_options options = *given;
	struct source *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "sample: no memory");
	self->live = live;
	options.observe = source_take_sample;
	options.observe_process = source_take_process;
	options.context = self;
	r = sampling_new(&self->sampling, /* recording */ NULL, /* programs */ NULL, &options, err);
	if (!r)
		r = sampling_start(self->sampling, err);
	self->is_running = !r;
	if (r)
		source_free(self);
	else
		*ret = self;
	return r;
}

void source_look(struct source *self, struct source_facts *ret)
{
	struct sampling_totals totals;

	sampling_totals(self->sampling, &totals);
	*ret = (struct source_facts){ .sampler = totals.sampler,
				      .summary = totals.summary,
				      .lost = totals.counts.lost,
				      .throttled = totals.counts.throttled,
				      .has_ended = sampling_has_ended(self->sampling) };
	sampling_reasons(self->sampling, ret->reasons, sizeof(ret->reasons));
	if (!sampling_check(self->sampling, &ret->error))
		ret->error.code = 0;
}

bool source_python_thread(struct source *self, pid_t pid, pid_t tid, struct watched_thread *ret)
{
	return sampling_python_thread(self->sampling, pid, tid, ret);
}

static bool source_find_name(void *context, pid_t pid, pid_t tid, struct watched_thread *ret)
{
	return source_python_thread(context, pid, tid, ret);
}

struct thread_namer source_namer(struct source *source)
{
	return (struct thread_namer){ source ? source_find_name : NULL, source };
}

void source_stop(struct source *self)
{
	if (self->is_running)
		sampling_pause(self->sampling);
	self->is_running = false;
}

void source_free(struct source *source)
{
	if (!source)
		return;
	sampling_free(source->sampling);
	free(source);
}
