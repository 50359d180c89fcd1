/*
 * Expressions of counters, as AMD's definitions have them:
 *
 *   400*reduce(SQ_WAIT_INST_LDS,sum)/reduce(SQ_WAVES,sum)
 *   reduce(TCC_HIT,max,[DIMENSION_XCC])   select(TCC_HIT,[DIMENSION_XCC=[0:3]])
 *   reduce(accumulate(SQ_LEVEL_WAVES,HIGH_RES),sum)
 *
 * What a name stands for has several values, one for each place where it is counted.
 */
#pragma once

#include "host/core/err.h"
#include "host/counters/amd/dimension.h"

#define EXPRESSION_NODES_MAX 1024u
#define EXPRESSION_DEPTH_MAX 64u

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

enum reduction { REDUCE_SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_AVERAGE, REDUCTIONS };

struct expression_node {
	enum expression_kind kind;
	double number;
	struct text name; /* in the text that was parsed */
	enum accumulation accumulation;
	enum reduction reduction;
	unsigned dimensions; /* bits: of a reduction, over these (0: all); of a selection, by these
			      */
	uint64_t chosen[DIMENSIONS]; /* bits: of a selection, these numbers below 64 */
	uint32_t left, right;        /* indexes of nodes before it */
};

/* The last node is the whole. */
struct expression {
	struct expression_node nodes[EXPRESSION_NODES_MAX];
	uint32_t count;
};

/* -EINVAL says where it is not understood.  The text must live as long. */
int expression_parse(struct expression *ret, const char *text, struct err *err) MUST_CHECK;

/* Is it a sum of what is counted, so that two windows of time come to what both do?  A quotient of
 * two counts is not. */
typedef bool name_judge(struct text name, const void *context); /* is it counted? */
bool expression_adds_up(const struct expression *expression, name_judge *is_counted,
			const void *context);

/* One value, and where it was counted. */
struct counter_value {
	uint64_t place;
	double value;
};

struct counter_values {
	struct counter_value *items;
	size_t count;
};

/* The values of a name; the caller frees them.  -ENOENT: there is no such. */
typedef int values_finder(struct text name, enum accumulation accumulation,
			  struct counter_values *ret, void *context);

/* What it comes to; the caller frees it.  -ENOENT: a name has no values; -EINVAL: two sides have
 * different places. */
int expression_evaluate(const struct expression *expression, values_finder *find, void *context,
			struct counter_values *ret) MUST_CHECK;

/* Values that are one number come to that; several are added up, as AMD's files do it. */
double counter_values_sum(const struct counter_values *values);
