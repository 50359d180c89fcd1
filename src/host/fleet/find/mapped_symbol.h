/*
 * Symbols in the memory of a running process: of its executable, then of its libraries.
 */
#pragma once

#include "host/process/memory.h"

#include "shared/base/macros.h"

/* The address of the first defined dynamic symbol of that name; -ENOENT, -errno. */
int mapped_symbol_find(pid_t pid, int memory, const char *name, uint64_t *ret) MUST_CHECK;
