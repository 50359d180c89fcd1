/*
 * What an attach needs to know of the target, found while it runs: above all of its libc.
 */
#pragma once

#include "host/attach/facts/modules.h"

struct facts {
	enum boot_way way;
	struct boot_libc libc;
	struct job_libc places; /* for the injector, as is: */
	struct job_facts job;   /* without what is known of the process */
	uint64_t thread_exit, open_signals;
	/* Of glibc's thread block. */
	uint32_t tid_offset, block_size;
	uint32_t has_tls_offsets,
		tls_offset_field; /* in a link map: the offset of its static TLS */
	int64_t libc_tls_offset;
};

/*
 * Waits until the target's libc is initialised; -EAGAIN when it still is not after the limit.
 *
 * limpet's thread must not run while the program's linker has relocations to do: with the raw
 * initial values of libc's thread-local data its first malloc would end the process.  The injector
 * checks libc only when the thread is stopped, which may be long after everything else was read.
 * So all that matters is read after this.
 */
int libc_wait(struct target *target, uint64_t limit_ns, struct err *err) MUST_CHECK;

int facts_read(const struct target *target, const struct modules *modules, struct facts *ret,
	       struct err *err) MUST_CHECK;

/* heap.c: fills in libc.arena_word and libc.arena, by the shape of an arena in the target's memory,
 * never by a version's layout alone.  They stay 0 where it cannot be proved: malloc is not glibc's,
 * or has never been called. */
void heap_find(const struct target *target, const struct module *libc, struct facts *facts);
/* The code of libc's allocator with its private functions, and some code behind. */
struct job_code heap_code(const struct module *libc);

/*
 * flushed_files.c: whether the target has a file open, or might, whose file system the kernel
 * notifies of each closed descriptor.  A thread that leaves the program's descriptor table closes
 * copies of all its descriptors.  For a POSIX message queue that cancels the program's mq_notify:
 * the kernel compares processes there, not tables.  FUSE asks its server to flush the file, NFS and
 * CIFS write back what the program has written: that has effects, and lasts as long as the server
 * likes.
 */
bool flushed_files_are_open(const struct target *target);

/* seccomp_trial.c: where the target's filters cannot be read but are limpet's own too (same
 * container), tries them.  True when limpet runs under as many filters, in the same namespaces, and
 * a throw-away child survived the calls that attaching needs. */
bool seccomp_trial_passes(const struct target *target);

/* candidates.c: chooses the thread to stop.  A thread in a wait is not delayed by the stop; among
 * these, the ones whose wait the kernel itself restarts come first. */
struct candidate {
	pid_t tid;
	pid_t inner_tid;  /* in the target's numbers */
	unsigned rank;    /* lower is better */
	bool has_filters; /* seccomp; each thread may have its own */
	bool is_unlike;   /* its rights or filters differ from the first thread's */
	struct blocked_call call;
};

#define CANDIDATES_MAX 16

struct candidates {
	struct candidate items[CANDIDATES_MAX]; /* best first */
	size_t count;
	bool are_alike; /* all threads have the same filters */
};

/* must_wait: only threads in a call that libc never makes under a lock of its own (musl). */
int candidates_find(const struct target *target, bool must_wait, struct candidates *ret,
		    struct err *err) MUST_CHECK;
