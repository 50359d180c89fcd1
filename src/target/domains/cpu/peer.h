/*
 * The other end of a socket, in words.
 */
#pragma once

#include "shared/base/macros.h"

#define PEER_BYTES_MAX 110 /* of an address: struct sockaddr_un */

/* "127.0.0.1:80", "[0:0:0:0:0:0:0:1]:80", "unix:/run/socket"; empty for what is not known. */
void peer_describe(const void *address, uint32_t size, char *text, size_t room);
