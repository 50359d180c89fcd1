/*
 * A fleet's dump on paper: one function for each form.
 */
#pragma once

#include "host/fleet/merge/class_tree.h"

#include <stdio.h>

struct dump_view {
	const struct fleet *fleet;
	const struct fleet_dump *dump;
	const struct motions *motions;          /* NULL: it was dumped once */
	struct class_tree trees[CLASS_THREADS]; /* of the last round */
	double seconds;                         /* from the first dump to the last */
};

extern const char *const class_titles[CLASS_THREADS];

void dump_view_text(const struct dump_view *view, FILE *out);
void dump_view_json(const struct dump_view *view, FILE *out);
void dump_view_html(const struct dump_view *view, FILE *out);
void dump_view_dot(const struct dump_view *view, FILE *out);

#define CLASS_LABEL_MAX 192u
/* "7:[0-4,6-7]". */
const char *class_label(const struct class_node *node, char ret[CLASS_LABEL_MAX]);
/* "sleeping in futex", "running"; "" where its threads differ. */
#define CLASS_WAIT_MAX 96u
const char *class_wait(const struct class_tree *tree, const struct class_node *node,
		       char ret[CLASS_WAIT_MAX]);
/* "8 ranks on 4 nodes". */
const char *fleet_describe(const struct fleet *fleet, char ret[CLASS_LABEL_MAX]);
