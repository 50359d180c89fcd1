/*
 * Datagrams with descriptors over the socket to the host. In the target: raw system calls only.
 */
#pragma once

#include "target/runtime/descriptor.h"

/* Receives a datagram and its descriptor (-1: none). Bytes, 0 at the end, or -errno. */
long channel_receive(int socket, void *into, size_t room, struct descriptor *ret);
long channel_send(int socket, const void *bytes, size_t size);
