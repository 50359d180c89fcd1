/*
 * Requests to a Java virtual machine by its attach protocol, as jcmd's.  It touches the process: a
 * signal that starts its listener, and a file in its /tmp for that moment.
 */
#pragma once

#include "host/process/jvm/jvm_trace.h"
#include "host/process/status.h"

/* `start_tick`: when the process was started; another one may have its number by now.  0: not
 * checked.
 *
 * The JVM writes the names of its compiled code into /tmp/perf-PID.map of its root (JDK 17 and
 * later).  That file is removed with the trace, which may be used for another request.  -ENOPKG
 * when the process is no such machine, -ENOTSUP when it is not HotSpot or does not listen. */
int jvm_write_names(pid_t pid, uint64_t start_tick, struct jvm_trace *trace,
		    struct err *err) MUST_CHECK;

/* 0 when the process is a HotSpot that listens, and the one that was started then; *ret is its
 * status. */
int jvm_check(pid_t pid, uint64_t start_tick, struct process_status *ret,
	      struct err *err) MUST_CHECK;
