/*
 * Reads recordings on several threads, and adds each one to the totals when it is read.
 */
#include "host/fleet/report/fleet_totals.h"

#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/core/threads/quiet_thread.h"
#include "host/fleet/folder/fleet_folder.h"
#include "host/model/samples/profile.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define READERS_MAX 8u

struct totals_job {
	const char *folder;
	const struct fleet *fleet;
	const struct totals_watcher *watcher;
	pthread_mutex_t lock; /* guards what follows */
	struct fleet_totals *totals;
	size_t next, done;
	int error;
};

/* The data of one recording, before it is added to those of others. */
struct rank_reading {
	struct model *model;
	struct profile profiles[2]; /* SPREAD_RUNNING, SPREAD_WAITING */
	struct hot_functions hot[2];
	struct spreads calls; /* by name and domain */
};

static int samples_read(struct rank_reading *self)
{
	static const unsigned kinds[] = {
		[SPREAD_RUNNING] = KINDS_ON_CPU, [SPREAD_WAITING] = KINDS_OFF_CPU
	};
	int r = 0;

	for (unsigned i = 0; !r && i < ARRAY_SIZE(kinds); i++) {
		r = sample_profile_gather(&self->profiles[i], self->model,
					  &(struct profile_filter){ .kinds = kinds[i] });
		if (!r)
			r = hot_functions_find(&self->hot[i], &self->profiles[i]);
	}
	return r;
}

static int on_call(const struct call *call, void *context)
{
	const struct spread_part part = { .name = call_name(call),
					  .module = domain_name(call->function->domain),
					  .self_ns = call->end_ns - call->begin_ns,
					  .count = 1 };

	return spreads_add(context, &part);
}

static int reading_open(struct rank_reading *self, const char *path, struct err *err)
{
	int r = model_open(path, &self->model, err);

	/* Names are last in a file: one that was cut may lack them. */
	if (!r && self->model->samples->unnamed)
		r = model_name_late(self->model);
	if (!r && self->model->samples->count)
		r = samples_read(self);
	if (!r && self->model->calls)
		r = model_each_call(self->model, on_call, &self->calls);
	if (r && !err->code)
		err_set(err, r, "no memory");
	return r;
}

static void rank_fill(struct rank_totals *ret, const struct rank_reading *reading)
{
	const struct model *model = reading->model;
	const struct samples *samples = model->samples;
	/* The file ends later than its samples: names are resolved in between. */
	uint64_t begin_ns = samples->count ? samples->first_ns : model->first.boot_ns;
	uint64_t end_ns = samples->count ? samples->last_ns : model->last.boot_ns;

	ret->is_read = true;
	ret->samples = samples->count;
	ret->calls = model->calls;
	ret->running_ns = samples->weights_ns[SAMPLE_RUNNING];
	ret->waiting_ns = samples->weights_ns[SAMPLE_BLOCKED];
	ret->runnable_ns = samples->weights_ns[SAMPLE_RUNNABLE];
	ret->has_waits = samples->flags & SAMPLING_OFF_CPU;
	if (model->has_clock) {
		ret->begin_ns = begin_ns + (uint64_t)model_wall_offset_ns(model);
		ret->length_ns = end_ns - MIN(begin_ns, end_ns);
	}
	model_describe_end(model, ret->trouble, sizeof(ret->trouble));
}

/* Keeps the hottest one for the rank. */
static int hot_add(struct spreads *spreads, enum spread_kind kind, const struct samples *samples,
		   const struct hot_functions *hot, struct rank_totals *rank)
{
	int r = 0;

	for (size_t i = 0; !r && i < hot->count; i++) {
		const struct hot_function *row = &hot->rows[i];
		const struct spread_part part = {
			row->function->name, samples->codes[row->function->code].name,
			rank->rank,          row->self_ns,
			row->total_ns,       row->self_count
		};

		r = spreads_add(spreads, &part);
		if (!r && row->self_ns > rank->top_ns) {
			rank->top = pool_find(&spreads->texts, part.name);
			rank->top_ns = row->self_ns;
			rank->top_kind = kind;
		}
	}
	return r;
}

static int calls_add(struct spreads *spreads, const struct spreads *calls, uint32_t rank)
{
	int r = 0;

	for (size_t i = 0; !r && i < calls->count; i++) {
		const struct spread *row = &calls->items[i];
		const struct spread_part part = { pool_text(&calls->texts, row->name),
						  pool_text(&calls->texts, row->module),
						  rank,
						  row->sum_ns,
						  row->sum_ns,
						  row->count };

		r = spreads_add(spreads, &part);
	}
	return r;
}

/* The caller holds the lock. */
static int reading_add(struct fleet_totals *totals, struct rank_totals *rank,
		       const struct rank_reading *reading)
{
	int r = 0;

	rank_fill(rank, reading);
	for (unsigned i = 0; !r && i < ARRAY_SIZE(reading->hot); i++)
		r = hot_add(&totals->spreads[i], (enum spread_kind)i, reading->model->samples,
			    &reading->hot[i], rank);
	if (!r)
		r = calls_add(&totals->spreads[SPREAD_CALLS], &reading->calls, rank->rank);
	totals->read_count++;
	totals->samples += rank->samples;
	totals->calls += rank->calls;
	if (rank->begin_ns && (!totals->begin_ns || rank->begin_ns < totals->begin_ns))
		totals->begin_ns = rank->begin_ns;
	totals->end_ns = MAX(totals->end_ns, rank->begin_ns + rank->length_ns);
	return r;
}

static int rank_read(struct totals_job *job, size_t index)
{
	struct rank_totals *rank = &job->totals->ranks[index];
	const char *name = job->fleet->ranks[index].recording;
	CLEANUP(free) char *path = *name ? fleet_folder_path(job->folder, name) : NULL;
	struct rank_reading reading = { 0 };
	struct err err = { 0 };
	int r = 0;

	if (*name && !path)
		return -ENOMEM;
	if (!path && rank_is_good(&job->fleet->ranks[index]))
		print_into(rank->trouble, sizeof(rank->trouble), "its recording is missing");
	if (path) {
		r = reading_open(&reading, path, &err);
		pthread_mutex_lock(&job->lock);
		if (r)
			print_into(rank->trouble, sizeof(rank->trouble), "%s", err.what);
		else
			r = reading_add(job->totals, rank, &reading);
		pthread_mutex_unlock(&job->lock);
		for (unsigned i = 0; i < ARRAY_SIZE(reading.hot); i++) {
			hot_functions_done(&reading.hot[i]);
			sample_profile_done(&reading.profiles[i]);
		}
		spreads_done(&reading.calls);
		model_free(reading.model);
	}
	return r == -ENOMEM ? r : 0;
}

static void *reader_run(void *argument)
{
	struct totals_job *job = argument;
	size_t index, done, count = job->totals->rank_count;
	int r;

	pthread_mutex_lock(&job->lock);
	while (!job->error && job->next < count) {
		index = job->next++;
		pthread_mutex_unlock(&job->lock);
		r = rank_read(job, index);
		pthread_mutex_lock(&job->lock);
		job->error = r ? r : job->error;
		done = ++job->done;
		pthread_mutex_unlock(&job->lock);
		if (job->watcher)
			job->watcher->looked(job->watcher->context, done, count);
		pthread_mutex_lock(&job->lock);
	}
	pthread_mutex_unlock(&job->lock);
	return NULL;
}

/* The calling thread is one of them: without others, it does all. */
static void readers_run(struct totals_job *job)
{
	pthread_t threads[READERS_MAX];
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t wanted = (size_t)MIN(MAX(processors, 1), (long)READERS_MAX), count = 0;

	wanted = MIN(wanted, job->totals->rank_count);
	while (count + 1 < wanted && !quiet_thread(&threads[count], reader_run, job))
		count++;
	reader_run(job);
	while (count--)
		pthread_join(threads[count], NULL);
}

int fleet_totals_read(struct fleet_totals *ret, const char *folder, const struct fleet *fleet,
		      const struct totals_watcher *watcher, struct err *err)
{
	struct fleet_totals totals = { .rank_count = fleet->rank_count };
	struct totals_job job = { .folder = folder,
				  .fleet = fleet,
				  .watcher = watcher,
				  .lock = PTHREAD_MUTEX_INITIALIZER,
				  .totals = &totals };

	totals.ranks = calloc(fleet->rank_count + 1, sizeof(*totals.ranks));
	if (!totals.ranks)
		return err_set(err, -ENOMEM, "ranks: no memory");
	for (size_t i = 0; i < fleet->rank_count; i++) {
		const struct fleet_rank *rank = &fleet->ranks[i];

		totals.ranks[i] = (struct rank_totals){
			.rank = rank->number,
			.node = rank->node == NODE_NONE ? "?" : fleet->nodes[rank->node].name,
			.pid = rank->pid,
			.top = POOL_NONE,
		};
	}
	readers_run(&job);
	for (unsigned i = 0; i < SPREAD_KINDS; i++)
		spreads_sort(&totals.spreads[i]);
	if (job.error) {
		fleet_totals_done(&totals);
		return err_set(err, job.error, "ranks: no memory");
	}
	*ret = totals;
	return 0;
}

void fleet_totals_done(struct fleet_totals *totals)
{
	free(totals->ranks);
	for (unsigned i = 0; i < SPREAD_KINDS; i++)
		spreads_done(&totals->spreads[i]);
	*totals = (struct fleet_totals){ 0 };
}
