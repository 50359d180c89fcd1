/*
 * One sample of one thread, as the kernel program sends it and as every sampler hands it on. Shared
 * by kernel programs and host: no libc.
 */
#pragma once

#include <linux/types.h>

#define SAMPLE_FRAMES_MAX 1024

enum sample_kind {
	SAMPLE_RUNNING,  /* on a processor; weight: the period */
	SAMPLE_BLOCKED,  /* left the processor by itself; weight: how long; sent at its return */
	SAMPLE_RUNNABLE, /* wanted a processor and had none; weight: how long */
	SAMPLE_KINDS,
};

/* How the walk up the stack ended.  Recordings keep the numbers: new ones are appended, and there
 * is room for four bits. */
enum stack_end {
	STACK_COMPLETE, /* at a known end: a row UNWIND_END (where: see unwind/rules/ends.c), or the
			   begin of a thread by its code (THREAD_END) */
	STACK_CUT,      /* more frames than SAMPLE_FRAMES_MAX */
	STACK_NO_MAP,   /* an address where no code is mapped */
	STACK_NO_TABLE, /* a module without a table (yet), and no frame pointer either */
	STACK_NO_RULE,  /* UNWIND_BAD */
	STACK_UNREADABLE, /* stack memory that could not be read, or is beyond the copy */
	STACK_CIRCULAR,   /* the stack pointer did not move up */
	STACK_NO_USER,    /* no user side (kernel thread, exiting), or not requested */
	STACK_GENERATED,  /* the chain of frames ended in 0 in code of no file (JIT) */
	STACK_ZERO,       /* the same in a file's code, where no stack is known to begin */
	STACK_SWITCHED,   /* a runtime has switched stacks, and the way back was not found */
	STACK_UNREAD,     /* the process had ended, or was one of too many, before its mappings were
			     read */
	STACK_UNLINKED,  /* frame pointers alone were followed, by code that keeps none: callers are
			    missing (stacks of traced calls) */
	STACK_CALLER,    /* of a traced call, only the direct caller was requested */
	STACK_NO_PYTHON, /* of a traced call: Python ran, and its frames could not be read yet */
	STACK_ENDS,
};

enum sample_flags {
	SAMPLE_GUESSED = 1 << 0, /* at least one frame is guessed (samplers other than bpf) */
	SAMPLE_CALLER = 1 << 1,  /* no sample, but the callers of a traced call: the first frame is
				    a return address, too; not in recordings */
};

struct sample {
	__u64 time_ns; /* CLOCK_MONOTONIC, of its end */
	__u64 weight_ns;
	__u32 pid, tid; /* as limpet sees them */
	__u32 cpu;
	__u8 kind;  /* enum sample_kind */
	__u8 end;   /* enum stack_end */
	__u8 flags; /* enum sample_flags */
	__u8 state; /* of a blocked one: 'S', 'D', ... */
	__u16 user_count, kernel_count;
	__u32 reserved;
	__u64 frames[]; /* kernel_count of the kernel, then user_count of the user; each innermost
			   first; the first user frame is the exact pc, the others are return
			   addresses, or one behind where a signal came.  In the host some
			   may be locations of an interpreter's functions instead
			   (host/interpreter/locations.h) */
};
