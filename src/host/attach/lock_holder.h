/*
 * Who holds a lock that limpet waits for.
 */
#pragma once

#include <sys/types.h>

/* The process that has put a flock() on the file that fd is open on; 0 when the kernel does not
 * tell. */
pid_t lock_holder(int fd);
