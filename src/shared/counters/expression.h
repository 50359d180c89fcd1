/*
 * The grammar of counter expressions, as AMD's definitions have them:
 *
 *   400*reduce(SQ_WAIT_INST_LDS,sum)/reduce(SQ_WAVES,sum)
 *   reduce(TCC_HIT,max,[DIMENSION_XCC])   select(TCC_HIT,[DIMENSION_XCC=[0:3]])
 *   reduce(accumulate(SQ_LEVEL_WAVES,HIGH_RES),sum)
 *
 * A counter has several values, one for each place where it is counted.  Parsed on the host, and in
 * the target where a tool makes a counter of its own: no libc, no allocation, and a text's depth
 * and size are limited.
 */
#pragma once

#include "shared/counters/dimension.h"
#include "shared/wire/catalog.h"

#include <stdbool.h>

_Static_assert(DIMENSIONS == CATALOG_DIMENSIONS, "the same");

#define EXPRESSION_NODES_MAX CATALOG_NODES_MAX
#define EXPRESSION_DEPTH_MAX CATALOG_DEEP

enum expression_kind {
	EXPRESSION_NUMBER,
	EXPRESSION_NAME,
	EXPRESSION_ACCUMULATE, /* a name, summed up over time by the device */
	EXPRESSION_ADD,
	EXPRESSION_SUBTRACT,
	EXPRESSION_MULTIPLY,
	EXPRESSION_DIVIDE, /* by 0: 0 */
	EXPRESSION_REDUCE,
	EXPRESSION_SELECT,
};

/* How the device sums a name up; AMD's numbers. */
enum accumulation { ACCUMULATE_NONE, ACCUMULATE_LOW_RES, ACCUMULATE_HIGH_RES };

/* In the text that was parsed, not terminated. */
struct expression_name {
	const char *at;
	size_t length;
};

struct expression_node {
	enum expression_kind kind;
	unsigned dimensions; /* bits: of a reduction, over these (0: all); of a selection, by these
			      */
	double number;
	struct expression_name name;
	enum accumulation accumulation;
	enum catalog_reduction reduction;
	struct catalog_choice chosen;
	uint32_t left, right; /* indexes of nodes before it */
};

/* The last node is the whole. */
struct expression {
	struct expression_node nodes[EXPRESSION_NODES_MAX];
	uint32_t count;
};

/* Where a text is not understood, and why: a phrase. */
struct expression_fault {
	size_t at;
	const char *why;
};

/* False: see the fault.  The text must live as long as the names. */
bool expression_parse(struct expression *ret, const char *text, size_t length,
		      struct expression_fault *ret_fault) MUST_CHECK;

/* Its node in a catalog: all but its parts, the event and the choice. */
struct catalog_node expression_catalog_node(const struct expression_node *node);
