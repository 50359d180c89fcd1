/*
 * limpet's tracer without limpet: the process is its own host.  For machines on which nothing can
 * be attached (an emulator), and for measuring.
 */
#pragma once

#include "shared/wire/ring.h"

/* Loads the tracer from `path` and starts it; request as in docs/tracing.md.  0 or -errno. */
int selftrace_start(const char *path, const char *request);

/* Again or anew, with another request, after selftrace_stop(). */
void selftrace_stop(void);

/* What was found; NULL before the first start.  Stays after the stop, until the next start. */
struct rings *selftrace_rings(void);

/* Reads all records; how many calls there were of functions whose name begins so. */
uint64_t selftrace_drain(const char *prefix);
