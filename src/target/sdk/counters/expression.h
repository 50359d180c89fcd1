/*
 * An expression of counters, as AMD's definitions have it (docs/counters.md), in nodes of the
 * catalog: what a name stands for is put in its place.  Numbers have fractions: built like
 * evaluate.c, and called where a tool calls us.
 */
#pragma once

#include "shared/wire/catalog.h"

#include <stdbool.h>

#define EXPRESSION_CHOICES_MAX 16u
#define EXPRESSION_EVENTS_MAX  16u

/* What it comes to.  Numbers of nodes count from its first; events and choices from `event_count`
 * and `choice_count` of the catalog on are those that it adds. */
struct expression {
	struct catalog_node nodes[CATALOG_NODES_MAX];
	struct catalog_choice choices[EXPRESSION_CHOICES_MAX];
	struct catalog_event events[EXPRESSION_EVENTS_MAX];
	uint32_t count, choice_count, event_count;
};

/* False: it is not understood, names a counter that the device has not, or is too large. */
bool expression_read(struct expression *ret, const char *text, size_t length,
		     const struct catalog *catalog, const struct catalog_device *device);
