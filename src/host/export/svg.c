/*
 * svg: a flame graph as a picture, outermost functions below.  Titles tell what a box is; nothing
 * in it runs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/utf8.h"
#include "host/export/exporter.h"
#include "host/model/call_tree.h"
#include "host/model/table.h"

#define WIDTH        1200.0
#define ROW          17.0
#define HEAD         46.0
#define LEAST        0.3 /* pixels */
#define LETTER       6.6
#define NAME_LETTERS 512u

struct svg {
	FILE *out;
	const struct call_tree *tree;
	double height;
	uint32_t depth; /* of the deepest box */
};

static void write_text(FILE *out, const char *text)
{
	static const char *const escapes[128] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"
	};

	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		size_t length = utf8_length(at);

		if (!length || *at < 0x20 || *at == 0x7f)
			fputc('?', out);
		else if (*at < 128 && escapes[*at])
			fputs(escapes[*at], out);
		else
			fwrite(at, 1, length, out);
		at += length ? length : 1;
	}
}

/* Modules have hues of their own; functions of one differ a little. */
static void write_colour(const struct svg *self, const struct tree_node *node, const char *name)
{
	const struct sample_function *function = call_tree_function(self->tree, node);
	const struct samples *samples = self->tree->model->samples;
	const char *module = function ? samples->codes[function->code].name : "";
	uint64_t hue = 20 + table_hash(module, strlen(module)) % 300;

	if (!function)
		fputs("hsl(0,0%,78%)", self->out);
	else
		fprintf(self->out, "hsl(%" PRIu64 ",62%%,%" PRIu64 "%%)",
			samples->codes[function->code].kind == CODE_KERNEL ? 8 : hue,
			62 + table_hash(name, strlen(name)) % 14);
}

/* Cut to so many letters, between letters. */
static void cut(char *name, size_t letters)
{
	size_t at = 0;

	for (; name[at] && letters > 0; letters--)
		at += MAX(utf8_length((const unsigned char *)name + at), (size_t)1);
	name[at] = '\0';
}

static void write_box(const struct svg *self, const struct tree_node *node, double x, double width)
{
	double y = self->height - ROW * (node->depth + 1);
	uint64_t all = self->tree->nodes[0].total_ns;
	char name[NAME_LETTERS];

	call_tree_name(self->tree, node, name, sizeof(name));
	fprintf(self->out, "<g><title>");
	write_text(self->out, name);
	fprintf(self->out, ": %.3f ms, %" PRIu64 " samples, %.2f %%</title>",
		(double)node->total_ns / 1e6, node->total_count,
		all ? 100 * (double)node->total_ns / (double)all : 0);
	fprintf(self->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"", x,
		y, MAX(width - 0.5, LEAST), ROW - 1);
	write_colour(self, node, name);
	fprintf(self->out, "\"/>");
	if (width > 4 * LETTER) {
		cut(name, (size_t)((width - 6) / LETTER));
		fprintf(self->out, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y + 12);
		write_text(self->out, name);
		fprintf(self->out, "</text>");
	}
	fprintf(self->out, "</g>\n");
}

/* Calls the visitor for each box that can be seen, outer ones first. */
static int each_box(const struct call_tree *tree,
		    void (*visit)(struct svg *self, const struct tree_node *node, double x,
				  double width),
		    struct svg *self)
{
	CLEANUP(free) double *ends = calloc(tree->count, sizeof(*ends));
	double scale = tree->nodes[0].total_ns ? WIDTH / (double)tree->nodes[0].total_ns : 0;
	uint32_t at = 0;

	if (!ends)
		return -ENOMEM;
	/* The end of what has been drawn inside each node. */
	while (at != TREE_NONE) {
		const struct tree_node *node = &tree->nodes[at];
		double width = (double)node->total_ns * scale;
		double x = node->parent == TREE_NONE ? 0 : ends[node->parent];

		ends[at] = x;
		if (node->parent != TREE_NONE)
			ends[node->parent] += width;
		if (width >= LEAST)
			visit(self, node, x, width);
		if (width >= LEAST && node->first != TREE_NONE) {
			at = node->first;
			continue;
		}
		while (at != TREE_NONE && tree->nodes[at].next == TREE_NONE)
			at = tree->nodes[at].parent;
		at = at == TREE_NONE ? TREE_NONE : tree->nodes[at].next;
	}
	return 0;
}

static void measure(struct svg *self, const struct tree_node *node, double x, double width)
{
	(void)x;
	(void)width;
	self->depth = MAX(self->depth, node->depth);
}

static void draw(struct svg *self, const struct tree_node *node, double x, double width)
{
	write_box(self, node, x, width);
}

static void write_head(const struct svg *self)
{
	const struct model *model = self->tree->model;
	const struct samples *samples = model->samples;
	unsigned kinds = profile_kinds(samples);

	fprintf(self->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" font-family=\"monospace\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		"<text x=\"4\" y=\"16\" font-size=\"14\">",
		WIDTH, self->height, WIDTH, self->height);
	if (model->process_count)
		write_text(self->out, model->processes[0]->name);
	fprintf(self->out,
		": %s</text>\n<text x=\"4\" y=\"32\" fill=\"#666\">%" PRIu64
		" samples at %u Hz by ",
		profile_kinds_name(kinds) ? profile_kinds_name(kinds) : "samples", samples->count,
		samples->hz);
	write_text(self->out, samples->sampler);
	fprintf(self->out, "; %" PRIu64 " lost; %.2f %% of the stacks complete</text>\n",
		samples->lost, (double)samples_complete(samples) / 100);
}

static int svg_write(struct model *model, FILE *out)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(call_tree_done) struct call_tree tree = { 0 };
	struct svg self = { .out = out, .tree = &tree };

	if (sample_profile_gather(
		    &profile, model,
		    &(struct profile_filter){ .kinds = profile_kinds(model->samples) }) ||
	    call_tree_build(&tree, model, &profile, &(struct call_tree_options){ 0 }) ||
	    each_box(&tree, measure, &self))
		return -ENOMEM;
	self.height = HEAD + ROW * (self.depth + 1);
	write_head(&self);
	if (each_box(&tree, draw, &self))
		return -ENOMEM;
	fputs("</svg>\n", out);
	return export_state(out);
}

static const char *const extensions[] = { ".svg", NULL };

const struct exporter exporter_svg = {
	.name = "svg",
	.summary = "a flame graph as a picture",
	.extensions = extensions,
	.write = svg_write,
	.is_of_samples = true,
};
