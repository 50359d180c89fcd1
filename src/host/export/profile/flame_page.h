/*
 * The page of flame graphs (flamegraph.html): the same for all; what it draws is put into it as
 * JSON.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/model/samples/call_tree.h"

/* Members of the data that all pages have: nodes but the root, from 0, where those outside of all
 * others have the parent -1; and which samples can be chosen, and are at first. */
void flame_page_nodes(struct json *json, const struct call_tree *tree);
void flame_page_views(struct json *json, unsigned chosen_kinds, bool has_waits);

/* data: writes one object.  0, -ENOMEM, or why it could not be written. */
int flame_page_write(FILE *out, void (*data)(struct json *json, const void *context),
		     const void *context) MUST_CHECK;
