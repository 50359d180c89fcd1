/*
 * What a thread waits for, as far as its system call shows.
 */
#pragma once

#include "host/process/threads.h"

#include <stdbool.h>

struct waiting {
	char call[32];    /* "epoll_wait", "call 321"; "": in none, or not allowed to read */
	char object[192]; /* a file, a socket, or a lock with its holder; "" */
	uint64_t futex;   /* the address it waits on; 0: none */
	uint64_t lock;    /* the same, of a glibc mutex that is held; 0 */
	pid_t holder;     /* by this thread */
	bool has_limit;   /* its wait has a time limit */
};

/* The address of the futex that a thread waits on; 0: none, or limpet may not read it. */
uint64_t waiting_futex(pid_t pid, pid_t tid);

/* `threads` are those of the process. */
void waiting_look(pid_t pid, pid_t tid, const struct threads *threads, struct waiting *ret);
