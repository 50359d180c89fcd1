/*
 * Closes a library so that its __cxa_finalize comes at a safe moment; see fork_gate.h.
 */
#pragma once

#include "shared/wire/boot.h"

/* dlclose; what it returned. */
int tool_library_close(const struct boot_libc *libc, void *handle);
