/*
 * What a thread waits for, as far as its system call tells.
 */
#pragma once

#include "host/process/threads.h"

#include <stdbool.h>

struct waiting {
	char call[32];    /* "epoll_wait", "call 321"; "" when it is in none, or we may not know */
	char object[192]; /* what it is about: a file, a socket, a lock and who holds it; "" */
	uint64_t futex;   /* the address on which it waits; 0: on none */
	uint64_t lock;    /* the same, of a mutex of glibc that is held; 0 */
	pid_t holder;     /* by this thread */
	bool has_limit;   /* it waits for some time only */
};

/* The address on which a thread waits, of a lock or the like; 0: on none, or we may not know. */
uint64_t waiting_futex(pid_t pid, pid_t tid);

/* `threads` are those of the process. */
void waiting_look(pid_t pid, pid_t tid, const struct threads *threads, struct waiting *ret);
