/*
 * A walk over all threads of a process by a kernel program: each is seen where it is, none is
 * stopped.  What it finds comes through the ring, NEWS_SEEN or NEWS_LEFT, and NEWS_RUNNING.
 */
#pragma once

#include "host/sampling/kernel_session.h"

/* The file KERNEL_THREADS must be loaded. */
int thread_walk(const struct kernel_session *session, const struct kernel_question *question,
		struct err *err) MUST_CHECK;
