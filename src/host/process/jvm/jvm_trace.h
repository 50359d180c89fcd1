/*
 * The file into which a Java virtual machine writes its names, and its removal: a child removes it
 * after limpet has read it, and also when limpet is killed.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <sys/types.h>

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
