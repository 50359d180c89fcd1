/*
 * Drops all rights of the calling process except those that an HTTP server needs: its open
 * descriptors and its memory.
 */
#pragma once

#include "shared/base/macros.h"

#include <sys/types.h>

/* Becomes that user (where it is root), drops every capability, and lets the kernel kill it at any
 * system call that the server does not make.  0 or -errno; then it must not go on. */
int confine(uid_t user, gid_t group) MUST_CHECK;
