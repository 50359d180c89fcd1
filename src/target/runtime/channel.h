/*
 * Datagrams with descriptors over the socket to the host.  Runs inside the target, raw system calls
 * only.
 */
#pragma once

#include "target/runtime/descriptor.h"

#define CHANNEL_FDS_MAX 2

/* Receives one datagram and up to CHANNEL_FDS_MAX descriptors; absent ones are -1.  Bytes, 0 at the
 * end of the connection, or -errno. */
long channel_receive(int socket, void *into, size_t room, struct descriptor fds[CHANNEL_FDS_MAX]);
long channel_send(int socket, const void *bytes, size_t size);

void channel_close(struct descriptor fds[CHANNEL_FDS_MAX]);
