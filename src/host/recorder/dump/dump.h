/*
 * The current stack of every thread of a process, with names; no thread is stopped.  The samplers,
 * best first:
 *
 *   bpf   a kernel program walks the stacks of all threads
 *   read  waiting threads are read from outside; running threads are sampled by copies of their
 *         stacks, where perf events are allowed
 */
#pragma once

#include "host/recorder/dump/waiting.h"
#include "host/recording/pack_samples.h"

struct dumped_frame {
	const char *module;          /* without its folders */
	const char *path;            /* the module with them */
	uint64_t address;            /* in the module's file, or in the process where it has none */
	struct recorded_name *names; /* the innermost first: inlined functions */
	uint32_t name_count;
};

struct dumped_thread {
	struct thread facts;
	char name[64];          /* from the program, else from the kernel */
	bool has_gil;           /* it holds its Python's lock */
	struct waiting waiting; /* at the moment of its stack; empty if not sure */
	uint64_t turns;         /* how often it had got a processor before its stack was read */
	bool has_stack;
	bool is_partial; /* only frames of Python: it was running */
	bool has_ended;  /* before its stack could be read */
	bool is_guessed;
	enum stack_end end;
	size_t frame_count; /* innermost first, the kernel's before the others */
	struct recorded_frame *recorded;
	struct dumped_frame *frames;
};

struct dump {
	pid_t pid;
	const char *sampler; /* "bpf", "read"; "state": there are no stacks */
	char reasons[1024];  /* lines: why no better sampler, and what this one cannot see */
	struct dumped_thread *threads;
	size_t count;
	struct threads listed;
	struct deadlock deadlock; /* indexes are those of `threads` */
	struct code_list *codes;
	bool has_borrowed_codes;
};

struct dump_options {
	bool wants_lines, kernel_frames;
	const char *sampler; /* only this one; NULL: the best */
	unsigned language;   /* keeps frames of this one only; LANGUAGE_ALL: all */
	/* What dumps of other processes have read of the files that they share; it lives longer
	 * than the dump, whose texts are there.  NULL: the dump reads for itself. */
	struct code_list *codes;
};

/* Where no sampler is allowed (-EACCES, -EPERM) *ret has the threads with their states, without
 * stacks. */
int dump_make(struct dump **ret, pid_t pid, const struct dump_options *options,
	      struct err *err) MUST_CHECK;
void dump_free(struct dump *dump);

static inline void dump_free_at_scope_end(struct dump **dump)
{
	dump_free(*dump);
}
