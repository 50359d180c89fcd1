/*
 * Samples of allocations, for domains/cpu/alloc.c.
 */
#pragma once

#include "target/domains/request.h"
#include "target/hooks/hook.h"
#include "target/hooks/writer.h"

/* Entry points in alloc_thunk.S, and what these read beside the writer and alloc_filter. */
extern const unsigned char alloc_give[], alloc_take_first[], alloc_take_product[], alloc_move[];
/* On one cache line. Only `operators` changes between sessions: a thread may have been preempted in
 * alloc_thunk.S since an earlier one. */
extern struct alloc_known {
	struct code operators;     /* from the first known operator to the last */
	struct code thunks;        /* see hook_thunks() */
	struct writer_path writer; /* finds the calling thread's writer */
} alloc_known;
_Static_assert(offsetof(struct alloc_known, thunks) == KNOWN_AT_THUNKS, "alloc_thunk.S reads it");
_Static_assert(offsetof(struct alloc_known, writer.session) == KNOWN_AT_SESSION,
	       "alloc_thunk.S reads it");
_Static_assert(offsetof(struct alloc_known, writer.self) == KNOWN_AT_SELF,
	       "alloc_thunk.S reads it");

/* In the order of the alloc domain's own table. */
extern const struct traced alloc_samples[];

/* Begins a session; false if memory cannot be mapped. */
bool alloc_samples_start(const struct trace_request *request);
