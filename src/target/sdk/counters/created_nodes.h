/*
 * An expression that a tool has given, in nodes of the catalog: what a name stands for is put in
 * its place.  Numbers have fractions: built like evaluate.c, and called where a tool calls us.
 */
#pragma once

#include "shared/wire/catalog.h"

#include <stdbool.h>

#define CREATED_CHOICES_MAX 16u
#define CREATED_EVENTS_MAX  16u

/* What it comes to.  Numbers of nodes count from its first; events and choices from the number of
 * the catalog's own on are those that it adds. */
struct created_nodes {
	struct catalog_node items[CATALOG_NODES_MAX];
	struct catalog_choice choices[CREATED_CHOICES_MAX];
	struct catalog_event events[CREATED_EVENTS_MAX];
	uint32_t count, choice_count, event_count;
};

/* In one's turn (store.h).  False: it is not understood, names a counter that the device has not,
 * or is too large. */
bool created_nodes_make(struct created_nodes *ret, const char *text, size_t length,
			const struct catalog *catalog, const struct catalog_device *device);
