/*
 * One order to the injector process and its answer, in memory shared with the host.  The host works
 * everything out while the target runs; the injector only carries it out inside one short stop.
 */
#pragma once

#include "shared/arch/registers.h"
#include "shared/wire/boot.h"

#define JOB_MAGIC      0x6c696d706574696aull
#define JOB_STACKS_MAX 262144 /* a common vm.max_map_count; only used ones take memory */
#define JOB_FORKS_MAX  2      /* fork, _Fork */
#define JOB_IMAGE_MAX  (REGION_DATA_SIZE)
#define JOB_FIXUPS_MAX 16

/* The work on the stopped thread. */
enum job_mode {
	JOB_FIRST,  /* map the region, write it, start limpet's first thread in it */
	JOB_AGAIN,  /* the region exists: start a thread in it */
	JOB_SINGLE, /* no thread of limpet's is left: libc shall see one thread again */
	JOB_LAUNCH, /* a child is about to execute a program: lay a doorstep before it */
};

enum job_status {
	JOB_NOT_RUN,
	JOB_DONE,
	JOB_NO_SEIZE,  /* reason in error: EPERM, ESRCH */
	JOB_NO_STOP,   /* the thread did not stop in time */
	JOB_GONE,      /* thread or process ended, or another program was executed */
	JOB_TOO_EARLY, /* libc is not initialised */
	JOB_NOT_64_BIT,
	JOB_LEAVE_ALONE,   /* the thread is in a state that limpet does not touch */
	JOB_FILTERED_WAIT, /* a stop would need restart_syscall, which its filter may forbid */
	JOB_NO_STACK,      /* no room for the emergency frame that is surely the thread's own */
	JOB_SECCOMP,       /* a filter would stop `nr` */
	JOB_SECCOMP_UNREADABLE, /* the filters cannot be read */
	JOB_STOPPED,            /* job control stopped the process meanwhile */
	JOB_CALL_FAILED,        /* system call `nr` failed with error; undone */
	JOB_BROKEN,             /* another failure; undone or left to the emergency frame */
	JOB_NOT_EXECUTED,       /* JOB_LAUNCH: execve failed with error */
	JOB_NO_LINKER,          /* JOB_LAUNCH: the program has no dynamic linker */
	JOB_PRIVILEGED, /* JOB_LAUNCH: it would get, or was denied, rights of another user */
};

/* A pointer in the image to which the address of the region is added. */
struct job_fixup {
	uint32_t offset; /* in the image */
};

/* Writable memory that may be a stack. */
struct job_stack {
	uint64_t start, end;
	uint32_t is_main;   /* the kernel's [stack] */
	uint32_t has_guard; /* inaccessible memory is right below */
};

/* A function of libc's; 0, 0: it has none. */
struct job_code {
	uint64_t start, end;
};

#define FILE_CALLS 0xd8 /* in glibc's FILE: the table of its functions; the same since 2.1 */

/* Addresses of libc's variables by which it knows that a process has one thread; 0: unknown. */
struct job_single {
	uint64_t common[2];    /* a byte, __libc_single_threaded; the program may have its own */
	uint64_t stdio, files; /* a word, "files need locks"; the list of files */
	uint64_t file_calls;   /* the table of functions of files that fopen makes */
	uint64_t thread_count; /* a word */
};

/* Which of them said so before the attach, in boot_context.single_due, and above SINGLE_MARK as the
 * flag in the thread's own block.  glibc only tests whether that is zero, and its pthread_create
 * writes 1: so the mark is gone if the program itself has made a thread. */
enum single_due {
	SINGLE_DUE = 1,
	SINGLE_DUE_COMMON = 2, /* and the next bit */
	SINGLE_DUE_STDIO = 8,
	SINGLE_DUE_ALL = 15,
};
#define SINGLE_MARK 0x6c6d7000u

/* What holds for each stop of the process's threads: the host keeps it for JOB_SINGLE. */
struct job_facts {
	/* The identity of the program image: sixteen bytes that the kernel makes anew with each
	 * exec. */
	uint64_t random_address;
	unsigned char random[16];
	uint64_t sigreturn;
	int64_t tid_offset; /* from the thread pointer to the thread's number in its own block */
	uint32_t force;
	uint32_t can_read_filters;
	/* The number of filters of a thread of this process whose filters allow restart_syscall; 0:
	 * no such thread was stopped yet.  Set by the injector, kept from one thread to the
	 * next. */
	uint32_t filters_known;
	uint32_t is_inherited; /* JOB_AGAIN in a forked child: it has no thread of limpet's */

	/* A process with one thread becomes one with two, see switch.c. */
	uint32_t has_flag_in_block;
	int64_t flag_offset;          /* of the flag in the block from the thread pointer */
	struct job_single single;     /* the words that say so now, or did before the attach */
	struct job_code create, heap; /* pthread_create; the allocator, see heap.c */
};

/* Where libc's code and variables are. */
struct job_libc {
	/* It is initialised when the word at this address points outside of libc. */
	uint64_t init_word, begin, end;
	uint64_t syscall_return; /* a system call instruction, followed by a return */
	int64_t rseq_offset;     /* from the thread pointer to its struct rseq; 0: unknown */
	struct job_code calloc;  /* see docs/attach.md, "One thread becomes two" */
	/* fork and _Fork, and the caller of main; see "A process that was just born" there. */
	struct job_code forks[JOB_FORKS_MAX], start;
};

struct job {
	uint64_t magic;
	int32_t pid, tid;
	int32_t leader;    /* the first thread, whose stack is the main one */
	int32_t inner_tid; /* expected in the thread's own block */
	struct job_facts facts;
	struct job_libc libc;
	uint32_t mode;        /* enum job_mode */
	uint32_t way;         /* enum boot_way */
	uint32_t has_filters; /* this thread, by /proc */
	uint32_t filters;     /* how many */
	uint32_t needs;       /* enum need_when, as a mask */
	uint32_t wishes;      /* the same: optional ones */
	uint32_t deadline_ms; /* for the thread to stop */
	uint32_t look_ms;     /* for a thread with filters to leave a timed wait */

	uint32_t is_at_doorstep; /* it waits before its beginning: libc is as ready as it can be */

	uint32_t is_alone; /* it has one thread */
	uint32_t
		worker_flags; /* of threads that the kernel has made for itself, in stat of /proc */
	struct job_single single_known; /* facts.single, also of words that do not say so */
	uint32_t waits_for_heap; /* try again rather than let limpet's threads have their own */

	/* It may still be inside of fork, or not have begun yet, see newborn.c. */
	uint64_t cpu_ns; /* spent on a processor so far; counts only while is_alone */
	struct blocked_call seen;

	uint64_t region;                   /* JOB_AGAIN */
	uint32_t thread_pointer, tid_word; /* offsets in the region */
	uint32_t guard_offset; /* in the image: where the thread's guards are copied to, 0: nowhere
				*/
	uint32_t image_size, code_size;
	uint32_t fixup_count;
	struct job_fixup fixups[JOB_FIXUPS_MAX];
	unsigned char code[REGION_CODE_SIZE];
	unsigned char image[JOB_IMAGE_MAX];

	/* JOB_LAUNCH: the child waits until it is seized; `error` of a failed execve. */
	int32_t parent;
	uint32_t is_unprivileged; /* limpet lacks CAP_SYS_PTRACE */
	uint32_t takes_static;    /* no library will be loaded: no dynamic linker is needed */
	uint32_t is_seized;
	int32_t execve_error;

	/* The answer. */
	uint32_t status; /* enum job_status */
	int32_t error;
	int64_t nr;
	uint64_t ret_region;
	uint32_t has_switched; /* libc believed that there was one thread */
	uint32_t denied;       /* of the wishes: a filter forbids them, or cannot be read */
	uint32_t has_realtime_priority;
	uint64_t interrupt_ns; /* from the request to the stop */
	uint64_t pause_ns;     /* from the stop to the release */

	/* Last, since a process may have many: ascending, disjoint. */
	uint32_t has_more_stacks; /* than there is room for */
	uint32_t stack_count;
	struct job_stack stacks[];
};

static inline size_t job_size(size_t stack_count)
{
	return sizeof(struct job) + stack_count * sizeof(struct job_stack);
}
