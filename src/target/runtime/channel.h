/*
 * Datagrams with descriptors over the socket to the host.  Runs inside the target, raw system calls
 * only.
 */
#pragma once

#include "target/runtime/descriptor.h"

/* Receives one datagram, and the descriptor that came with it; -1: none did.  Bytes, 0 at the end
 * of the connection, or -errno. */
long channel_receive(int socket, void *into, size_t room, struct descriptor *ret);
long channel_send(int socket, const void *bytes, size_t size);
