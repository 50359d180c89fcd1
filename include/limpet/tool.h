/*
 * The interface of a tool library.  limpet loads it into a live process and calls it there; the
 * binary interface is that of AMD's rocprofiler-sdk tools, so a tool built for either runs under
 * both.
 *
 *   first attach    rocprofiler_configure, rocprofiler_configure_attach of every tool, in order
 *                   initialize of every tool
 *                   tool_attach of every tool
 *   detach          tool_detach
 *   attach again    tool_attach
 *   end of program  finalize, once, attached or not (with --unload: before the library goes)
 *
 * Calls are made one at a time, on a thread of limpet's with all signals blocked; finalize at the
 * end of the program is called on the thread that called exit().  A call that does not return
 * within the time limit (--tool-timeout) counts as failed.  A tool runs inside another program: it
 * must not exit, abort, or print there.
 */
#ifndef LIMPET_TOOL_H
#define LIMPET_TOOL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Identifies the tool.  It may set the name and nothing else. */
struct limpet_client {
	size_t size;
	const char *name;
	const uint32_t handle;
};

/* Lets a tool request its own finalize before the end of the program. */
typedef void limpet_finalize_function(struct limpet_client client);
/* Always NULL today, as in AMD's library. */
typedef void limpet_detach_function(struct limpet_client client);

/* The result of rocprofiler_configure; copied.  initialize returns 0, or the tool has failed. */
struct limpet_tool {
	size_t size;
	int (*initialize)(limpet_finalize_function *finalize, void *tool_data);
	void (*finalize)(void *tool_data);
	void *tool_data;
};

/* A context, made with rocprofiler_create_context() in configure or initialize. */
struct limpet_context {
	uint64_t handle;
};

/* The result of rocprofiler_configure_attach; copied.  tool_attach gets all contexts of the tool
 * and returns 0, or the tool has failed. */
struct limpet_tool_attach {
	size_t size;
	int (*tool_attach)(limpet_detach_function *detach, struct limpet_context *contexts,
			   uint64_t context_count, void *tool_data);
	void (*tool_detach)(void *tool_data);
	void *tool_data;
};

/* The result of the older rocprofiler_configure_experimental instead of both. */
struct limpet_tool_experimental {
	size_t size;
	int (*initialize)(limpet_finalize_function *finalize, void *tool_data);
	void (*finalize)(void *tool_data);
	void *tool_data;
	void (*tool_reattach)(void *tool_data);
	void (*tool_detach)(void *tool_data);
};

#define LIMPET_TOOL_EXPORT __attribute__((visibility("default")))

/*
 * Exported by the tool.  version is 10000 * major + 100 * minor + patch of the interface,
 * runtime_version the same as text, priority the number of tools before this one.  NULL: the tool
 * does not take part.
 */
LIMPET_TOOL_EXPORT struct limpet_tool *rocprofiler_configure(uint32_t version,
							     const char *runtime_version,
							     uint32_t priority,
							     struct limpet_client *client);

/* Optional.  Without it the tool is initialized at the attach and finalized at the end. */
LIMPET_TOOL_EXPORT struct limpet_tool_attach *
rocprofiler_configure_attach(uint32_t version, const char *runtime_version, uint32_t priority,
			     struct limpet_client *client);

LIMPET_TOOL_EXPORT struct limpet_tool_experimental *
rocprofiler_configure_experimental(uint32_t version, const char *runtime_version, uint32_t priority,
				   struct limpet_client *client);

/* Contexts.  Link with librocprofiler-sdk.so.1 for these; 0 is success. */
int rocprofiler_create_context(struct limpet_context *context); /* handle must be 0 before */
int rocprofiler_start_context(struct limpet_context context);
int rocprofiler_stop_context(struct limpet_context context);
int rocprofiler_context_is_active(struct limpet_context context, int *ret);
int rocprofiler_context_is_valid(struct limpet_context context, int *ret);

#ifdef __cplusplus
}
#endif

#endif
