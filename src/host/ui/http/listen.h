/*
 * Where the server can be reached: loopback addresses, or a socket file for its user alone.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

/* Listens on 127.0.0.1 and, where there is one, on [::1], at the same port; port 0: any free one.
 * `ret[1]` is -1 where there is no IPv6. */
int listen_on_loopback(uint16_t port, int ret[2], uint16_t *ret_port, struct err *err) MUST_CHECK;

/* A socket file that only this user can use.  One without a listener is replaced; any other file of
 * that name is kept. */
int listen_on_socket(const char *path, uid_t user, gid_t group, int *ret,
		     struct err *err) MUST_CHECK;
/* Removes it again; nothing else that has its name. */
void listen_remove_socket(const char *path, uid_t user, gid_t group);
