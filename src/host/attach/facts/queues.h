/*
 * POSIX message queues of the target.
 */
#pragma once

#include "host/attach/target.h"

/*
 * Whether it has one open, or might.  A thread that closes its own copy of such a descriptor ends
 * what the program has asked for with mq_notify: the kernel compares processes there, not tables.
 */
bool queues_are_open(const struct target *target);
