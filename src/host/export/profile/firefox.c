/*
 * firefox: profiler.firefox.com, its processed format, version 66, which later ones read.  Samples
 * of the view are its samples; waits of threads are markers with their stacks, in every view.
 */
#include <errno.h>
#include <stdlib.h>

#include "host/core/threads/thread_state.h"
#include "host/export/exporter.h"
#include "host/export/profile/firefox_tables.h"
#include "host/export/profile/thread_samples.h"

#define FORMAT_VERSION 66u
/* Of the older format that this one was once made from. */
#define GECKO_VERSION 33u

struct firefox {
	struct json json;
	struct model *model;
	struct firefox_tables tables;
	struct thread_samples samples;
	unsigned kinds; /* of those that are samples there */
};

static bool is_wait(const struct thread_sample *sample)
{
	return sample->kind == SAMPLE_BLOCKED || sample->kind == SAMPLE_RUNNABLE;
}

/* In milliseconds since the first. */
static void write_time(struct firefox *self, const char *key, uint64_t time_ns)
{
	uint64_t first_ns = self->model->samples->first_ns;

	json_fixed(&self->json, key, time_ns - MIN(time_ns, first_ns), 6);
}

static void write_stack(struct firefox *self, const char *key, const struct thread_sample *sample)
{
	uint32_t stack = firefox_stack(&self->tables, sample->stack, sample->end);

	if (stack == STACK_NONE)
		json_raw(&self->json, key, "null");
	else
		json_number(&self->json, key, stack);
}

static bool is_sample(const struct firefox *self, const struct thread_sample *sample)
{
	return self->kinds & KIND_BIT(sample->kind);
}

/* Running samples are counted; with waits too, times are added. */
static void write_samples(struct firefox *self, const struct thread_sample *samples, size_t count)
{
	struct json *json = &self->json;
	bool is_counted = self->kinds == KINDS_ON_CPU;
	bool is_memory = profile_kinds_are_bytes(self->kinds);
	size_t length = 0;

	json_object(json, "samples");
	json_list(json, "stack");
	for (size_t i = 0; i < count; i++)
		if (is_sample(self, &samples[i]))
			write_stack(self, NULL, &samples[i]);
	json_list_end(json);
	json_list(json, "time");
	for (size_t i = 0; i < count; i++)
		if (is_sample(self, &samples[i]))
			write_time(self, NULL, samples[i].time_ns);
	json_list_end(json);
	json_list(json, "threadCPUDelta");
	for (size_t i = 0; i < count; i++)
		if (is_sample(self, &samples[i]))
			json_number(json, NULL,
				    samples[i].kind == SAMPLE_RUNNING ? samples[i].weight_ns : 0);
	json_list_end(json);
	json_text(json, "weightType", is_counted ? "samples" : is_memory ? "bytes" : "tracing-ms");
	json_list(json, "weight");
	for (size_t i = 0; i < count; i++) {
		if (!is_sample(self, &samples[i]))
			continue;
		length++;
		json_fixed(json, NULL, is_counted ? 1 : samples[i].weight_ns,
			   is_counted || is_memory ? 0 : 6);
	}
	json_list_end(json);
	json_number(json, "length", length);
	json_object_end(json);
}

static const struct {
	const char *name;
	enum firefox_category category;
} marker_kinds[SAMPLE_KINDS] = { [SAMPLE_BLOCKED] = { "waiting", FIREFOX_WAITING },
				 [SAMPLE_RUNNABLE] = { "runnable", FIREFOX_RUNNABLE } };

static void write_marker_data(struct firefox *self, const struct thread_sample *sample)
{
	struct json *json = &self->json;

	json_object(json, NULL);
	json_text(json, "type", "wait");
	json_text(json, "state",
		  sample->kind == SAMPLE_BLOCKED ? thread_state_name(sample->state) : "runnable");
	if (sample->stack != STACK_NONE) {
		json_object(json, "cause");
		write_time(self, "time", sample->time_ns - MIN(sample->time_ns, sample->weight_ns));
		write_stack(self, "stack", sample);
		json_object_end(json);
	}
	json_object_end(json);
}

enum marker_column { MARKER_NAME, MARKER_START, MARKER_END, MARKER_PHASE, MARKER_CATEGORY };

/* Phase 1: it has a start and an end. */
static void write_marker_value(struct firefox *self, const struct thread_sample *sample,
			       enum marker_column column)
{
	uint64_t begin_ns = sample->time_ns - MIN(sample->time_ns, sample->weight_ns);

	switch (column) {
	case MARKER_NAME:
		json_number(&self->json, NULL,
			    firefox_text(&self->tables, marker_kinds[sample->kind].name));
		break;
	case MARKER_START:
		write_time(self, NULL, begin_ns);
		break;
	case MARKER_END:
		write_time(self, NULL, sample->time_ns);
		break;
	case MARKER_PHASE:
		json_number(&self->json, NULL, 1);
		break;
	case MARKER_CATEGORY:
		json_number(&self->json, NULL, marker_kinds[sample->kind].category);
		break;
	}
}

static void write_markers(struct firefox *self, const struct thread_sample *samples, size_t count)
{
	static const char *const columns[] = { [MARKER_NAME] = "name",
					       [MARKER_START] = "startTime",
					       [MARKER_END] = "endTime",
					       [MARKER_PHASE] = "phase",
					       [MARKER_CATEGORY] = "category" };
	struct json *json = &self->json;
	size_t length = 0;

	json_object(json, "markers");
	for (unsigned column = 0; column < ARRAY_SIZE(columns); column++) {
		json_list(json, columns[column]);
		for (size_t i = 0; i < count; i++)
			if (is_wait(&samples[i]))
				write_marker_value(self, &samples[i], column);
		json_list_end(json);
	}
	json_list(json, "data");
	for (size_t i = 0; i < count; i++)
		if (is_wait(&samples[i])) {
			write_marker_data(self, &samples[i]);
			length++;
		}
	json_list_end(json);
	json_number(json, "length", length);
	json_object_end(json);
}

static void write_thread(struct firefox *self, const struct thread_sample *samples, size_t count)
{
	const struct model_thread *thread = self->model->threads[samples->thread];
	struct json *json = &self->json;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", thread->process->pid);
	json_object(json, NULL);
	json_text(json, "processType", "default");
	json_number(json, "processStartupTime", 0);
	json_raw(json, "processShutdownTime", "null");
	json_number(json, "registerTime", 0);
	json_raw(json, "unregisterTime", "null");
	json_list(json, "pausedRanges");
	json_list_end(json);
	json_text(json, "name", thread->name);
	json_bool(json, "isMainThread", thread->tid == thread->process->pid);
	json_text(json, "processName", thread->process->name);
	json_text(json, "pid", pid);
	json_signed(json, "tid", thread->tid);
	write_samples(self, samples, count);
	write_markers(self, samples, count);
	json_object_end(json);
}

static void write_threads(struct firefox *self)
{
	const struct thread_samples *samples = &self->samples;

	json_list(&self->json, "threads");
	for (size_t first = 0, end; first < samples->count; first = end) {
		end = thread_samples_end(samples, first);
		write_thread(self, &samples->items[first], end - first);
	}
	json_list_end(&self->json);
}

static void write_categories(struct json *json)
{
	static const struct {
		const char *name, *colour;
	} categories[] = {
		[FIREFOX_OTHER] = { "Other", "grey" },
		[FIREFOX_USER] = { "User", "yellow" },
		[FIREFOX_KERNEL] = { "Kernel", "orange" },
		[FIREFOX_GENERATED] = { "Generated code", "green" },
		[FIREFOX_WAITING] = { "Waiting", "blue" },
		[FIREFOX_RUNNABLE] = { "Runnable: waiting for a CPU", "red" },
	};

	json_list(json, "categories");
	for (size_t i = 0; i < ARRAY_SIZE(categories); i++) {
		json_object(json, NULL);
		json_text(json, "name", categories[i].name);
		json_text(json, "color", categories[i].colour);
		json_list(json, "subcategories");
		json_text(json, NULL, "Other");
		json_list_end(json);
		json_object_end(json);
	}
	json_list_end(json);
}

static void write_marker_schema(struct json *json)
{
	json_list(json, "markerSchema");
	json_object(json, NULL);
	json_text(json, "name", "wait");
	json_text(json, "tableLabel", "{marker.data.state}");
	json_text(json, "chartLabel", "{marker.name}: {marker.data.state}");
	json_list(json, "display");
	json_text(json, NULL, "marker-chart");
	json_text(json, NULL, "marker-table");
	json_list_end(json);
	json_list(json, "fields");
	json_object(json, NULL);
	json_text(json, "key", "state");
	json_text(json, "label", "State");
	json_text(json, "format", "string");
	json_object_end(json);
	json_list_end(json);
	json_object_end(json);
	json_list_end(json);
}

static void write_meta(struct firefox *self)
{
	const struct model *model = self->model;
	const struct samples *samples = model->samples;
	uint64_t period_ns = samples->hz ? 1000000000u / samples->hz : 1000000u;
	struct json *json = &self->json;
	char title[128];

	json_object(json, "meta");
	json_number(json, "version", GECKO_VERSION);
	json_number(json, "preprocessedProfileVersion", FORMAT_VERSION);
	json_text(json, "product",
		  samples_are_system_wide(model->samples)
			  ? recording_title(model, title, sizeof(title))
		  : model->process_count ? model->processes[0]->name
					 : "limpet");
	json_text(json, "importedFrom", "limpet");
	json_fixed(json, "interval", period_ns, 6);
	json_fixed(json, "startTime", samples->first_ns + (uint64_t)model_wall_offset_ns(model), 6);
	json_number(json, "profilingStartTime", 0);
	/* The end is exclusive. */
	json_fixed(json, "profilingEndTime", samples->last_ns - samples->first_ns + period_ns, 6);
	json_number(json, "processType", 0);
	json_number(json, "stackwalk", 1);
	json_bool(json, "debug", false);
	json_bool(json, "symbolicated", true);
	json_bool(json, "usesOnlyOneStackType", true);
	json_bool(json, "doesNotUseFrameImplementation", true);
	json_bool(json, "sourceCodeIsNotOnSearchfox", true);
	json_text(json, "oscpu", model->kernel);
	json_text(json, "abi", model->machine);
	json_object(json, "sampleUnits");
	json_text(json, "time", "ms");
	json_text(json, "eventDelay", "ms");
	json_text(json, "threadCPUDelta", "ns");
	json_object_end(json);
	write_categories(json);
	write_marker_schema(json);
	json_object_end(json);
}

static void write_all(struct firefox *self)
{
	struct json *json = &self->json;

	json_object(json, NULL);
	write_meta(self);
	firefox_write_libs(json, &self->tables);
	json_list(json, "pages");
	json_list_end(json);
	/* Threads need the numbers of stacks, and of texts that must be listed before them. */
	json_object(json, "shared");
	firefox_write_tables(json, &self->tables);
	for (unsigned i = 0; i < SAMPLE_KINDS; i++)
		if (marker_kinds[i].name)
			firefox_text(&self->tables, marker_kinds[i].name);
	firefox_write_texts(json, &self->tables);
	json_object_end(json);
	write_threads(self);
	json_object_end(json);
}

static int firefox_write(struct model *model, FILE *out)
{
	unsigned kinds = profile_kinds(model->samples);
	struct firefox self = { .json = { .out = out },
				.model = model,
				.samples = { .kinds = kinds | KIND_BIT(SAMPLE_BLOCKED) |
						      KIND_BIT(SAMPLE_RUNNABLE) },
				.kinds = kinds };
	int r = firefox_tables_init(&self.tables, model->samples);

	if (!r)
		r = thread_samples_gather(&self.samples, model);
	for (size_t i = 0; !r && i < self.samples.count; i++)
		firefox_tables_need(&self.tables, self.samples.items[i].stack,
				    self.samples.items[i].end);
	if (!r)
		write_all(&self);
	if (!r && self.tables.has_failed)
		r = -ENOMEM;
	firefox_tables_done(&self.tables);
	free(self.samples.items);
	return r ? r : export_state(out);
}

const struct exporter_format format_firefox = {
	.looks_like = "{\"meta\":{*\"importedFrom\":\"limpet\"*",
	.write = firefox_write,
};
