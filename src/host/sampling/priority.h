/*
 * The collector's rank among the threads of the machine: before those that it watches, or it would
 * come too late to make room for what they write.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct priority {
	pid_t tid; /* 0: nothing was changed */
	bool is_realtime;
	int policy, level, nice;
};

/* Raises that of the calling thread as far as we may, and remembers what it was. */
void priority_raise(struct priority *ret);
/* Without any right: the calling thread asks for short turns, which come sooner (Linux 6.12). */
void priority_hurry(void);
/* From any thread. */
void priority_restore(struct priority *priority);
