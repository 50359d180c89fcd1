/*
 * Two calls that attach tools to one running process: librocprofv3-attach.so, also named
 * librocprofiler-attach.so.  Made to be found with dlopen and dlsym; programs written for AMD's
 * library of that name run with this one.
 *
 * The environment of the caller, read at each attach, selects what to load:
 * ROCPROF_ATTACH_TOOL_LIBRARY is a list of tool libraries separated by colons, commas or spaces.
 * See docs/front-ends.md for the other variables.
 */
#ifndef LIMPET_ATTACH_H
#define LIMPET_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Attaches to a process, one at a time.  Returns when every tool has been attached, or with the
 * reason of a failure; never waits for ever.  0, or a rocattach_status_t.  A caller that declares
 * it void can call limpet_attach_status().
 */
int attach(uint32_t pid);

/* Detaches; the tools stay loaded, and the next attach finds them.  0, or a rocattach_status_t. */
int detach(void);

/* The result of the last attach() or detach(): its status, and a message with what failed, why, and
 * the fix.  The message, which may be NULL, is cut at room bytes and always ends with a 0. */
int limpet_attach_status(char *message, size_t room);

#ifdef __cplusplus
}
#endif

#endif
