/*
 * What limpet's own tools need of libc to hook imports, and to watch for modules.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/hooks/got/got.h"
#include "target/tool/watch.h"

/* Loaded by somebody else than limpet's agent: false, and nothing below works. */
bool backend_use_agent(void);

/* A function of libc's by name. */
void *backend_symbol(const char *name);

/* Opens the backend for imports; our own libraries are excluded.  -ENOSYS, -ENOMEM. */
int backend_open(void) MUST_CHECK;

/* Starts the watching thread, see watch.h. */
int backend_watch(const struct watch_calls *calls) MUST_CHECK;
