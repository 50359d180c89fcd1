/*
 * Takes a socket out of a target, and no other kind of file under that number.
 */
#pragma once

#include "host/attach/facts/target.h"

/* pidfd: of the target, or of a thread of it.  A descriptor, or -errno: -ENOTSOCK for anything but
 * a SOCK_SEQPACKET of this machine that the target has made, with this inode. */
int socket_take(const struct target *target, int pidfd, int number, uint64_t inode) MUST_CHECK;
