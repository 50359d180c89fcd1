/*
 * A walk over all threads of a process by a kernel program, with none stopped.  Its records come
 * through the ring: KERNEL_EVENT_SEEN or KERNEL_EVENT_LEFT, and KERNEL_EVENT_RUNNING.
 */
#pragma once

#include "host/sampling/bpf/kernel_tables.h"

/* The file KERNEL_THREADS must be loaded.  When it meets code in none of the space's ranges, they
 * are read and published again: the process has loaded something since. */
int thread_walk(const struct kernel_session *session, struct kernel_tables *tables,
		struct space *space, const struct kernel_question *question,
		struct err *err) MUST_CHECK;
