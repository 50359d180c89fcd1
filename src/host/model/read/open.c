/*
 * A recording as a model: opens it, reads it whole, adds it up, and says what it lacks.
 */
#include "host/model/model.h"
#include "host/model/read/read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/model/samples/samples.h"
#include "host/model/windows/windows.h"
#include "host/recording/facts.h"

static void free_thread(struct model_thread *thread)
{
	free(thread->locations);
	free(thread->name);
	free(thread);
}

void model_free(struct model *model)
{
	if (!model)
		return;
	for (uint32_t i = 0; i < model->process_count; i++)
		model_process_free(model->processes[i]);
	for (uint32_t i = 0; i < model->thread_count; i++)
		free_thread(model->threads[i]);
	free(model->processes);
	free(model->threads);
	pool_done(&model->texts);
	samples_free(model->samples);
	windows_done(&model->windows);
	free(model->usage.items);
	reader_close(model->reader);
	free(model);
}

int model_copy_file(const struct model *model, int to)
{
	return reader_copy(model->reader, to);
}

/* Options are the tracer's request: "alloc;alloc-sample=524288;". */
static uint64_t find_alloc_sample(const char *options)
{
	static const char word[] = "alloc-sample=";
	const char *at = strstr(options, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static int add_up(struct model *model)
{
	struct reader_damage damage = reader_damage(model->reader);

	model->damaged += damage.chunks;
	model->cut_bytes = damage.cut_bytes;
	model->left_out += damage.beyond;
	model_find_slope(model);
	model->alloc_sample = find_alloc_sample(model->options);
	for (uint32_t i = 0; i < model->process_count; i++) {
		model->processes[i]->first_function = model->function_count;
		model->function_count += model->processes[i]->function_count;
		if (names_finish(&model->processes[i]->names))
			return -ENOMEM;
		drops_add(model->drops, model->processes[i]->drops);
	}
	for (uint32_t i = 0; i < model->thread_count; i++) {
		index_finish(model->threads[i]);
		drops_add(model->drops, model->threads[i]->drops);
	}
	if (model->has_raw_stacks && raw_stacks_number(model))
		return -ENOMEM;
	return samples_finish(model);
}

static int model_fill(struct model *model, const struct sample_watcher *watcher)
{
	model->samples = samples_new();
	if (!model->samples)
		return -ENOMEM;
	model->samples->watcher = watcher;
	/* Callers need not check whether there was a session. */
	model->limpet_version = model->host = model->kernel = model->machine = model->command =
		model->options = "";
	if (model_read_chunks(model))
		return -ENOMEM;
	model->samples->watcher = NULL;
	return add_up(model);
}

static void set_limits(struct model *model, uint64_t records_max)
{
	model->records_max = records_max;
	if (records_max)
		reader_believe(model->reader);
	else
		model->records_max = MODEL_RECORDS_LEAST +
				     MIN(reader_size(model->reader), UINT32_MAX * 1024ull) *
					     MODEL_RECORDS_PER_BYTE;
}

int model_follow(struct model *model)
{
	struct reader_damage damage = reader_damage(model->reader);
	int r = model->samples->raw ? -EPROTO : reader_follow(model->reader);

	if (r)
		return r;
	set_limits(model, /* records_max */ 0);
	/* add_up() adds all of them again. */
	model->damaged -= damage.chunks;
	model->left_out -= damage.beyond;
	model->function_count = 0;
	memset(model->drops, 0, sizeof(model->drops));
	r = model_read_chunks(model);
	return r ? r : add_up(model);
}

struct opening {
	const char *name; /* its path, where fd is -1 */
	int fd;
	uint64_t records_max; /* 0: by the size */
	const struct sample_watcher *watcher;
};

static int recording_open(const struct opening *opening, struct model **ret, struct err *err)
{
	CLEANUP(model_free) struct model *self = calloc(1, sizeof(*self));
	int r;

	if (!self) {
		if (opening->fd >= 0)
			close(opening->fd);
		return err_set(err, -ENOMEM, "read '%s': no memory", opening->name);
	}
	r = opening->fd < 0 ? reader_open(opening->name, &self->reader, err)
			    : reader_open_fd(opening->fd, opening->name, &self->reader, err);
	if (r)
		return r;
	set_limits(self, opening->records_max);
	if (model_fill(self, opening->watcher))
		return err_set(err, -ENOMEM, "read '%s': no memory", opening->name);
	*ret = TAKE(self);
	return 0;
}

int model_open_fd(int fd, const char *name, struct model **ret, struct err *err)
{
	return recording_open(&(struct opening){ name, fd, 0, NULL }, ret, err);
}

int model_open_up_to(const char *path, uint64_t records_max, struct model **ret, struct err *err)
{
	return recording_open(&(struct opening){ path, -1, records_max, NULL }, ret, err);
}

int model_open_watched(const char *path, const struct sample_watcher *watcher, struct model **ret,
		       struct err *err)
{
	return recording_open(&(struct opening){ path, -1, 0, watcher }, ret, err);
}

int model_open(const char *path, struct model **ret, struct err *err)
{
	return model_open_up_to(path, /* records_max */ 0, ret, err);
}

static const char *const end_words[RECORDING_ENDS] = {
	[RECORDING_CUT] =
		"it has no end: limpet was killed, had no room for more, or is still writing it",
	[RECORDING_COMPLETE] = "",
	[RECORDING_NO_SPACE] = "it ends early: the file could not be written any more",
	[RECORDING_GIVEN_UP] = "it ends early: limpet was told to give up",
};

void model_describe_end(const struct model *model, char *ret, size_t room)
{
	size_t length = (size_t)snprintf(ret, room, "%s", end_words[model->end.reason]);

	if (model->damaged && length < room)
		length += (size_t)snprintf(ret + length, room - length,
					   "%s%" PRIu64 " damaged chunks were left out",
					   length ? "; " : "", model->damaged);
	if (model->left_out && length < room)
		snprintf(ret + length, room - length,
			 "%s%" PRIu64 " chunks were left out after %" PRIu64
			 " records: they hold more than a file of this size can; --max-records N "
			 "reads further",
			 length ? "; " : "", model->left_out, model->records);
}

/* A process that executes another program is a second one in the model, with the same PID. */
static uint32_t count_pids(const struct model *model)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->process_count; i++)
		count += !i || model->processes[i - 1]->pid != model->processes[i]->pid;
	return count;
}

/* Of several processes each may have ended between two samples. */
static void explain_no_samples(const struct model *model, struct err *err)
{
	uint32_t count = count_pids(model);

	if (count <= 1) {
		err_why(err, "no thread ran while it was sampled (%s, %u Hz)",
			model->samples->sampler, model->samples->hz);
		return;
	}
	err_why(err, "none of %u processes ran long enough for a sample (%s, %u Hz)", count,
		model->samples->sampler, model->samples->hz);
	err_fix(err, "limpet record -F 999");
}

int model_check_filled(const struct model *model, const char *path, struct err *err)
{
	char end[256];

	if (model->calls || model->samples->count || model->windows.count)
		return 0;
	err_set(err, -ENODATA, "'%s' holds no calls, no samples and no counters", path);
	model_describe_end(model, end, sizeof(end));
	if (drops_sum(model->drops))
		err_why(err, "all %" PRIu64 " records were dropped", drops_sum(model->drops));
	else if (end[0])
		err_why(err, "%s", end);
	else if (model->samples->hz)
		explain_no_samples(model, err);
	else
		err_why(err, "nothing that was traced (%s) was called while it was recorded",
			model->options[0] ? model->options : "nothing was asked for");
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}
