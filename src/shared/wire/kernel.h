/*
 * The interface of host and kernel programs (src/kernel), other than samples.  Shared by both: no
 * libc.
 */
#pragma once

#include "shared/wire/sample.h"

#define KERNEL_RANGES_MAX           4096 /* of one process */
#define KERNEL_PROCESSES_MAX        4096
#define KERNEL_SYSTEM_PROCESSES_MAX 16384     /* with a sample, at a time, where all are sampled */
#define KERNEL_FRAMES_MAX           127       /* of the kernel's own; the kernel's maximum */
#define KERNEL_GUARD_NS             100000000 /* for so long the cost of switches is added up */
#define KERNEL_GUARD_COST_NS        10000000  /* so much may go into stacks, on each processor */
#define KERNEL_GUARD_MAX            1000      /* one in so many gets a stack in any case */

/* The rows in which the rule of an address can be, for each page of code. */
struct kernel_page {
	__u32 first, last;
};

/* A mapping of code. */
struct kernel_range {
	__u64 start, end;
	__u64 base;       /* the address to which rows are relative */
	__u32 page;       /* where its pages begin */
	__u32 page_count; /* 0: there is no table */
	__u32 special;    /* where its specials begin */
	__u16 is_file;    /* else code that was made at run time, or the vdso */
	__u16 is_made;    /* generated code: code without a row is newer than the table */
};

/* A process that is followed: the part of the ranges that is its own now.  A new part is written
 * beside the old one before the process is led to it, so a reader sees the one or the other: the
 * first three are one word. */
struct kernel_process {
	__u16 first_range, range_count;
	__u32 generation; /* a number that no other part has had */
	__u32 pid;
	__u32 asking;      /* enum kernel_asking */
	__u64 start_stack; /* where the kernel put the program's arguments, so that its first
			      function began there */
} __attribute__((aligned(8)));

/* The first word of one that has no ranges: this generation is never reached. */
#define KERNEL_NO_RANGES (~0ull << 32)

/* Whether the programs request that ranges are read again, at an address in none. */
enum kernel_asking {
	ASKING,        /* they will */
	ASKED,         /* they have: until they are answered stacks are sent as they are */
	ASKED_IN_VAIN, /* nothing was new: they do not */
};

/* In sample.flags of a record whose stack could not be walked in the kernel: after the kernel's
 * frames come, instead of the user's, the registers (struct pt_regs) and the memory from the stack
 * pointer up. */
#define KERNEL_RAW              (1 << 7)
#define KERNEL_RAW_PAGES        7 /* of the stack, the first one from the stack pointer on */
#define KERNEL_RAW_PAGES_BEHIND 3 /* while a quarter of the ring waits for the host */

/* In sample.flags of a record whose walk met memory that is not present: the last words of the
 * user's frames are this instead, and the host, which may wait for memory, continues from there.
 * The frame before is its pc. */
#define KERNEL_REST (1 << 6)
struct kernel_rest {
	__u64 pc, sp, fp, lr;
	__u64 is_exact;   /* pc is where the thread is or was interrupted, not a return address */
	__u64 is_sp_lost; /* sp is lower than it, or equal */
};

#define INTERPRETED_FRAMES_MAX  1023 /* of one stack */
#define INTERPRETED_FRAME_BYTES 128  /* a language's frame has no more */

/* A frame of an interpreter, as programs send it: its function's code, and where it is in that. The
 * mark of the frame, whose meaning is the language's, is put above the address. */
#define INTERPRETED_MARK_SHIFT 56
struct interpreted_frame {
	__u64 code, at;
};

/* Where a Python keeps the frames of its threads: offsets in its objects, and one address.  How the
 * chain is found:
 *
 *   interpreters -> interpreter -> thread (the one with the right id) -> [control ->] frame -> ...
 */
struct kernel_python {
	__u64 interpreters; /* the address of the pointer to the first one */
	__u16 interpreter_next, interpreter_threads;
	__u16 thread_next, thread_id, thread_frame;
	__u16 control_frame;
	__u8 has_control; /* thread_frame leads to a block in which control_frame is */
	__u8 frame_size;  /* so much of a frame is read */
	__u8 frame_previous, frame_code, frame_at;
	__u8 frame_mark;     /* a byte with the kind of frame */
	__u16 thread_number; /* thread_id leads to a block of the C library's in which the kernel's
				number is, 32 bits; 0: not known, or not needed */
	__u8 reserved[4];
};

#define KERNEL_NO_STEP 0xffff
/* In the code of a frame: code outside of all functions.  The other bits are the address of the
 * name of its file, if known. */
#define KERNEL_OUTSIDE 1
/* The code of a marker: native frame number `at` was compiled from the functions that follow, up to
 * the first one that C code called. */
#define KERNEL_COMPILED 2
/* The same: a function of C that C called through the interpreter, which has a run of its own for
 * it. */
#define KERNEL_NATIVE 4

/* Stacks of contexts, of which some are functions': those of the right kind, a number in the first
 * bits of a context.  A context keeps where its caller was (frame_at); the holder has the present
 * place of the innermost function.  Code outside of all functions is KERNEL_OUTSIDE.  One whose
 * word of frame_mark is 0 was called by C code, as was the outermost one of each stack. */
struct kernel_contexts {
	__u16 at, stack;                  /* in the holder */
	__u16 first, previous, last;      /* in a stack: its contexts; the stack below; a number */
	__u8 kind_mask, kind, other_kind; /* of functions */
	__u8 reserved[7];
};

/* Lua: no list has the state that a thread runs, so it is searched for, in its registers and from
 * its stack pointer up.  A state leads to the shared part, which leads to the first state, which
 * leads back.  One that runs has a mark on the C stack to which errors jump; of several states the
 * one with the innermost mark runs, and above its outermost mark is the one that resumed it.
 *
 *   state -> call -> function's slot -> function -> prototype, which is sent as the code */
struct kernel_lua {
	__u64 code_start, code_end; /* a thread without a native frame there runs no Lua */
	__u16 shared, call, jump;   /* in a state */
	__u16 at;          /* in a state: the innermost call; KERNEL_NO_STEP: in the state itself */
	__u16 first_call;  /* in a state: calls are an array that begins there; KERNEL_NO_STEP */
	__u16 first;       /* in the shared part */
	__u8 prototype;    /* in a function */
	__u8 instructions; /* in a prototype: where they begin; */
	__u8 count;        /* ... and how many there are, 32 bits */
	__u8 has_c_flag;   /* byte 10 marks functions of C; else their kind does */
	__u8 is_register;  /* where the innermost call is is in a register */
	__u8 mark_bit;     /* of the word frame_mark: C code called this one */
	__u8 is_mark_clear; /* it did where the bit is 0 */
	__u8 call_operation,
		tail_operation; /* without a mark: C called if the caller is at neither */
	__u8 reserved[3];
};

/* How the frames of an interpreter are found. */
enum kernel_frames {
	KERNEL_FRAMES_CHAINED,  /* see struct kernel_interpreter */
	KERNEL_FRAMES_PYTHON,   /* see struct kernel_python */
	KERNEL_FRAMES_CONTEXTS, /* in stacks of contexts */
	KERNEL_FRAMES_LUA,
	KERNEL_FRAMES_LUAJIT, /* from the frames on the C stack that the walk has met */
};

/* Where an interpreter keeps the frames of its functions.  KERNEL_FRAMES_CHAINED: an address, and
 * the offsets on the way, steps of KERNEL_NO_STEP left out:
 *
 *   root -> start -> thread (the one with the right number) -> holder -> frame -> ...
 *
 * A frame leads to its caller's, or they lie one behind the other up to the end of a stack. */
struct kernel_interpreter {
	__u64 root;  /* the address of a pointer */
	__u16 start; /* in that: the first thread */
	/* In a thread.  They are a ring; KERNEL_NO_STEP: there is one, the first of the process. */
	__u16 thread_next;
	__u16 thread_native; /* leads to where thread_id is */
	__u16 thread_id;     /* the kernel's number, 32 bits */
	__u16 thread_holder, holder_frame;
	__u16 holder_stack; /* leads to the stack with the frames */
	__u16 holder_words; /* its size, in words */
	__u32 mark_bits;    /* any of these in the word of frame_mark */
	/* In code without a name, which may be freed as soon as it has run: its file's. */
	__u16 code_name, code_file;
	__u16 line;        /* frame_at leads to where 32 bits are the line, which is sent instead */
	__u8 frame_size;   /* so much of a frame is read */
	__u8 frame_stride; /* from one to the next one; 0: frame_previous leads there */
	__u8 frame_previous, frame_code, frame_at, frame_mark;
	__u8 is_mark_behind; /* frame_mark leads to it */
	__u8 frames;         /* enum kernel_frames */
	union {
		struct kernel_python python;
		struct kernel_contexts contexts;
		struct kernel_lua lua;
	};
};

/* The state of a thread off the processor. */
struct kernel_off_cpu {
	__u64 since_ns; /* 0: it is on one */
	__u64 woken_ns; /* 0: not woken yet */
	/* Earlier times, for which no stack was taken. */
	__u64 more_blocked_ns, more_runnable_ns;
	__u8 is_blocked; /* else it would run if it could */
	__u8 has_stack;
	__u8 reserved[6];
};

struct kernel_counts {
	__u64 lost;      /* records without room */
	__u64 untracked; /* threads off the processor that found no room */
	__u64 unknown;   /* threads that the walk left out: code in no range */
	__u64 level;     /* depth of the namespace of pids in which the host lives */
	__u64 pid_space; /* its inode number */
	__u32 every;     /* written by the host: one tick in so many counts; 0 and 1: each */
	__u32 reserved;
};

/* Fixed before the programs are loaded. */
struct kernel_settings {
	__u64 period_ns;
	__u64 address_mask; /* of return addresses without signatures */
	__u32 level;        /* as in kernel_counts; 0: no number needs to be translated */
	__u32 pid_space;
	__u8 with_kernel_frames;
	__u8 with_children;
	__u8 has_fixed_period;   /* of its clocks: they count time */
	__u8 own_frames;         /* kernel frames of a switch to leave out, innermost first */
	__u8 is_system_wide;     /* every process is sampled, from its first tick on */
	__u8 has_no_interpreter; /* no sampled process has one: skip programs for its frames */
	__u8 reserved[2];
	__u32 own_pid; /* of the host, which is not sampled then */
	__u32 reserved_too;
};

/* Records that are no samples: a struct sample with one of these as its kind. */
enum kernel_event {
	KERNEL_EVENT_UNKNOWN = 128, /* an address in no range of the process: frames[0] */
	KERNEL_EVENT_FORKED,        /* `pid` was forked from frames[0] */
	KERNEL_EVENT_EXECUTED,      /* `pid` runs another program now */
	KERNEL_EVENT_ENDED,         /* the last thread of `pid` ended */
	KERNEL_EVENT_LEFT,          /* a thread left the processor; user frames are its stack */
	KERNEL_EVENT_CAME,          /* it returned: struct kernel_return instead of frames */
	KERNEL_EVENT_SEEN,    /* a thread that the walk over all threads met off the processor */
	KERNEL_EVENT_RUNNING, /* the same, on one: no frames */
	KERNEL_EVENT_INTERPRETED, /* struct interpreted_frame, for the thread's next record of this
				     time */
	KERNEL_EVENT_APPEARED,    /* before the first sample of a process or program; struct
				     kernel_appearance */
};

/* Identifies the process, as far as that may be gone when the host reads it. */
struct kernel_appearance {
	__u64 start_stack; /* as in struct kernel_process: that of no other program */
	__u32 parent;      /* its memory is a copy of that one's; 0: it runs its own program */
	__u32 reserved;
	char name[16];
};

/* How the time off the processor was spent.  weight_ns of the record: the time when it was woken,
 * or 0. */
struct kernel_return {
	__u64 blocked_ns, runnable_ns;
};

/* Clocks of threads that may have inherited one already have the thread's number as their cookie,
 * and a period that is longer by some of so many nanoseconds. */
#define KERNEL_PERIODS 1024
/* That of a processor's clock: the only one that there is. */
#define KERNEL_COOKIE_PROCESSOR (~0ull)

/* The parameters of a walk over all threads. */
struct kernel_question {
	__u32 pid;       /* the process */
	__u32 is_seed;   /* their time off the processor begins now */
	__u32 is_kernel; /* with kernel frames */
	__u32 is_last;   /* includes threads in code in no range; else only counted */
};
