/*
 * The number that a thread has in its own namespace, as it knows itself.
 */
#pragma once

#include <sys/types.h>

/* `tid` itself where nothing tells. */
pid_t inner_number(pid_t pid, pid_t tid);
