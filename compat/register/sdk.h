/*
 * Finding the profiler library (librocprofiler-sdk.so.1) in or for this process.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
