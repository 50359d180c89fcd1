/*
 * A fleet's dump on paper: one function for each form.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/fleet/merge/class_tree.h"
#include "host/fleet/merge/fleet_dump.h"

#include <stdio.h>

struct dump_view {
	const struct fleet *fleet;
	const struct fleet_dump *dump;
	const struct motions *motions;          /* NULL: it was dumped once */
	struct class_tree trees[CLASS_THREADS]; /* of the last round */
	struct halted_ranks halts;
	double seconds; /* from the first dump to the last */
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
/* " (file.c:31)", " (train.py)"; "" if unknown. */
#define CALL_PLACE_MAX 160u
const char *call_place(const struct call_paths *paths, uint32_t path, char ret[CALL_PLACE_MAX]);
/* Ranks of one class, or of one halt, that are on one node. */
struct node_part {
	const char *node;
	struct rank_set ranks, pids;
};

/* The threads that end at a call: the next part from *at, 0 at first.  False: no more. */
bool class_part_next(const struct dump_view *view, const struct class_tree *tree,
		     const struct class_node *node, size_t *at, struct node_part *ret);
/* Ranks that cannot run, for one reason: the next part from *at, 0 at first.  HALT_NONE: no
 * more. */
enum halt halt_part_next(const struct dump_view *view, size_t *at, struct node_part *ret);
void node_part_done(struct node_part *part);
/* "0-2,5 on n1 (pids 4711-4713,4720)". */
#define NODE_PART_MAX 512u
const char *node_part_label(const struct node_part *part, char ret[NODE_PART_MAX]);
/* An object; without a key an element of a list. */
void node_part_json(struct json *json, const char *key, const struct node_part *part);
