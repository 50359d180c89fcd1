/*
 * The number that a thread has in its own pid namespace.
 */
#pragma once

#include <sys/types.h>

/* `tid` itself where the kernel does not show it. */
pid_t inner_number(pid_t pid, pid_t tid);
