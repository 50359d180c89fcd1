/*
 * From the metrics that the user chose to the counters they are made of, and to passes.
 */
#pragma once

#include "definitions/counter_names.h"
#include "definitions/definitions.h"

#define PASSES_MAX   128u
#define PASS_MAX     64u
#define COUNTERS_MAX 512u

/* Called for everything left out, with AMD's text. */
typedef void skip_teller(void *context, const char *text);

struct counter_selection {
	struct pool counters;
	skip_teller *tell;
	void *context;
};

/* Adds the counters of these metrics ("5.1.1"); of all where none is named.  -EINVAL: one is no
 * number of a metric. */
int selection_add(struct counter_selection *selection, const struct panels *panels,
		  const char *const *ids, size_t count, struct err *err) MUST_CHECK;
void selection_done(struct counter_selection *selection);

/* The counters of one run of the program. */
struct counter_pass {
	const char *names[PASS_MAX];
	size_t count;
};

struct counter_passes {
	struct counter_pass items[PASSES_MAX];
	size_t count;
};

/* First fit by block; each LEVEL counter begins a pass of its own, with its sum over time.
 * Unsupported counters are reported and left out. */
int passes_pack(struct counter_passes *ret, struct counter_selection *selection,
		const char *architecture, struct err *err) MUST_CHECK;
