/*
 * Takes a socket out of a target, and no other kind of file under that number.
 */
#pragma once

#include "host/attach/target.h"

/* pidfd: of the target, or of a thread of it.  A descriptor, or -errno: -ENOTSOCK for anything but
 * a socket of this machine. */
int socket_take(const struct target *target, int pidfd, int number) MUST_CHECK;
