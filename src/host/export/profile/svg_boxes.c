/*
 * Draws boxes.
 */
#include "host/export/profile/svg_boxes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/text/foreign.h"
#include "host/core/text/print.h"
#include "host/core/text/utf8.h"
#include "host/model/samples/frame_languages.h"

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

void svg_text(FILE *out, const char *text)
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

bool svg_is_drawn(const struct svg_picture *picture, const struct tree_node *node)
{
	const struct call_tree *tree = picture->tree;
	uint64_t all = call_tree_weight(tree, 0);
	uint64_t weight = call_tree_weight(tree, call_tree_number(tree, node));

	return all && (double)weight * (WIDTH / (double)all) >= LEAST;
}

void svg_line_begin(const struct svg_picture *picture, unsigned line)
{
	fprintf(picture->out, "<text x=\"4\" y=\"%u\" ", 16 * (line + 1));
	fputs(line ? "fill=\"#666\">" : "font-size=\"14\">", picture->out);
}

void svg_line_end(const struct svg_picture *picture)
{
	fputs("</text>\n", picture->out);
}

int svg_picture_write(const struct svg_picture *picture)
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
