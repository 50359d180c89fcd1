/*
 * Samples of allocations: for domains/cpu/alloc.c.
 */
#pragma once

#include "target/domains/request.h"
#include "target/hooks/hook.h"
#include "target/hooks/writer.h"

/* Entries in alloc_thunk.S, and what they read beside the thread's writer and alloc_filter. */
extern const unsigned char alloc_give[], alloc_take_first[], alloc_take_product[], alloc_move[];
/* On one cache line.  All but the operators is the same in every session: a thread may have stopped
 * in there since an earlier one. */
extern struct alloc_known {
	struct code operators;     /* from the first one that is known to the last */
	struct code thunks;        /* see hook_thunks() */
	struct writer_path writer; /* of the calling thread */
} alloc_known;
_Static_assert(offsetof(struct alloc_known, thunks) == KNOWN_AT_THUNKS, "alloc_thunk.S reads it");
_Static_assert(offsetof(struct alloc_known, writer.session) == KNOWN_AT_SESSION,
	       "alloc_thunk.S reads it");
_Static_assert(offsetof(struct alloc_known, writer.self) == KNOWN_AT_SELF,
	       "alloc_thunk.S reads it");

/* In the order of the domain's own table. */
extern const struct traced alloc_samples[];

/* Begins a session; false where there is no memory. */
bool alloc_samples_start(const struct trace_request *request);
