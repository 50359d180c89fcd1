/*
 * System calls, as the kernel program sends them (src/kernel/syscalls.bpf.c) and as it keeps those
 * in flight.  Shared by kernel programs and host: no libc.
 */
#pragma once

#include <linux/types.h>

#define SYSCALL_NUMBERS_MAX 1024  /* higher ones are of no call that there is */
#define SYSCALL_THREADS_MAX 32768 /* at once */
#define SYSCALL_PATH_MAX    256   /* with its end; longer ones are cut */
#define SYSCALL_THREAD_NAME 16

/* The meaning of the arguments and the result of a call. */
enum syscall_shape {
	SYSCALL_DESCRIPTOR = 1 << 0,     /* the first argument */
	SYSCALL_PATH_FIRST = 1 << 1,     /* the first argument */
	SYSCALL_PATH_SECOND = 1 << 2,    /* the second; the first one: relative to what */
	SYSCALL_SIZE = 1 << 3,           /* the third argument; the result: bytes moved */
	SYSCALL_NEW_DESCRIPTOR = 1 << 4, /* the result */
	SYSCALL_CLOSES = 1 << 5,         /* descriptors; without one: all */
	SYSCALL_EXECUTES = 1 << 6,       /* its arguments' memory is gone when it returns */
	SYSCALL_NO_RESULT = 1 << 7,
};

enum syscall_record_kind {
	SYSCALL_RETURNED,
	SYSCALL_BEGAN_BEFORE, /* returned, and was entered before tracing began */
	SYSCALL_EXECUTING,    /* entered: the path */
	SYSCALL_FORKED,       /* `pid` was forked */
	SYSCALL_EXECUTED,     /* `pid` runs another program now */
	SYSCALL_THREAD_ENDED, /* the path is its name */
	SYSCALL_ENDED,        /* the last thread of `pid` */
	SYSCALL_RECORD_KINDS,
};

enum syscall_flags {
	SYSCALL_32_BIT = 1 << 0, /* the number is one of another table */
};

/* One record in the ring. */
struct syscall_record {
	__u64 begin_ns, end_ns; /* CLOCK_MONOTONIC */
	__s64 result;
	__u64 size;
	__u32 pid, tid; /* as limpet sees them */
	__s32 descriptor;
	__s32 number;
	__u32 dropped; /* calls of this thread, so far */
	__u16 path_bytes;
	__u8 kind;  /* enum syscall_record_kind */
	__u8 flags; /* enum syscall_flags */
	char path[];
};

/* A process that is traced. */
struct syscall_process {
	__u32 pid;
};

/* A thread of one, with its present call. */
struct syscall_thread {
	__u64 begin_ns, size, path;
	__u32 pid, tid; /* as limpet sees them */
	__s32 descriptor;
	__s32 number;
	__u32 dropped;
	__u8 shape, flags;
	__u8 is_within; /* a call was entered */
	__u8 is_born;   /* the next event is the return of the call that made it */
};

struct syscall_counts {
	__u64 dropped;   /* calls without room in the ring */
	__u64 untracked; /* calls of threads that are too many */
};
