/*
 * What is remembered of each thread that makes calls which tools see: the calls it is in, and the
 * tools whose code it is in.  Found by the thread's number; nothing here waits or allocates, and a
 * signal handler may come in between.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

struct sdk_frame;

#define THREAD_CALLS_MAX  16u
#define THREAD_GUARDS_MAX 8u

struct sdk_thread {
	int32_t number;
	uint32_t depth;
	uint32_t range_depth;  /* ranges of roctx that it has begun */
	uint64_t pointer;      /* its thread pointer: another thread may get its number later */
	uint64_t tools_inside; /* bits: of tools whose callbacks have not returned */
	uint64_t inside_frame; /* where on its stack it went into the first of them */
	struct {
		uint64_t frame; /* where on its stack */
		uint64_t correlation;
	} calls[THREAD_CALLS_MAX];
	uint32_t guard_count;
	uint64_t guards[THREAD_GUARDS_MAX]; /* frames of guard_run(), the innermost last */
};

/* Takes memory, and notes where libc keeps a thread's number; before anything else here.  False
 * when there is no memory. */
bool sdk_threads_open(const struct boot_libc *libc);
int32_t sdk_thread_number(void);

/* The calling thread's; NULL: there are too many. */
struct sdk_thread *sdk_thread_mine(void);

/* A call begins or ends whose frame is at that address.  Calls further down the stack than the
 * frame were left by a jump or an exception: they are forgotten.  Begin returns the number of the
 * call around it, 0: none. */
uint64_t sdk_thread_begin(struct sdk_thread *thread, uint64_t frame, uint64_t correlation);
void sdk_thread_end(struct sdk_thread *thread, uint64_t frame);
/* The frame of the innermost call around an address of the calling thread's stack. */
struct sdk_frame *sdk_thread_frame(const struct sdk_thread *thread, uint64_t frame);
/* The number of the innermost call around an address of the calling thread's stack; 0: none. */
uint64_t sdk_thread_current(const struct sdk_thread *thread, uint64_t frame);

/* Forgets calls and tools that were left by a jump: what is not further up the stack than the
 * frame. */
void sdk_thread_prune(struct sdk_thread *thread, uint64_t frame);

/* The thread goes into code of a tool; returns what to give back when it has come out. */
uint64_t sdk_thread_enter_tool(struct sdk_thread *thread, unsigned tool);
void sdk_thread_leave_tool(struct sdk_thread *thread, uint64_t before);

/* Waits, for at most so long, until no thread but the calling one is in code of that tool; how many
 * still are. */
unsigned sdk_threads_await(unsigned tool, uint64_t limit_ns);

/* In a forked child: the others are not there. */
void sdk_threads_adopt(void);
