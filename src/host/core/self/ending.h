/*
 * Waits for what ends a command: Enter, a signal, time, or the end of the target.
 */
#pragma once

#include "host/core/err.h"

enum ending {
	ENDING_ENTER,
	ENDING_SIGNAL,
	ENDING_DURATION,
	ENDING_EXIT,
	ENDING_LEFT, /* the agent has detached by itself */
};

/* From now on SIGINT and SIGTERM wait for ending_wait(); returns a descriptor for it. */
int ending_prepare(struct err *err) MUST_CHECK;

/* Survives SIGPIPE: the reader of stdout may exit, and the recording goes on. */
void ending_outlive_pipes(void);

/* pidfd: of the target.  socket: ENDING_LEFT when its other end is closed; -1: none.  duration_ns:
 * UINT64_MAX for no limit.  A signal ends one wait only. */
enum ending ending_wait_beside(int signals, int pidfd, int socket, uint64_t duration_ns);

static inline enum ending ending_wait(int signals, int pidfd, uint64_t duration_ns)
{
	return ending_wait_beside(signals, pidfd, /* socket */ -1, duration_ns);
}

/* "enter", "signal", ... */
const char *ending_name(enum ending ending);
