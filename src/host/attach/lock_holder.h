/*
 * The holder of a lock that limpet waits for.
 */
#pragma once

#include <sys/types.h>

/* The process that holds a flock() on the file behind fd; 0 when the kernel does not show it. */
pid_t lock_holder(int fd);
