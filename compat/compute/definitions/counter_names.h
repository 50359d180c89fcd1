/*
 * Names of counters in the expressions of a report.
 */
#pragma once

#include "host/core/pool.h"

#include <stdbool.h>

/* Adds those that a text names, and those that its $variables stand for.  -ENOMEM. */
int counter_names_find(const char *text, struct pool *counters) MUST_CHECK;

/* "TCC_HIT[": of each channel of a cache by itself. */
bool counter_name_is_channel(const char *name);

/* What a $variable is computed from, where it is computed; NULL: it is a number of the device. */
const char *variable_formula(const char *name, size_t length);

/* Variables that are computed, in an order in which each needs only those before; NULL at the end.
 */
const char *variable_at(size_t index);
