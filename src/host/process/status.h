/*
 * /proc/PID/status (or of one thread) as values.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct process_status {
	char name[64];
	char state; /* R S D T t Z X I */
	pid_t tgid, parent, tracer;
	pid_t inner_pid;         /* as its own pid namespace counts */
	unsigned pid_namespaces; /* 1: it is in limpet's pid namespace */
	uid_t uid, euid, suid;
	gid_t gid, egid, sgid;
	unsigned threads;
	uint64_t signals_pending, signals_caught;
	uint64_t signals_blocked; /* by this thread */
	uint64_t capabilities;    /* effective */
	uint64_t capabilities_permitted;
	int seccomp; /* 0 off, 1 strict, 2 filter */
	unsigned seccomp_filters;
	bool no_new_privileges;
	bool is_kernel_thread; /* the kernel's flag since 6.8; process.h determines it on every
				  kernel */
	bool is_dumping_core;
	bool has_memory; /* false for kernel threads and zombies: there is no VmSize line */
	bool has_shadow_stack;
	uint64_t voluntary_switches;
};

int status_parse(const char *text, size_t size, struct process_status *ret,
		 struct err *err) MUST_CHECK;
/* tid may equal pid.  -ESRCH when it has ended. */
int status_read(pid_t pid, pid_t tid, struct process_status *ret, struct err *err) MUST_CHECK;

/* The number that a thread has in its own pid namespace; `tid` itself where the kernel does not
 * show it.  Cheaper than all of status. */
pid_t inner_number(pid_t pid, pid_t tid);
