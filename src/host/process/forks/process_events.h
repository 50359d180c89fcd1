/*
 * The kernel's own events of processes (the process connector): every fork and exec, at once.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

enum process_event_kind {
	PROCESS_FORKED,   /* pid is new; parent made it */
	PROCESS_EXECUTED, /* pid runs another program now */
};

struct process_event {
	enum process_event_kind kind;
	pid_t pid, parent;
};

/*
 * A descriptor that becomes readable with each event, or -errno.  Needs the first pid and user
 * namespace, and CAP_NET_ADMIN before Linux 6.6.
 */
int process_events_open(void) MUST_CHECK;

/* 0; -EAGAIN when there is no more for now; -ENOBUFS when some were lost. */
int process_events_read(int fd, struct process_event *ret) MUST_CHECK;

void process_events_close(int fd);
