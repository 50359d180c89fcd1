/*
 * Connects limpet's own tools to libc, to hook imports and to watch for modules.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/hooks/got/got.h"
#include "target/tool/watch.h"

/* False if another program than limpet's agent has loaded this library: nothing below works. */
bool backend_use_agent(void);

/* Finds a libc function by name. */
void *backend_symbol(const char *name);

/* Opens the backend for imports; excludes limpet's libraries. -ENOSYS, -ENOMEM. */
int backend_open(void) MUST_CHECK;

/* Starts the watching thread, see watch.h. */
int backend_watch(const struct watch_calls *calls) MUST_CHECK;
