/*
 * The value of a counter expression, computed from the values of its events.  Runs on the host, and
 * in the target on threads of tools: no libc, no allocation.  Numbers have fractions: the file is
 * built with vector registers, and hooks never call it.
 */
#pragma once

#include "shared/wire/catalog.h"

#include <stddef.h>

/* One value, and where in the device it was counted. */
struct counter_value {
	uint64_t place;
	double value;
};

struct counter_values {
	struct counter_value *items;
	size_t count;
};

struct evaluation;

/* Gets the values of an event's node, in memory that values_make() or the caller owns. */
typedef int event_finder(struct evaluation *self, const struct catalog_node *node,
			 struct counter_values *ret);

struct evaluation {
	const struct catalog_node *nodes;
	const struct catalog_choice *choices; /* by the node's `what` */
	event_finder *find;
	const void *context;
	struct counter_value *memory; /* for results; the caller's */
	size_t used, room;
};

/* -ENOSPC: the evaluation's memory is full. */
int values_make(struct evaluation *self, size_t count, struct counter_values *ret) MUST_CHECK;

/* Evaluates the node and all below it, as deep as catalog_check() and expression_parse() allow.
 * -EINVAL: two operands were counted at different places; else the result of `find`. */
int node_evaluate(struct evaluation *self, uint32_t node, struct counter_values *ret) MUST_CHECK;
