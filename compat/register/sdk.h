/*
 * Finding the profiler library (librocprofiler-sdk.so.1) in or for this process, and passing
 * recorded tables on to it.
 */
#pragma once

#include "compat/register/registry.h"

/* rocprofiler_set_api_table: 0 when it accepts the tables. */
typedef int sdk_take_function(const char *name, uint64_t version, uint64_t instance, void **tables,
			      uint64_t count);

struct sdk {
	void *handle;     /* of dlopen; NULL: none, or one that is simply visible */
	bool is_borrowed; /* another user keeps it loaded: to be released */
	sdk_take_function *take;
};

/* Is there a tool from the start: one that is visible, or one in the environment? */
bool sdk_is_wanted(void);

/* The profiler for such a tool: the one that the environment names, the one that is loaded or
 * visible, the one beside this library, or one that the loader finds.  False: none. */
bool sdk_open_any(struct sdk *ret);

/* limpet's own, which may be an injected agent: the loaded one, else, with may_load, the one beside
 * this library.  False: none. */
bool sdk_open_ours(struct sdk *ret, bool may_load);

/* A function of it, or NULL. */
void *sdk_function(const struct sdk *self, const char *name);

/* After use; a library that this one has loaded stays loaded. */
void sdk_close(struct sdk *self);

/* Starts the tools of the environment, or of the program, once, where the profiler is limpet's;
 * another one finds its tools by itself.  They run on threads of the profiler, with a time limit
 * for each call. */
void sdk_run_tools(const struct sdk *self);

/* Which registrations to pass. */
enum handover {
	HANDOVER_NEW,       /* those not offered to a profiler yet */
	HANDOVER_REMAINING, /* also refused ones */
	HANDOVER_ALL,       /* also accepted ones */
};

/* Offers them to `take` one by one, in order, without a lock: it may register more.  Returns the
 * number of refusals. */
typedef int handover_function(const struct registration *registration, void *data);
unsigned handover(enum handover which, handover_function *take, void *data);

/* Offers them to the profiler. */
unsigned handover_to(enum handover which, const struct sdk *sdk);
