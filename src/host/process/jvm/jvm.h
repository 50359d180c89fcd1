/*
 * Requests to a Java virtual machine by its attach protocol, as jcmd's.  It touches the process: a
 * signal that starts its listener, and a file in its /tmp for that moment.  Into another file the
 * JVM writes its names: a child removes it after limpet has read it, and also when limpet is
 * killed.
 */
#pragma once

#include "host/process/status.h"

/* Zero is none.  For one JVM. */
struct jvm_trace {
	bool is_watched; /* a child waits for limpet's end */
	pid_t child;
	int pipe; /* which it hears closing */
};

struct jvm_map_file {
	int temporary; /* its /tmp */
	uid_t user;    /* of the machine */
	gid_t group;
	char name[32]; /* of the file */
};

/* Called before the JVM gets the request.  An existing file is not limpet's and stays.  -errno:
 * there is no process that would remove the file, so it must not be made. */
int jvm_trace_begin(struct jvm_trace *trace, const struct jvm_map_file *map) MUST_CHECK;
/* The file has been read. */
void jvm_trace_end(struct jvm_trace *trace);

/* A child that no signal of the terminal ends before it has removed what it made. */
pid_t jvm_fork(void);
/* Only system calls: for children of a process with threads. */
bool jvm_become_user(uid_t user, gid_t group);

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
