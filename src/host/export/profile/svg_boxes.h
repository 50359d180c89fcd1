/*
 * Flame graphs as SVG pictures: the boxes of a call tree, outermost functions below.  Boxes have
 * titles; there are no scripts.
 */
#pragma once

#include "host/model/samples/call_tree.h"

#include <stdio.h>

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

/* 0 or -ENOMEM. */
int svg_picture_write(const struct svg_picture *picture) MUST_CHECK;

/* False: the box is too narrow. */
bool svg_is_drawn(const struct svg_picture *picture, const struct tree_node *node);

/* A line of the head, from 0. */
void svg_line_begin(const struct svg_picture *picture, unsigned line);
void svg_line_end(const struct svg_picture *picture);

/* Any bytes as text of an SVG. */
void svg_text(FILE *out, const char *text);
