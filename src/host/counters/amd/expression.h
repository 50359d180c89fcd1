/*
 * Expressions of counters (shared/counters/expression.h) on the host: parsed from definitions, and
 * evaluated.
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

/* -EINVAL has the position of the error.  The text must live as long. */
int expression_read(struct expression *ret, const char *text, struct err *err) MUST_CHECK;

/* Is it a sum of counts, so that the values of two windows add up?  A quotient of two counts is
 * not. */
typedef bool name_judge(struct text name, const void *context); /* is it counted? */
bool expression_adds_up(const struct expression *expression, name_judge *is_counted,
			const void *context);

/* The values of a name; the caller frees them.  -ENOENT: there is no such. */
typedef int values_finder(struct text name, enum accumulation accumulation,
			  struct counter_values *ret, void *context);

/* Its value; the caller frees it.  -ENOENT: a name has no values; -EINVAL: two operands have
 * different places. */
int expression_evaluate(const struct expression *expression, values_finder *find, void *context,
			struct counter_values *ret) MUST_CHECK;

/* A single value, or the sum of several, as in AMD's files. */
double counter_values_sum(const struct counter_values *values);
