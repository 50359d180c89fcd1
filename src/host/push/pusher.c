/*
 * The live model, read piece by piece.  Names were found while it was read, and stay.
 */
#include "host/push/pusher.h"

#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/live/live.h"
#include "host/model/samples/profile.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* 32 bytes a sample, about 110 a stack and 190 a frame: about 20 MiB when all is full. */
static const struct live_limits limits = {
	.samples = 1u << 17,
	.stacks = 1u << 16,
	.frames = 1u << 15,
	.threads = 1u << 13,
};

/* Lists of processes, of their code, names and labels only grow: beyond these limits the live model
 * starts again, and beyond the last one the source, which has a fixed maximum of processes. */
#define PROCESSES_MAX        2048u
#define CODES_MAX            4096u
#define TEXTS_MAX            32768u
#define SERIES_MAX           1024u
#define SOURCE_PROCESSES_MAX 32768u

#define SERIES_NONE UINT32_MAX

/* Samples of all processes that have these labels. */
struct series {
	struct push_labels labels;
	struct recorded_sample *samples;
	size_t count, room;
};

struct pusher {
	struct pusher_options options;
	struct live *live;
	struct source *source;
	uint64_t seen;           /* samples of this live model that were collected or missed */
	size_t source_processes; /* of this source, in live models that there are no more */
	bool is_renewing;        /* samples added during naming are collected before */
	uint64_t begin_ns;       /* CLOCK_BOOTTIME: where the next profile begins */
	struct series *series;
	size_t series_count, series_room;
	uint32_t *series_of; /* by the number of the process; SERIES_NONE: not determined yet */
	size_t process_count, process_room;
	struct pusher_totals totals;
	uint64_t lost_before; /* by sources that there are no more */
};

/* The state of a reader of the live model. */
struct collecting {
	struct pusher *pusher;
	struct push_draft draft;
	struct bytes *request;
	uint64_t samples, end_ns;
};

static void pusher_forget(struct pusher *self)
{
	for (size_t i = 0; i < self->series_count; i++)
		free(self->series[i].samples);
	free(self->series);
	free(self->series_of);
	self->series = NULL;
	self->series_of = NULL;
	self->series_count = self->series_room = self->process_count = self->process_room = 0;
}

static int pusher_begin(struct pusher *self, struct err *err)
{
	const struct sampler_options *sampler = &self->options.sampling.sampler;
	int r = live_new(&self->live, sampler->is_system_wide ? 0 : sampler->pid, &limits, err);

	if (!r)
		live_show(self->live, /* language */ 0, /* full_paths */ true);
	return r ? r : source_start(&self->source, self->live, &self->options.sampling, err);
}

int pusher_open(struct pusher **ret, const struct pusher_options *options, struct err *err)
{
	struct pusher *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "no memory");
	self->options = *options;
	self->options.sampling.is_python_unwatched = true;
	self->begin_ns = boot_now_ns();
	r = pusher_begin(self, err);
	if (r)
		pusher_free(self);
	else
		*ret = self;
	return r;
}

static void pusher_close(struct pusher *self)
{
	source_free(self->source);
	live_free(self->live);
	self->source = NULL;
	self->live = NULL;
}

void pusher_free(struct pusher *self)
{
	if (!self)
		return;
	pusher_close(self);
	pusher_forget(self);
	free(self);
}

void pusher_stop(struct pusher *self)
{
	if (self->source)
		source_stop(self->source);
}

/* There is none where it could not begin anew. */
void pusher_query(struct pusher *self, struct source_facts *ret)
{
	if (self->source)
		source_query(self->source, ret);
	else
		*ret = (struct source_facts){ .has_ended = true };
}

void pusher_totals(struct pusher *self, struct pusher_totals *ret)
{
	struct source_facts facts;

	pusher_query(self, &facts);
	*ret = self->totals;
	ret->lost = self->lost_before + facts.lost;
}

/* At a quarter of the room: the oldest samples may be dropped before all of it is used. */
bool pusher_is_full(struct pusher *self)
{
	return self->is_renewing || live_counts(self->live).seen - self->seen > limits.samples / 4;
}

static int series_add(struct pusher *self, const struct push_labels *labels, uint32_t *ret)
{
	for (uint32_t i = 0; i < self->series_count; i++)
		if (push_labels_equal(&self->series[i].labels, labels)) {
			*ret = i;
			return 0;
		}
	if (make_room(&self->series, self->series_count, &self->series_room, sizeof(*self->series)))
		return -ENOMEM;
	self->series[self->series_count] = (struct series){ .labels = *labels };
	*ret = (uint32_t)self->series_count++;
	return 0;
}

static int series_find(struct pusher *self, const struct model_process *process, uint32_t *ret)
{
	struct push_labels labels;

	while (self->process_count <= process->number) {
		if (make_room(&self->series_of, self->process_count, &self->process_room,
			      sizeof(*self->series_of)))
			return -ENOMEM;
		self->series_of[self->process_count++] = SERIES_NONE;
	}
	*ret = self->series_of[process->number];
	if (*ret != SERIES_NONE)
		return 0;
	labels = self->options.labels;
	push_labels_find(&labels, process->pid, process->name);
	if (series_add(self, &labels, ret))
		return -ENOMEM;
	self->series_of[process->number] = *ret;
	return 0;
}

/* Each sample to its series. */
static int samples_share(struct pusher *self, const struct model *model)
{
	const struct samples *samples = model->samples;
	uint32_t number;

	for (size_t i = 0; i < samples->kept_count; i++) {
		const struct recorded_sample *sample = &samples->kept[i];
		struct series *series;

		if (series_find(self, model->threads[sample->thread]->process, &number))
			return -ENOMEM;
		series = &self->series[number];
		if (make_room(&series->samples, series->count, &series->room,
			      sizeof(*series->samples)))
			return -ENOMEM;
		series->samples[series->count++] = *sample;
	}
	return 0;
}

/* Fills in the facts that exporters need of a recording. */
static void model_describe(struct model *model, const struct collecting *collecting,
			   const struct series *series)
{
	struct samples *samples = model->samples;

	samples->kept = series->samples;
	samples->kept_count = series->count;
	samples->hz = collecting->pusher->options.sampling.sampler.hz;
	samples->first_ns = collecting->pusher->begin_ns;
	samples->last_ns = collecting->end_ns;
	samples->view = KINDS_ALL;
	samples->count = series->count;
	memset(samples->kinds, 0, sizeof(samples->kinds));
	memset(samples->ends, 0, sizeof(samples->ends));
	for (size_t i = 0; i < series->count; i++) {
		samples->kinds[series->samples[i].kind]++;
		samples->ends[series->samples[i].end]++;
	}
}

static int series_put(struct collecting *self, struct model *model, struct series *series)
{
	struct source_facts facts;
	char *own = model->samples->sampler;
	int r;

	source_query(self->pusher->source, &facts);
	model_describe(model, self, series);
	model->samples->sampler = (char *)(uintptr_t)facts.sampler;
	r = self->pusher->options.format->add(&self->draft, &series->labels);
	model->samples->sampler = own;
	self->samples += series->count;
	return r;
}

static int collect_read(struct model *model, void *context)
{
	struct collecting *self = context;
	struct pusher *pusher = self->pusher;
	int r = samples_share(pusher, model), end;

	self->draft.model = model;
	model->first = (struct clock_point){ .real_ns = clock_read_ns(CLOCK_REALTIME),
					     .boot_ns = self->end_ns,
					     .monotonic_ns = now_ns() };
	for (size_t i = 0; i < pusher->series_count; i++) {
		struct series *series = &pusher->series[i];

		if (!r && series->count)
			r = series_put(self, model, series);
		series->count = 0;
	}
	end = pusher->options.format->finish(&self->draft, self->request);
	return r ? r : end;
}

static bool has_grown(const struct pusher *self, const struct live_sizes *sizes)
{
	return sizes->processes > PROCESSES_MAX || sizes->codes > CODES_MAX ||
	       sizes->texts > TEXTS_MAX || self->series_count > SERIES_MAX;
}

static int source_renew(struct pusher *self, struct err *err)
{
	struct source_facts facts;

	source_stop(self->source);
	source_query(self->source, &facts);
	self->lost_before += facts.lost;
	self->totals.missed += live_counts(self->live).seen - self->seen;
	pusher_close(self);
	self->seen = self->source_processes = 0;
	return pusher_begin(self, err);
}

/* After a second profile, which has few new names and is made at once: samples added between it and
 * the new live model count as missed by the next one. */
static int pusher_renew(struct pusher *self, struct err *err)
{
	struct live_sizes sizes;

	live_sizes(self->live, &sizes);
	self->is_renewing = !self->is_renewing && has_grown(self, &sizes);
	if (self->is_renewing || !has_grown(self, &sizes))
		return 0;
	self->source_processes += sizes.processes;
	pusher_forget(self);
	if (self->source_processes > SOURCE_PROCESSES_MAX)
		return source_renew(self, err);
	return live_restart(self->live) ? err_set(err, -ENOMEM, "no memory for a profile") : 0;
}

int pusher_collect(struct pusher *self, struct bytes *ret, uint64_t *ret_samples, struct err *err)
{
	struct collecting collecting = { .pusher = self, .request = ret, .end_ns = boot_now_ns() };
	uint64_t missed = 0;
	int r = 0;

	if (self->source)
		r = live_read_new(self->live, &self->seen, &missed, collect_read, &collecting);
	self->totals.missed += missed;
	if (r || ret->has_failed)
		return err_set(err, -ENOMEM, "no memory for a profile");
	malloc_trim(0); /* names of files that were closed, and the request's */
	self->begin_ns = collecting.end_ns;
	self->totals.collected += collecting.samples;
	*ret_samples = collecting.samples;
	return self->source ? pusher_renew(self, err) : 0;
}
