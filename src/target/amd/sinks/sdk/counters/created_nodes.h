/*
 * Compiles a tool's counter expression into nodes of the catalog: a counter's name becomes its
 * nodes. Uses floating point: built like evaluate.c, and called only inside calls of tools.
 */
#pragma once

#include "shared/wire/catalog.h"

#include <stdbool.h>

#define CREATED_CHOICES_MAX 16u
#define CREATED_EVENTS_MAX  16u

/* The result. Node numbers count from its first node. Event and choice numbers beyond those of the
 * catalog are in `events` and `choices`. */
struct created_nodes {
	struct catalog_node items[CATALOG_NODES_MAX];
	struct catalog_choice choices[CREATED_CHOICES_MAX];
	struct catalog_event events[CREATED_EVENTS_MAX];
	uint32_t count, choice_count, event_count;
};

/* Under counters_enter(). False: a syntax error, a counter that the device does not have, or an
 * expression that is too large. */
bool created_nodes_make(struct created_nodes *ret, const char *text, size_t length,
			const struct catalog *catalog, const struct catalog_device *device);
