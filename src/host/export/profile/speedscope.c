/*
 * speedscope: the JSON of speedscope.app, one profile for each thread, samples in the order of
 * time.
 */
#include <stdlib.h>

#include "host/core/text/json.h"
#include "host/export/exporter.h"
#include "host/export/profile/thread_samples.h"

struct speedscope {
	struct json json;
	struct model *model;
	struct thread_samples samples;
};

/* A location is a frame of speedscope: function, file and line. */
static void write_frames(struct speedscope *self)
{
	const struct samples *samples = self->model->samples;

	json_object(&self->json, "shared");
	json_list(&self->json, "frames");
	for (size_t i = 0; i < samples->location_count; i++) {
		const struct sample_location *location = &samples->locations[i];

		json_object(&self->json, NULL);
		json_text(&self->json, "name", samples->functions[location->function].name);
		if (location->file[0])
			json_text(&self->json, "file", location->file);
		if (location->line)
			json_number(&self->json, "line", location->line);
		json_object_end(&self->json);
	}
	json_list_end(&self->json);
	json_object_end(&self->json);
}

static void write_stack(struct speedscope *self, uint32_t stack)
{
	const struct samples *samples = self->model->samples;
	uint32_t frames[STACK_DEPTH_MAX];
	size_t count = stack_frames(samples, stack, frames);

	json_list(&self->json, NULL);
	while (count-- > 0) {
		const struct sample_frame *frame = &samples->frames[frames[count]];

		for (uint32_t i = frame->location_count; i-- > 0;)
			json_number(&self->json, NULL, frame->first_location + i);
	}
	json_list_end(&self->json);
}

static void write_thread(struct speedscope *self, const struct thread_sample *samples, size_t count)
{
	uint64_t all_ns = 0;
	char name[128];

	thread_title(self->model, self->model->threads[samples->thread], name, sizeof(name));
	for (size_t i = 0; i < count; i++)
		all_ns += samples[i].weight_ns;
	json_object(&self->json, NULL);
	json_text(&self->json, "type", "sampled");
	json_text(&self->json, "name", name);
	json_text(&self->json, "unit",
		  profile_kinds_are_bytes(self->samples.kinds) ? "bytes" : "nanoseconds");
	json_number(&self->json, "startValue", 0);
	json_number(&self->json, "endValue", all_ns);
	json_list(&self->json, "samples");
	for (size_t i = 0; i < count; i++)
		write_stack(self, samples[i].stack);
	json_list_end(&self->json);
	json_list(&self->json, "weights");
	for (size_t i = 0; i < count; i++)
		json_number(&self->json, NULL, samples[i].weight_ns);
	json_list_end(&self->json);
	json_object_end(&self->json);
}

static void write_profiles(struct speedscope *self)
{
	const struct thread_samples *samples = &self->samples;

	json_list(&self->json, "profiles");
	for (size_t first = 0, end; first < samples->count; first = end) {
		end = thread_samples_end(samples, first);
		write_thread(self, &samples->items[first], end - first);
	}
	json_list_end(&self->json);
}

static int speedscope_write(struct model *model, FILE *out)
{
	struct speedscope self = { .json = { .out = out },
				   .model = model,
				   .samples = { .kinds = profile_kinds(model->samples) } };
	int r = thread_samples_gather(&self.samples, model);

	if (!r) {
		json_object(&self.json, NULL);
		json_text(&self.json, "$schema",
			  "https://www.speedscope.app/file-format-schema.json");
		json_text(&self.json, "exporter", "limpet");
		write_frames(&self);
		write_profiles(&self);
		json_object_end(&self.json);
	}
	free(self.samples.items);
	return r ? r : export_state(out);
}

const struct exporter_format format_speedscope = {
	.looks_like = "{\"$schema\":\"https://www.speedscope.app/*\"exporter\":\"limpet\"*",
	.write = speedscope_write,
};
