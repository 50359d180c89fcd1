/*
 * Names of counters in the expressions of a report.
 */
#pragma once

#include "host/core/pool.h"

#include <stdbool.h>

/* Adds the counters in a text, and those of its $variables.  -ENOMEM. */
int counter_names_find(const char *text, struct pool *counters) MUST_CHECK;

/* "TCC_HIT[": of each channel of a cache by itself. */
bool counter_name_is_channel(const char *name);

/* The formula of a $variable; NULL: it is a number of the device. */
const char *variable_formula(const char *name, size_t length);

/* Computed variables, in an order in which each needs only earlier ones; NULL at the end. */
const char *variable_at(size_t index);
