/*
 * Sets of metrics that one pass can count (--set, --list-sets).
 */
#pragma once

#include "definitions.h"

#include <stdio.h>

#define SET_METRICS_MAX 64u

/* The metrics of a set, "7.1.0"; the caller frees the texts.  -ENOENT lists the sets. */
struct metric_list {
	char *items[SET_METRICS_MAX];
	size_t count;
};
void metric_list_done(struct metric_list *list);

int set_read(const struct compute_definitions *definitions, const char *architecture,
	     const char *name, struct metric_list *ret, struct err *err) MUST_CHECK;

int sets_print(FILE *out, const struct compute_definitions *definitions, const char *architecture,
	       struct err *err) MUST_CHECK;
