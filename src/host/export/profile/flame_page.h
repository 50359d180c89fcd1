/*
 * The page of flame graphs (flamegraph.html): the same for all; its data are inserted as JSON.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/model/samples/call_tree.h"

/* Members of the data that all pages have: nodes without the root, from 0, where the outermost have
 * the parent -1; and the choice of samples, with the initial one. */
void flame_page_nodes(struct json *json, const struct call_tree *tree);
void flame_page_views(struct json *json, unsigned chosen_kinds, bool has_waits);

/* data: writes one object.  0, -ENOMEM, or why it could not be written. */
int flame_page_write(FILE *out, void (*data)(struct json *json, const void *context),
		     const void *context) MUST_CHECK;
