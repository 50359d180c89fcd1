/*
 * Takes a socket out of a target, and nothing else that may lie under its number.  Host only.
 */
#pragma once

#include "host/attach/target.h"

/* pidfd: of the target, or of a thread of it.  A descriptor, or -errno: -ENOTSOCK when it is
 * anything but a socket of this machine. */
int socket_take(const struct target *target, int pidfd, int number) MUST_CHECK;
