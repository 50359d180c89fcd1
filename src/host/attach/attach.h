/*
 * Attaching and detaching: through the listener of a process that has one, else by one stop of one
 * thread; then over a socket to the agent.
 */
#pragma once

#include "host/attach/facts/resident.h"
#include "host/attach/link.h"
#include "shared/wire/listener.h"

struct attach_options {
	bool force;            /* attach even if filters cannot be read */
	bool has_variables;    /* the environment must be changed */
	bool wishes_variables; /* it will be changed, where filters allow */
	bool wishes_stacks;    /* frames of Python will be read, where filters allow */
	bool traces;           /* limpet's own tracer will be loaded */
	uint64_t ring_bytes;   /* for each of its threads, in this case, */
	uint32_t ring_count;   /* and for this many threads at most */
	bool resumes;          /* send SIGCONT to a process that job control stopped */
	uint64_t doorstep;     /* where a process that limpet started waits (launch.h); 0 */
	/* How long to search for a thread that may be stopped.  0: 3 s, also for a program that is
	 * being started; a caller that sets a time retries itself. */
	uint64_t tries_for_ns;
};

#define ATTACH_PATIENCE_NS 3000000000ull

static inline uint64_t attach_patience_ns(const struct attach_options *options)
{
	return options->tries_for_ns ? options->tries_for_ns : ATTACH_PATIENCE_NS;
}

/* What an attach cost, for the report. */
struct attach_report {
	pid_t tid;         /* the stopped thread; 0: none was stopped */
	pid_t control_tid; /* limpet's thread in the target, in the host's numbers */
	enum boot_way way;
	enum listener_refusal refusal; /* why the process's listener refused */
	bool was_resident;             /* nothing was loaded: the agent was mapped already */
	bool has_realtime_priority;
	bool denies_variables; /* filters forbid changes of the environment */
	bool denies_stacks;    /* filters forbid reading frames of Python */
	bool denies_probes;    /* filters forbid testing memory by system calls */
	bool denies_notice;    /* filters forbid the notice about changes of rights */
	bool shares_root;      /* paths mean the same in the target */
	uint64_t interrupt_ns; /* until the thread stopped */
	uint64_t pause_ns;     /* how long it was stopped */
	uint64_t attach_ns;    /* the whole attach */
};

/* The program had one thread: libc must be set back to that state at the end (single.h). */
struct single {
	bool is_due;
	struct job_single words;
	struct job_code create, heap;
	uint64_t sigreturn;
	uint32_t has_flag_in_block, is_inherited;
	int64_t flag_offset, tid_offset;
	uint32_t force, can_read_filters, filters_known; /* as in struct job */
};

struct attachment {
	struct target target;
	struct link link;
	struct resident resident;
	uint64_t context; /* address of the boot_context */
	struct attach_report report;
	struct single single;
};

/* Attaches; on failure the target is unchanged.  The struct must not move afterwards. */
int attach_open(struct attachment *ret, pid_t pid, const struct attach_options *options,
		struct err *err) MUST_CHECK;

/* Makes the agent detach; with unload, unmap everything.  Waits until the control thread has
 * ended. */
int attach_leave(struct attachment *attachment, bool unload, struct control_reply *ret,
		 struct err *err) MUST_CHECK;

/* Closes the host's descriptors.  Without attach_leave before, the agent notices that and rests. */
void attach_close(struct attachment *attachment);
