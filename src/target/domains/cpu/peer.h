/*
 * The address of a socket's other end as text.
 */
#pragma once

#include "shared/base/macros.h"

#define PEER_BYTES_MAX 110 /* size of struct sockaddr_un, the largest address */

/* "127.0.0.1:80", "[0:0:0:0:0:0:0:1]:80", "unix:/run/socket"; empty for an unknown family. */
void peer_describe(const void *address, uint32_t size, char *text, size_t room);
