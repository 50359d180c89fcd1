/*
 * The sockets of a target's network namespace as text, from /proc/PID/net.
 */
#pragma once

#include "shared/base/macros.h"

#include <sys/types.h>

struct socket_name {
	uint64_t inode;
	char text[128]; /* "127.0.0.1:80", "listens on 0.0.0.0:80", "[0:...:1]:80", "unix:/path" */
};

struct sockets {
	struct socket_name *items;
	size_t count, room;
};

/* Skips what cannot be read. */
void sockets_read(pid_t pid, struct sockets *ret);
/* NULL: it has no name. */
const char *sockets_find(const struct sockets *sockets, uint64_t inode);
void sockets_done(struct sockets *sockets);

/* The sockets of the last requested process's network.  Starts as zeros. */
struct network {
	struct sockets sockets;
	ino_t id;
	uint64_t read_ns, took_ns;
};

/* NULL: no name, or none that was read.  The kernel scans all of its tables for that: this may take
 * only a small share of a processor. */
const char *network_find(struct network *network, pid_t pid, uint64_t inode);
void network_done(struct network *network);
