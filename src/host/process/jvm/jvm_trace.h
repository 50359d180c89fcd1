/*
 * The file that a Java virtual machine writes its names into when it is asked, and its end: a child
 * takes it away when we have read it, and also when we are killed.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Zero is none.  It belongs to one machine. */
struct jvm_trace {
	bool is_watched; /* a child waits for our end */
	pid_t child;
	int pipe; /* which it hears closing */
};

struct jvm_map_file {
	int temporary; /* its /tmp */
	uid_t user;    /* of the machine */
	gid_t group;
	char name[32]; /* of the file */
};

/* Before the machine is asked.  A file that is there already is not ours: it stays.  -errno: there
 * is nobody who would take it away, so that it must not be made. */
int jvm_trace_begin(struct jvm_trace *trace, const struct jvm_map_file *map) MUST_CHECK;
/* The file has been read. */
void jvm_trace_end(struct jvm_trace *trace);

/* Only system calls: for children of a process with threads. */
bool jvm_take_credentials(uid_t user, gid_t group);
