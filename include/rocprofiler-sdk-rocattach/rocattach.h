/*
 * Attaching tools to running processes, under the names of AMD's library.  Link with
 * librocprofiler-sdk-rocattach or load it with dlopen.
 *
 * The environment of the caller, read at each attach, selects what to load:
 * ROCPROF_ATTACH_TOOL_LIBRARY is a list of tool libraries separated by colons, commas or spaces.
 * Variables whose names begin with ROCP are visible to the tools.  Errors are also printed on
 * stderr, see ROCATTACH_LOG_LEVEL in docs/front-ends.md.
 *
 * All functions may be called from any thread, for different processes at the same time.  No call
 * waits for ever.  If the caller dies, its tools are detached.
 */
#ifndef ROCPROFILER_SDK_ROCATTACH_ROCATTACH_H
#define ROCPROFILER_SDK_ROCATTACH_ROCATTACH_H

#include <rocprofiler-sdk-rocattach/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns when every tool has been attached, or with the reason why not and the process as it was.
 */
rocattach_status_t rocattach_attach(int pid);

/* Detaches the tools; they stay loaded, and the next attach finds them.  0: from all processes. */
rocattach_status_t rocattach_detach(int pid);

/* The same for the process, its descendants, and those that they start until it is detached.  A
 * descendant that cannot be attached is skipped with a warning. */
rocattach_status_t rocattach_attach_tree(int pid);
rocattach_status_t rocattach_detach_tree(int pid);

/* The version of this interface; each argument may be NULL. */
rocattach_status_t rocattach_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch);
rocattach_status_t rocattach_get_version_triplet(rocattach_version_triplet_t *version);

/* "ROCATTACH_STATUS_ERROR"; "General error".  NULL for a number that is no status. */
const char *rocattach_get_status_name(rocattach_status_t status);
const char *rocattach_get_status_string(rocattach_status_t status);

#ifdef __cplusplus
}
#endif

#endif
