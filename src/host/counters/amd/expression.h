/*
 * Expressions of counters (shared/counters/expression.h) on the host: read from definitions, and
 * what they come to.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/text/text.h"
#include "shared/counters/evaluate.h"
#include "shared/counters/expression.h"

static inline struct text expression_name_text(const struct expression_node *node)
{
	return (struct text){ node->name.at, node->name.at + node->name.length };
}

/* -EINVAL says where it is not understood.  The text must live as long. */
int expression_read(struct expression *ret, const char *text, struct err *err) MUST_CHECK;

/* Is it a sum of what is counted, so that two windows of time come to what both do?  A quotient of
 * two counts is not. */
typedef bool name_judge(struct text name, const void *context); /* is it counted? */
bool expression_adds_up(const struct expression *expression, name_judge *is_counted,
			const void *context);

/* The values of a name; the caller frees them.  -ENOENT: there is no such. */
typedef int values_finder(struct text name, enum accumulation accumulation,
			  struct counter_values *ret, void *context);

/* What it comes to; the caller frees it.  -ENOENT: a name has no values; -EINVAL: two sides have
 * different places. */
int expression_evaluate(const struct expression *expression, values_finder *find, void *context,
			struct counter_values *ret) MUST_CHECK;

/* Values that are one number come to that; several are added up, as AMD's files do it. */
double counter_values_sum(const struct counter_values *values);
