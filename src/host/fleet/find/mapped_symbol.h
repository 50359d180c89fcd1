/*
 * Symbols in the memory of a process that runs: of its executable, then of the libraries that it
 * has mapped.
 */
#pragma once

#include "host/process/memory.h"

#include "shared/base/macros.h"

/* The address of the first dynamic symbol of that name that is defined; -ENOENT, -errno. */
int mapped_symbol_find(pid_t pid, int memory, const char *name, uint64_t *ret) MUST_CHECK;
