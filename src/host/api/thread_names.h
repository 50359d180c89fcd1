/*
 * Names of threads, requested with each sample and read periodically.
 */
#pragma once

#include "host/core/table.h"

#include <sys/types.h>

#define THREAD_NAME_BYTES 17

struct thread_name {
	uint64_t read_ns;
	char text[THREAD_NAME_BYTES];
};

struct thread_names {
	struct table by_thread; /* (pid, tid): index in names */
	struct thread_name *names;
	size_t count, room;
};

/* "" when it is not known.  Until the next call. */
const char *thread_name_of(struct thread_names *names, pid_t pid, pid_t tid);
void thread_names_done(struct thread_names *names);
