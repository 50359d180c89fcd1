/*
 * Finds out whether only limpet's threads are left: these must not keep the process alive.
 */
#pragma once

#include <stdbool.h>

/* True if only the calling thread and `others` more are left; false if /proc is unreadable. */
bool is_alone(unsigned others);

/* The exit status of the process's first thread; -1 if it runs, or was killed by a signal. */
int first_status(void);
