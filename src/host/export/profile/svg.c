/*
 * svg: a flame graph as a picture.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/export/exporter.h"
#include "host/export/profile/svg_boxes.h"
#include "host/model/calls/call_view.h"
#include "host/model/samples/frame_languages.h"
#include "host/model/statistics.h"

static void svg_name(const struct svg_picture *self, const struct tree_node *node, char *ret,
		     size_t room)
{
	call_tree_name(self->tree, node, ret, room);
}

static struct svg_colour node_colour(const struct svg_picture *self, const struct tree_node *node)
{
	const struct sample_function *function = call_tree_function(self->tree, node);
	struct frame_fill fill;

	if (!function)
		return (struct svg_colour){ .light = 88 };
	fill = frame_fill_light(call_tree_language(self->tree, node), frame_shade(function->name));
	return (struct svg_colour){ fill.hue, fill.saturation, fill.lightness };
}

static void svg_tell(const struct svg_picture *self, const struct tree_node *node)
{
	const struct tree_metrics *metrics =
		call_tree_metrics(self->tree, call_tree_number(self->tree, node), 0);
	uint64_t all = self->tree->metrics[0].total_ns;
	unsigned kinds = profile_kinds(self->tree->model->samples);

	if (profile_kinds_are_bytes(kinds))
		print(self->out, ": %" PRIu64 " bytes, %" PRIu64 " block%s", metrics->total_ns,
		      metrics->total_count, plural(metrics->total_count));
	else
		print(self->out, ": %.3f ms, %" PRIu64 " %s%s", (double)metrics->total_ns / 1e6,
		      metrics->total_count, profile_kinds_are_calls(kinds) ? "call" : "sample",
		      plural(metrics->total_count));
	print(self->out, ", %.2f %%", share_percent(metrics->total_ns, all));
}

static void svg_text_samples(const struct svg_picture *self)
{
	const struct samples *samples = self->tree->model->samples;

	print(self->out, "%" PRIu64 " sample%s at %u Hz by ", samples->count,
	      plural(samples->count), samples->hz);
	svg_text(self->out, samples->sampler);
	fprintf(self->out, "; %" PRIu64 " lost; %.2f %% of the stacks complete", samples->lost,
		(double)samples_complete(samples) / 100);
}

static void svg_text_calls(const struct svg_picture *self)
{
	char text[256];

	call_view_describe(self->tree->model, text, sizeof(text));
	svg_text(self->out, text);
}

/* The languages of the boxes that are drawn. */
static unsigned languages_drawn(const struct svg_picture *self)
{
	unsigned present = 0;

	for (size_t i = 0; i < self->tree->count; i++)
		if (call_tree_function(self->tree, &self->tree->nodes[i]) &&
		    svg_is_drawn(self, &self->tree->nodes[i]))
			present |= 1u << call_tree_language(self->tree, &self->tree->nodes[i]);
	return present;
}

static void svg_legend(const struct svg_picture *self)
{
	unsigned present = languages_drawn(self), x = 4;

	for (unsigned i = 0; i < FRAME_LANGUAGES; i++) {
		struct frame_fill fill = frame_fill_light(i, 0);

		if (!(present & 1u << i))
			continue;
		fprintf(self->out,
			"<rect x=\"%u\" y=\"39\" width=\"10\" height=\"10\" fill=\"hsl(%u,%u%%,%u%%)\"/>",
			x, fill.hue, fill.saturation, fill.lightness);
		fprintf(self->out, "<text x=\"%u\" y=\"48\">", x + 14);
		svg_text(self->out, frame_styles[i].title);
		svg_line_end(self);
		x += 34 + 7 * (unsigned)strlen(frame_styles[i].title);
	}
}

static void svg_head(const struct svg_picture *self)
{
	const struct model *model = self->tree->model;
	const struct samples *samples = model->samples;
	const char *view = profile_kinds_name(profile_kinds(samples));
	char title[128];

	svg_line_begin(self, 0);
	if (samples_are_system_wide(samples))
		svg_text(self->out, recording_title(model, title, sizeof(title)));
	else if (model->process_count)
		svg_text(self->out, model->processes[0]->name);
	print(self->out, ": %s", view ? view : "samples");
	svg_line_end(self);
	svg_line_begin(self, 1);
	if (profile_kinds_are_calls(samples->view))
		svg_text_calls(self);
	else
		svg_text_samples(self);
	svg_line_end(self);
	svg_legend(self);
}

static int svg_write(struct model *model, FILE *out)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(call_tree_done) struct call_tree tree = { 0 };
	const struct svg_picture picture = { .out = out,
					     .tree = &tree,
					     .name = svg_name,
					     .colour = node_colour,
					     .tell = svg_tell,
					     .head = svg_head,
					     .head_lines = 3 };

	const bool is_by_process = samples_are_system_wide(model->samples);

	if (sample_profile_gather(&profile, model,
				  &(struct profile_filter){ .kinds = profile_kinds(model->samples),
							    .is_by_thread = is_by_process }) ||
	    call_tree_build(&tree, model, &profile,
			    &(struct call_tree_options){ .is_by_process = is_by_process }) ||
	    svg_picture_write(&picture))
		return -ENOMEM;
	return export_state(out);
}

const struct exporter_format format_svg = {
	.looks_like =
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\" height=\"*monospace*",
	.write = svg_write,
};
