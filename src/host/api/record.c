/*
 * Recordings of the C API: a background job, with copies of all that its options name.
 */
#include "host/api/sampler.h"

#include "host/core/text/print.h"
#include "host/model/domains.h"
#include "host/recorder/record_job.h"
#include "host/recording/facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef LIMPET_VERSION
#error "the build gives it"
#endif

struct limpet_recording {
	char *path;
	pid_t *pids;
	char **functions;
	size_t function_count;
	struct period period;
	struct sampling_options sampling;
	struct limpet_sampler *keeper; /* of samples for the callback; never started itself */
	struct background_job *job;
};

static int find_domain(const char *name, uint32_t *domains, struct err *err)
{
	char names[256] = "";

	for (unsigned i = 0; i < DOMAINS; i++) {
		if (i == DOMAIN_FUNCTION)
			continue;
		if (!strcmp(name, domain_name(i))) {
			*domains |= 1u << i;
			return 0;
		}
		print_append(names, sizeof(names), "%s%s", names[0] ? ", " : "", domain_name(i));
	}
	err_set(err, -EINVAL, "unknown trace '%s'", name);
	err_fix(err, "%s", names);
	return err_exit(err, EXIT_USAGE);
}

static int read_trace(const struct limpet_record_options *options,
		      const struct limpet_recording *self, struct trace_options *ret,
		      struct err *err)
{
	int r = 0;

	*ret = (struct trace_options){ .functions = (const char *const *)self->functions,
				       .function_count = self->function_count };
	for (size_t i = 0; !r && i < options->trace_count; i++)
		r = find_domain(options->traces[i], &ret->domains, err);
	return r;
}

static int copy_texts(struct limpet_recording *self, const struct limpet_record_options *options,
		      pid_t pid, struct err *err)
{
	self->path = strdup(options->path);
	self->pids = calloc(options->further_count + 1, sizeof(*self->pids));
	self->functions = calloc(options->function_count + 1, sizeof(*self->functions));
	if (!self->path || !self->pids || !self->functions)
		return err_set(err, -ENOMEM, "no memory for a recording");
	self->pids[0] = pid;
	for (size_t i = 0; i < options->further_count; i++)
		self->pids[i + 1] = (pid_t)options->further_pids[i];
	for (; self->function_count < options->function_count; self->function_count++) {
		char *copy = strdup(options->functions[self->function_count]);

		if (!copy)
			return err_set(err, -ENOMEM, "no memory for a recording");
		self->functions[self->function_count] = copy;
	}
	return 0;
}

static int open_keeper(struct limpet_recording *self, struct limpet *target,
		       const struct limpet_record_options *options, struct err *err)
{
	struct limpet_sampler_options sampler = LIMPET_SAMPLER_OPTIONS_INIT;
	struct limpet_error error = LIMPET_ERROR_INIT;

	if (!options->on_sample)
		return 0;
	sampler.on_sample = options->on_sample;
	sampler.context = options->context;
	self->keeper = limpet_sampler_open(target, &sampler, &error);
	if (!self->keeper)
		return err_set(err, error.code, "%s", error.what);
	live_observe(self->keeper->live, &self->sampling);
	return sampler_start_callbacks(self->keeper, err);
}

static bool wants_samples(const struct limpet_record_options *options)
{
	return options->rate_hz || options->on_sample || options->flags & LIMPET_OFF_CPU ||
	       (!options->trace_count && !options->function_count);
}

static int read_sampling(struct limpet_recording *self, const struct limpet_record_options *options,
			 struct err *err)
{
	unsigned hz = options->rate_hz ? options->rate_hz : SAMPLING_HZ;

	self->sampling.sampler =
		(struct sampler_options){ .hz = hz,
					  .on_cpu = true,
					  .off_cpu = options->flags & LIMPET_OFF_CPU,
					  .kernel_frames = !(options->flags & LIMPET_NO_KERNEL) };
	return sampler_check_rate(hz, err);
}

static void read_times(struct limpet_recording *self, const struct limpet_record_options *options,
		       struct job_times *ret)
{
	self->period = options->period_ns ? (struct period){ options->delay_ns, options->period_ns,
							     options->repeat }
					  : PERIOD_ALWAYS;
	*ret = (struct job_times){ .periods = &self->period,
				   .period_count = 1,
				   .duration_ns =
					   options->duration_ns ? options->duration_ns : UINT64_MAX,
				   .max_bytes = options->max_bytes };
}

static int start_job(struct limpet_recording *self, const struct limpet_record_options *options,
		     struct err *err)
{
	struct background_options job = {
		.recorder = { .pids = self->pids,
			      .pid_count = options->further_count + 1,
			      .has_children = options->flags & LIMPET_CHILDREN,
			      .session = { .attach = { .force = options->flags & LIMPET_FORCE,
						       .resumes =
							       options->flags & LIMPET_CONTINUE },
					   .is_strict = true },
			      .sampling = wants_samples(options) ? &self->sampling : NULL,
			      .path = self->path,
			      .version = LIMPET_VERSION },
		.unload = options->flags & LIMPET_UNLOAD,
	};
	int r = read_trace(options, self, &job.recorder.trace, err);

	read_times(self, options, &job.times);
	return r ? r : background_job_start(&self->job, &job, err);
}

static void recording_free(struct limpet_recording *self)
{
	if (self->keeper)
		sampler_stop_callbacks(self->keeper);
	limpet_sampler_close(self->keeper);
	for (size_t i = 0; i < self->function_count; i++)
		free(self->functions[i]);
	free(self->functions);
	free(self->pids);
	free(self->path);
	free(self);
}

static int recording_start(struct limpet_recording *self, struct limpet *target,
			   const struct limpet_record_options *options, struct err *err)
{
	int r = copy_texts(self, options, target->pid, err);

	if (!r)
		r = read_sampling(self, options, err);
	if (!r)
		r = open_keeper(self, target, options, err);
	return r ? r : start_job(self, options, err);
}

EXPORT struct limpet_recording *limpet_record_start(struct limpet *target,
						    const struct limpet_record_options *given,
						    struct limpet_error *error)
{
	struct limpet_record_options options = LIMPET_RECORD_OPTIONS_INIT;
	struct limpet_recording *self = calloc(1, sizeof(*self));
	struct err err = { 0 };

	api_copy_in(&options, given, sizeof(options));
	if (!self)
		err_set(&err, -ENOMEM, "no memory for a recording");
	else if (!target || !options.path)
		err_set(&err, -EINVAL,
			target ? "a recording without a path" : "no process to record");
	else
		(void)!recording_start(self, target, &options, &err);
	if (err.code && self) {
		recording_free(self);
		self = NULL;
	}
	api_report(&err, error);
	return self;
}

static void fill_status(const struct background_state *state, struct limpet_record_status *ret)
{
	const struct collect_totals *collected = &state->traced.collected;

	*ret = (struct limpet_record_status){
		.is_running = state->is_running,
		.samples = state->sampled.counts.samples,
		.samples_lost = state->sampled.counts.lost,
		.records = collected->records,
		.dropped = drops_sum(collected->drops),
		.processes = state->traced.processes,
		.bytes = state->bytes,
	};
	snprintf(ret->sampler, sizeof(ret->sampler), "%s", state->sampled.sampler);
}

EXPORT int limpet_record_status(struct limpet_recording *self, struct limpet_record_status *status,
				struct limpet_error *error)
{
	struct limpet_record_status ours;
	struct background_state state;
	struct err err = { 0 };

	if (!self) {
		err_set(&err, -EINVAL, "no recording");
	} else {
		background_job_query(self->job, &state);
		fill_status(&state, &ours);
		api_copy_out(status, &ours, sizeof(ours));
	}
	return api_report(&err, error);
}

static int recording_stop(struct limpet_recording *self, struct limpet_record_status *ret,
			  struct err *err)
{
	struct recorder_outcome outcome;
	struct background_state state;
	int r;

	background_job_halt(self->job);
	background_job_query(self->job, &state);
	r = background_job_stop(self->job, /* gives_up */ false, &outcome, err);
	state.is_running = false;
	state.traced = outcome.totals;
	state.bytes = outcome.written.bytes;
	fill_status(&state, ret);
	if (!r && !outcome.written.records && !outcome.written.samples) {
		err_set(err, -ENODATA, "nothing was recorded");
		r = err_exit(err, EXIT_NOTHING_CAPTURED);
	}
	return r;
}

EXPORT int limpet_record_stop(struct limpet_recording *self, struct limpet_record_status *status,
			      struct limpet_error *error)
{
	struct limpet_record_status ours;
	struct err err = { 0 };

	if (!self) {
		err_set(&err, -EINVAL, "no recording");
		return api_report(&err, error);
	}
	(void)!recording_stop(self, &ours, &err);
	api_copy_out(status, &ours, sizeof(ours));
	recording_free(self);
	return api_report(&err, error);
}
