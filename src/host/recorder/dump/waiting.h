/*
 * What a thread waits for, as far as its system call shows, and threads that wait for each other
 * for ever: each for a glibc mutex that the next one holds.
 */
#pragma once

#include "host/process/threads.h"

struct waiting {
	char call[32];    /* "epoll_wait", "syscall 999"; "": in none, or not allowed to read */
	char object[192]; /* a file, a socket, or a lock with its holder; "" */
	uint64_t futex;   /* the address it waits on; 0: none */
	uint64_t lock;    /* the same, of a glibc mutex that is held; 0 */
	pid_t holder;     /* by this thread */
	bool has_limit;   /* its wait has a time limit */
};

/* The address of the futex that a thread waits on; 0: none, or limpet may not read it. */
uint64_t waiting_futex(pid_t pid, pid_t tid);

/* `threads` are those of the process. */
void waiting_read(pid_t pid, pid_t tid, const struct threads *threads, struct waiting *ret);

struct deadlocked {
	size_t thread; /* its index in the list of threads */
	uint64_t lock; /* that it waits for; the next thread holds it, or for the last the first */
};

struct deadlock {
	struct deadlocked *items;
	size_t count; /* 0: there is none */
};

/* The first circle found.  Reads all threads twice: only threads that have not run in between, and
 * that wait without a time limit, are in one.  0 or -ENOMEM. */
int deadlock_find(pid_t pid, const struct threads *threads, struct deadlock *ret) MUST_CHECK;
void deadlock_done(struct deadlock *deadlock);
