/*
 * The runtime that every process has: libc, and functions imported from any library.
 */
#pragma once

#include "target/domains/runtime.h"

extern const struct runtime runtime_cpu;

extern const struct domain_hooks hooks_alloc, hooks_io, hooks_lock, hooks_function, hooks_nvtx;
