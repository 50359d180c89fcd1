/*
 * Flame graphs as SVG pictures: the boxes of a call tree, outermost functions first.  Boxes have
 * titles; there are no scripts.
 *
 * svg: the samples of one recording.  Of two recordings: red is more in B, blue is less, grey is no
 * more than chance; boxes are as wide as the mean of both shares.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/text/foreign.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/core/text/utf8.h"
#include "host/export/exporter.h"
#include "host/export/profile/diff.h"
#include "host/model/calls/call_view.h"
#include "host/model/samples/call_tree.h"
#include "host/model/samples/frame_languages.h"
#include "host/model/statistics.h"

struct svg_colour {
	unsigned hue, saturation, light; /* the last two in percent */
};

struct svg_picture {
	FILE *out;
	const struct call_tree *tree; /* widths are its weights */
	const void *context;
	void (*name)(const struct svg_picture *self, const struct tree_node *node, char *ret,
		     size_t room);
	struct svg_colour (*colour)(const struct svg_picture *self, const struct tree_node *node);
	/* Writes the title's text after the name. */
	void (*tell)(const struct svg_picture *self, const struct tree_node *node);
	/* The text above: svg_line_begin() and svg_line_end() for each line. */
	void (*head)(const struct svg_picture *self);
	unsigned head_lines;
};

#define WIDTH        1200.0
#define ROW          17.0
#define LEAST        0.3 /* pixels */
#define LETTER       6.6
#define NAME_LETTERS 512u

struct drawing {
	const struct svg_picture *picture;
	double top, height; /* of the boxes; of all */
	uint32_t depth;     /* of the deepest box */
};

/* Any bytes as text of an SVG. */
static void svg_text(FILE *out, const char *text)
{
	foreign_write(out, FOREIGN_XML, text);
}

/* Cut to so many letters, between letters. */
static void svg_boxes_cut(char *name, size_t letters)
{
	size_t at = 0;

	for (; name[at] && letters > 0; letters--)
		at += MAX(utf8_length((const unsigned char *)name + at), (size_t)1);
	name[at] = '\0';
}

static void svg_boxes_draw(struct drawing *self, const struct tree_node *node, double x,
			   double width)
{
	const struct svg_picture *picture = self->picture;
	double y = self->top + ROW * node->depth; /* below its caller, as in the page */
	struct svg_colour colour = picture->colour(picture, node);
	char name[NAME_LETTERS];

	picture->name(picture, node, name, sizeof(name));
	fprintf(picture->out, "<g><title>");
	svg_text(picture->out, name);
	picture->tell(picture, node);
	fprintf(picture->out,
		"</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
		"fill=\"hsl(%u,%u%%,%u%%)\"/>",
		x, y, MAX(width - 0.5, LEAST), ROW - 1, colour.hue, colour.saturation,
		colour.light);
	if (width > 4 * LETTER) {
		svg_boxes_cut(name, (size_t)((width - 6) / LETTER));
		fprintf(picture->out, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y + 12);
		svg_text(picture->out, name);
		fprintf(picture->out, "</text>");
	}
	fprintf(picture->out, "</g>\n");
}

/* Calls the visitor for each box that can be seen, outer ones first. */
static int each_box(struct drawing *self,
		    void (*visit)(struct drawing *self, const struct tree_node *node, double x,
				  double width))
{
	const struct call_tree *tree = self->picture->tree;
	CLEANUP(free) double *ends = calloc(tree->count, sizeof(*ends));
	uint64_t all = call_tree_weight(tree, 0);
	double scale = all ? WIDTH / (double)all : 0;
	uint32_t at = 0;

	if (!ends)
		return -ENOMEM;
	/* The end of the boxes drawn so far inside each node. */
	while (at != TREE_NONE) {
		const struct tree_node *node = &tree->nodes[at];
		double width = (double)call_tree_weight(tree, at) * scale;
		double x = node->parent == TREE_NONE ? 0 : ends[node->parent];

		ends[at] = x;
		if (node->parent != TREE_NONE)
			ends[node->parent] += width;
		if (width >= LEAST)
			visit(self, node, x, width);
		at = width >= LEAST && node->first != TREE_NONE ? node->first
								: call_tree_after(tree, at);
	}
	return 0;
}

static void svg_boxes_measure(struct drawing *self, const struct tree_node *node, double x,
			      double width)
{
	(void)x;
	(void)width;
	self->depth = MAX(self->depth, node->depth);
}

/* False: the box is too narrow. */
static bool svg_is_drawn(const struct svg_picture *picture, const struct tree_node *node)
{
	const struct call_tree *tree = picture->tree;
	uint64_t all = call_tree_weight(tree, 0);
	uint64_t weight = call_tree_weight(tree, call_tree_number(tree, node));

	return all && (double)weight * (WIDTH / (double)all) >= LEAST;
}

/* A line of the head, from 0. */
static void svg_line_begin(const struct svg_picture *picture, unsigned line)
{
	fprintf(picture->out, "<text x=\"4\" y=\"%u\" ", 16 * (line + 1));
	fputs(line ? "fill=\"#666\">" : "font-size=\"14\">", picture->out);
}

static void svg_line_end(const struct svg_picture *picture)
{
	fputs("</text>\n", picture->out);
}

/* 0 or -ENOMEM. */
static int svg_picture_write(const struct svg_picture *picture)
{
	struct drawing self = { .picture = picture };

	if (each_box(&self, svg_boxes_measure))
		return -ENOMEM;
	self.top = 16 * picture->head_lines + 14;
	self.height = self.top + ROW * (self.depth + 1);
	fprintf(picture->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" font-family=\"monospace\" font-size=\"11\" ",
		WIDTH, self.height, WIDTH, self.height);
	print(picture->out, "fill=\"%s\">\n", FRAME_INK_LIGHT);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", picture->out);
	picture->head(picture);
	if (each_box(&self, svg_boxes_draw))
		return -ENOMEM;
	fputs("</svg>\n", picture->out);
	return 0;
}

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

#define HUE_MORE 5u
#define HUE_LESS 215u

struct diff_svg {
	const struct comparison *comparison;
	struct call_tree tree;
};

static struct share_change change_of(const struct svg_picture *self, const struct tree_node *node)
{
	const struct diff_svg *svg = self->context;
	uint32_t number = call_tree_number(&svg->tree, node);

	return comparison_change(svg->comparison,
				 call_tree_metrics(&svg->tree, number, SIDE_A)->total_ns,
				 call_tree_metrics(&svg->tree, number, SIDE_B)->total_ns);
}

static void diff_svg_name(const struct svg_picture *self, const struct tree_node *node, char *ret,
			  size_t room)
{
	const struct diff_svg *svg = self->context;

	snprintf(ret, room, "%s", diff_tree_name(svg->comparison, node));
}

/* As in the page: the stronger, the larger the factor. */
static struct svg_colour diff_svg_colour(const struct svg_picture *self,
					 const struct tree_node *node)
{
	struct share_change change = change_of(self, node);
	double sum = change.shares[SIDE_A] + change.shares[SIDE_B];
	double strength = sum > 0 ? sqrt(fabs(change.points) / sum) : 0;

	if (change.is_noise)
		return (struct svg_colour){ .light = 86 };
	return (struct svg_colour){ .hue = change.points > 0 ? HUE_MORE : HUE_LESS,
				    .saturation = 85,
				    .light = (unsigned)(90 - 32 * strength) };
}

static void diff_svg_tell(const struct svg_picture *self, const struct tree_node *node)
{
	struct share_change change = change_of(self, node);

	print(self->out, ": A %.2f %%, B %.2f %%, %+.2f points, +- %.2f%s",
	      share_shown(change.shares[SIDE_A]), share_shown(change.shares[SIDE_B]),
	      share_shown(change.points), change.error,
	      change.is_noise ? " (no more than chance)" : "");
}

static void diff_svg_head(const struct svg_picture *self)
{
	const struct diff_svg *svg = self->context;
	char words[512];

	svg_line_begin(self, 0);
	print(self->out,
	      "what changed from A to B: %s (red: more in B, blue: less, grey: no "
	      "more than chance)",
	      profile_kinds_name(svg->comparison->kinds));
	svg_line_end(self);
	for (unsigned side = 0; side < SIDES; side++) {
		svg_line_begin(self, side + 1);
		comparison_title(svg->comparison, side, words, sizeof(words));
		svg_text(self->out, words);
		comparison_describe(svg->comparison, side, words, sizeof(words));
		fputs(": ", self->out);
		svg_text(self->out, words);
		svg_line_end(self);
	}
}

int diff_svg_write(const struct comparison *comparison, FILE *out)
{
	struct diff_svg self = { .comparison = comparison };
	const struct profile *const profiles[SIDES] = { &comparison->sides[SIDE_A].profile,
							&comparison->sides[SIDE_B].profile };
	const struct svg_picture picture = { .out = out,
					     .tree = &self.tree,
					     .context = &self,
					     .name = diff_svg_name,
					     .colour = diff_svg_colour,
					     .tell = diff_svg_tell,
					     .head = diff_svg_head,
					     .head_lines = 3 };
	int r = diff_tree_build(&self.tree, comparison, profiles, /* of_entry */ NULL);

	if (!r)
		r = svg_picture_write(&picture);
	call_tree_done(&self.tree);
	return r ? r : export_state(out);
}
