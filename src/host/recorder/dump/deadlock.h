/*
 * Threads that wait for each other for ever: each for a glibc mutex that the next one holds.
 */
#pragma once

#include "host/process/threads.h"

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
