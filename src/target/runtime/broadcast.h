/*
 * libc broadcasts setuid and its like: it makes every thread of the process do the same system
 * call, and aborts the process if one of them gets another result. Capabilities belong to a thread,
 * so limpet's threads may get another result than the application's.
 */
#pragma once

#include "shared/wire/boot.h"

#include <pthread.h>
#include <stdbool.h>

/* Called first by each of limpet's threads: from now on it gets no broadcast, or cannot fail. */
void broadcast_avoid(const struct boot_libc *libc);

/* The same for a thread that the caller has just created: on a busy machine the thread may wait for
 * a processor while the application changes its IDs. glibc lets a broadcast wait until such a
 * thread has begun, which would then get it before it can hide. */
void broadcast_spare(const struct boot_libc *libc, pthread_t thread);

/* A thread of limpet's that libc is to create. */
struct new_thread {
	void *stack;
	size_t stack_size;
	void *(*run)(void *);
	void *argument;
	bool is_detached;
};

/* Creates it, spared; 0 or a negative errno. */
int broadcast_create(const struct boot_libc *libc, const struct new_thread *thread,
		     pthread_t *ret) MUST_CHECK;
