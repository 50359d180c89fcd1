/*
 * Attaching and detaching: through the listener of a process that has one, else by one stop of one
 * thread; then over a socket to the agent.
 */
#pragma once

#include "host/attach/link.h"
#include "shared/wire/listener.h"

struct facts;
struct modules;

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
	char warning[256];     /* a problem that is no error; empty: none */
	char unnoticed[256];   /* why changes of rights are seen late (notice.c); empty: not so */
};

/* The program had one thread: libc must be set back to that state at the end (single.c). */
struct single {
	bool is_due;
	struct job_facts facts;
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

static inline struct control_header order_header(enum control_kind kind, size_t size,
						 uint32_t flags)
{
	struct control_header header;

	control_header_init(&header, kind, size);
	header.flags = flags;
	return header;
}

/* Sends an order to the agent, with a descriptor (-1: none), and waits for the answer, which
 * link_request() describes; ret may be NULL. */
int attach_order(struct attachment *attachment, struct control_header *order, int fd,
		 struct control_reply *ret, struct err *err) MUST_CHECK;

/* Makes the agent detach; with unload, unmap everything.  Waits until the control thread has
 * ended. */
int attach_detach(struct attachment *attachment, bool unload, struct control_reply *ret,
		  struct err *err) MUST_CHECK;

/* Closes the host's descriptors.  Without attach_detach before, the agent notices that and rests.
 */
void attach_close(struct attachment *attachment);

/* The steps, which attach_open() calls in order. */

/* exclusion.c: two limpets must not attach to one target at once.  A descriptor that holds the lock
 * until it is closed. */
int exclusion_acquire(const struct target *target, struct err *err) MUST_CHECK;

/* socket_take.c: takes a socket out of a target, and no other kind of file under that number.
 * pidfd: of the target, or of a thread of it.  A descriptor, or -errno: -ENOTSOCK for anything but
 * a SOCK_SEQPACKET of this machine that the target has made, with this inode. */
int socket_take(const struct target *target, int pidfd, int number, uint64_t inode) MUST_CHECK;

/* thread_block.c: the made-up thread block of the starter, what a thread of glibc finds at its
 * thread pointer.  Writes the image of the region's data part into the job: start words, context,
 * and for the thread way the thread block with every library's static TLS. */
int image_build(const struct target *target, const struct modules *modules,
		const struct facts *facts, struct job *job, struct err *err) MUST_CHECK;
/* The same for an existing region: context only. */
void image_build_again(const struct target *target, const struct facts *facts,
		       const struct boot_context *old, struct job *job);

/* inject.c: plans the one stop and runs the injector for it.  Makes limpet's thread in the target,
 * whose context is then at attachment->context.  The injector holds the lock too, in case it
 * outlives limpet. */
int inject(struct attachment *self, const struct attach_options *options, int lock,
	   struct err *err) MUST_CHECK;

/* boot_wait.c: limpet's threads start in the target, between the stop and the first message.  Reads
 * the context that they fill in; -ENOENT when their region is unmapped. */
int boot_context_read(const struct attachment *self, struct boot_context *ret) MUST_CHECK;
/* Describes the failure in the target. */
int boot_fail(const struct boot_context *boot, struct err *err);
/* Waits until limpet's thread in the target has its socket; then takes the host's end of it. */
int boot_await_socket(const struct attachment *self, struct boot_context *ret,
		      struct err *err) MUST_CHECK;
int boot_take_socket(struct attachment *self, const struct boot_context *boot,
		     struct err *err) MUST_CHECK;

/* single.c: a process that had one thread before the attach has one again when limpet's threads
 * have ended; libc would go on taking locks for ever.  One more short stop of that thread sets libc
 * back.  Before the first stop: finds libc's words that mark a process with one thread. */
void single_find(const struct target *target, struct job *job);
/* After it: keeps what is needed to restore them. */
void single_keep(struct single *self, const struct job *job);
/* When limpet's threads have ended.  NULL, or what remains, as a message. */
const char *single_restore(struct attachment *self);
