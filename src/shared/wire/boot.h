/*
 * What host and target must agree on before the agent library is there: the memory region that the
 * injector maps in the target, and the context that the bootstrap code finds in it.
 *
 *   region  0        guard, made unreadable by limpet's first thread
 *           64 K     stack of the control thread
 *           1088 K   stack of the starter thread
 *           1344 K   start words, boot_context, the starter's thread block
 *           1600 K   bootstrap code, read and execute only
 *           1664 K   end
 *
 * Every offset is a multiple of 64 KiB, the largest page size of the supported machines.
 */
#pragma once

#include "shared/base/macros.h"

#define REGION_GUARD_SIZE    0x10000u
#define REGION_WORKER_STACK  0x10000u
#define REGION_WORKER_SIZE   0x100000u
#define REGION_STARTER_STACK 0x110000u
#define REGION_STARTER_SIZE  0x40000u
#define REGION_DATA          0x150000u
#define REGION_DATA_SIZE     0x40000u
#define REGION_CODE          0x190000u
#define REGION_CODE_SIZE     0x10000u
#define REGION_SIZE          0x1a0000u

/* Offsets inside the data part. */
#define DATA_START_WORDS 0x0u    /* the starter pops the address of its context from here */
#define DATA_CONTEXT     0x40u   /* struct boot_context */
#define DATA_FORKS       0x1000u /* the bootstrap code's turn with forks; kept between attaches */
#define DATA_THREAD      0x1200u /* DTV, TLS and thread control block of the starter */

/* Entry points of the bootstrap code, as offsets into the code part. */
#define CODE_CLONE 0x0u  /* a system call; where it answers 0, a new thread starts */
#define CODE_CALL  0x40u /* a function: makes the control thread from the calling thread */

#define BOOT_MAGIC           0x6c696d7065743032ull /* "limpet02" */
#define BOOT_WAIT_MS         20000 /* how long the target waits for a host that it can see */
#define BOOT_GLANCE_MS       100   /* ...and the interval between checks that it lives */
#define BOOT_TEXT_MAX        200
#define CONTROL_THREAD_NAME  "limpet"         /* the name of limpet's thread in ps and top */
#define STARTER_THREAD_NAME  "limpet-start"   /* the same, for the one that makes threads for it */
#define WATCH_THREAD_NAME    "limpet-watch"   /* the same, of the thread that polls modules */
#define LISTENER_THREAD_NAME "rocp-bg-attach" /* the same, where it is the register library's */
#define BOOT_FIRST_THREE     "0 to 2"         /* as the failed call: they are not all open */
#define BOOT_AGENT_ENTRY     "limpet_agent_run"

enum boot_step {
	BOOT_WRITTEN,      /* by the host; nothing has run */
	BOOT_STARTING,     /* the starter thread runs */
	BOOT_SOCKET_READY, /* the control thread waits for the host to take sockets[0] */
	BOOT_AGENT_RUNS,   /* control is with the agent library */
	BOOT_ENDED,        /* the control thread has nothing more to do */
	BOOT_FAILED,       /* see failed_call and error */
};

/* How limpet's thread is made in the target; see ARCHITECTURE.md. */
enum boot_way {
	BOOT_WAY_THREAD,   /* a raw thread with a made-up thread block calls pthread_create */
	BOOT_WAY_CALL,     /* musl: the stopped thread itself calls pthread_create */
	BOOT_WAY_LISTENER, /* none is made: limpet's register library has one */
};

/* The agent's verdict when its control loop ends. */
enum agent_verdict {
	AGENT_RESTS,   /* stay mapped for the next attach */
	AGENT_UNLOADS, /* unmap library and region */
	AGENT_YIELDS,  /* the same as RESTS, and the thread must end: the program changes its rights
			*/
};

/* When the control thread leaves the program's descriptor table for its own, in which limpet's
 * descriptors cannot collide with the program's. */
enum boot_table {
	BOOT_TABLE_SHARED, /* never: it shares the program's, and moves its own to high numbers */
	BOOT_TABLE_LATER,  /* when the host has its socket: that cannot be taken from a thread */
	BOOT_TABLE_OWN,    /* before it has any descriptor */
};

/* A control thread with a descriptor table of its own cannot make a thread that has the target's
 * table: the starter makes it, and the control thread writes here what it runs. */
struct boot_errand {
	uint32_t state; /* enum errand_state (target/runtime/starter.h), a futex */
	uint32_t reserved;
	uint64_t work, argument; /* void (*)(void *), and its argument */
};

/* Addresses of the target's own libc functions, resolved by the host. */
struct boot_libc {
	uint64_t pthread_create, pthread_attr_init, pthread_attr_setstack,
		pthread_attr_setdetachstate;
	uint64_t pthread_getspecific, pthread_join;
	uint64_t dlopen, dlsym, dlclose, dlerror;
	uint64_t unsetenv;
	uint64_t __cxa_atexit, __cxa_finalize;
	uint64_t __register_atfork; /* 0: musl has none */
	/* Distances from the thread pointer, 0: unknown.  Of thread_words.h, and of its number. */
	int64_t thread_flags, thread_number;
	int64_t thread_block; /* to where glibc's block of the thread begins, which pthread_t is */
	int64_t arena_word;   /* to where glibc keeps the thread's arena */
	uint64_t arena;       /* the main one, 0: unknown */
	uint64_t is_arena_shared; /* limpet's threads use it; else each gets an arena of its own */
};

struct boot_context {
	uint64_t magic;
	uint64_t region;
	struct boot_libc libc;
	uint64_t syscall_return; /* a system call instruction followed by a return */
	uint64_t thread_exit;    /* code in libc that ends the calling thread, needing no stack */
	uint64_t open_signals;   /* signals that libc needs in every thread, as a mask */
	uint32_t way;            /* enum boot_way */
	uint32_t thread_pointer,
		tid_word; /* of the starter, as offsets in the region: for the next attach */

	/* Written by the target. */
	uint32_t step;            /* enum boot_step, stored last */
	int32_t error;            /* negative errno of the failed call */
	char failed_call[32];     /* "dlopen" */
	char text[BOOT_TEXT_MAX]; /* dlerror() */
	int32_t socket;           /* for the host to take */
	uint64_t socket_inode;    /* ...if it still is that */
	int32_t starter_tid, worker_tid;
	uint32_t starter_has_data; /* some library keeps thread-specific data for the starter: never
				      unmap */
	uint64_t agent_handle, agent_entry;
	uint64_t exit_word; /* in libc's heap: the address of thread_exit, as a stack to exit on */
	/* The target's threads have no filters, or all the same ones: they may make the system
	 * calls that limpet's threads make. */
	uint32_t may_call;
	int32_t host_pid;  /* by the host: itself as the target counts; 0: not to be seen there */
	int32_t origin;    /* by the host: the maker of limpet's threads, in the target's numbers */
	uint32_t table;    /* by the host: enum boot_table */
	uint32_t is_apart; /* the control thread has a table of its own */
	struct boot_errand errand;
	/* By host and injector: the words of struct job_single that said "one thread" before the
	 * attach, as a mask.  If this limpet is killed, the next one restores them. */
	uint32_t single_due;
};

_Static_assert(sizeof(struct boot_context) <= DATA_FORKS - DATA_CONTEXT, "context fits its part");

/* The host's first message to the control thread.  With it comes the agent library, unless it is
 * mapped already: a file, or, if the target's root has no /proc to name a descriptor by, a
 * directory. */
struct boot_hello {
	uint64_t magic;
	uint32_t has_library;
	uint32_t is_directory;
};

/* In such a directory, the library. */
#define LIBRARY_LINK "library"
