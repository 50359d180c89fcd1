/*
 * Getting in and out: through the listener of a process that has one, else by one stop of one
 * thread; then a socket to the agent.
 */
#pragma once

#include "host/attach/facts/resident.h"
#include "host/attach/link.h"
#include "shared/wire/listener.h"

struct attach_options {
	bool force;            /* go on where filters cannot be read */
	bool has_variables;    /* the environment must be changed */
	bool wishes_variables; /* it will be, where filters allow */
	bool wishes_stacks;    /* frames of Python will be read, where filters allow */
	bool traces;           /* limpet's own tracer will be loaded */
	uint64_t ring_bytes;   /* of memory for each of its threads then, */
	uint32_t ring_count;   /* and for how many at most */
	bool resumes;          /* send SIGCONT to a process that job control stopped */
	uint64_t doorstep;     /* where the process waits that limpet has started (launch.h); 0 */
	/* How long to look for a thread that may be stopped.  0: 3 s, also for a program that is
	 * being started; who gives a time tries again himself. */
	uint64_t tries_for_ns;
};

#define ATTACH_PATIENCE_NS 3000000000ull

static inline uint64_t attach_patience_ns(const struct attach_options *options)
{
	return options->tries_for_ns ? options->tries_for_ns : ATTACH_PATIENCE_NS;
}

/* What an attach cost, for the report. */
struct attach_report {
	pid_t tid;         /* the thread that was stopped; 0: none was */
	pid_t control_tid; /* our thread in the target, as the host counts */
	enum boot_way way;
	enum listener_refusal refusal; /* why the process's listener did not let us in */
	bool was_resident;             /* nothing was loaded: the agent was there */
	bool has_realtime_priority;
	bool denies_variables; /* filters do not let the environment be changed */
	bool denies_stacks;    /* nor frames of Python be read */
	bool denies_probes;    /* nor memory be tried on a thread that may have its own */
	bool denies_notice;    /* nor let limpet be told of changes of rights */
	bool shares_root;      /* paths are known to mean the same in the target */
	uint64_t interrupt_ns; /* until the thread stopped */
	uint64_t pause_ns;     /* how long it was stopped */
	uint64_t attach_ns;    /* all of it */
};

/* The program had one thread, and libc shall be told when it has one again (single.h). */
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

/* Attaches; on failure the target is as it was.  The address must not change afterwards. */
int attach_open(struct attachment *ret, pid_t pid, const struct attach_options *options,
		struct err *err) MUST_CHECK;

/* Tells the agent to detach; with unload, to unmap everything.  Waits until our thread has
 * ended. */
int attach_leave(struct attachment *attachment, bool unload, struct control_reply *ret,
		 struct err *err) MUST_CHECK;

/* Closes what the host has open.  Without attach_leave before, the agent notices and rests. */
void attach_close(struct attachment *attachment);
