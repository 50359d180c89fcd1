/*
 * The state of each thread that makes calls which tools see: the calls it is in, and the tools
 * whose code it is in. Found by the thread's tid. Nothing here waits or allocates, so a signal
 * handler may interrupt it.
 */
#pragma once

#include "shared/arch/ticks.h"
#include "shared/wire/boot.h"

#include <stdbool.h>

struct sdk_frame;

#define THREADS_MAX       2048u
#define THREAD_CALLS_MAX  16u
#define THREAD_GUARDS_MAX 8u

/* A kernel dispatch that tools were notified of. */
struct told_dispatch {
	uint64_t call;   /* internal id of the launching call */
	uint64_t number; /* 0: none, or given to a counted kernel */
};

struct sdk_thread {
	int32_t number;
	uint32_t depth;
	uint32_t range_depth;  /* open roctx ranges */
	uint64_t pointer;      /* thread pointer: another thread may reuse the tid */
	uint64_t tools_inside; /* bits: tools with a callback that has not returned */
	uint64_t inside_frame; /* stack address where the first was entered */
	struct {
		uint64_t frame; /* its stack address */
		uint64_t correlation;
	} calls[THREAD_CALLS_MAX];
	struct told_dispatch told; /* the last dispatch */
	uint32_t guard_count;
	uint64_t guards[THREAD_GUARDS_MAX]; /* frames of guard_run(), the innermost last */
};

/* Open addressing; mapped until this library is unmapped. The kernel clears it in a forked child
 * (MADV_WIPEONFORK), where no tool is attached. */
struct sdk_threads {
	uint64_t is_own;
	struct sdk_thread list[THREADS_MAX];
};
extern struct sdk_threads *sdk_threads;
extern int64_t sdk_thread_distance; /* of the tid from the thread pointer; 0: unknown */

/* Maps the table, and stores where libc keeps a thread's tid; called before the other functions
 * here. False: no memory. */
bool sdk_threads_open(const struct boot_libc *libc);
/* Unmaps the table; no thread of the target may be able to call this library any more. */
void sdk_threads_close(void);
int32_t sdk_thread_number(void);

static inline struct sdk_thread *sdk_thread_at(int32_t number, unsigned probe)
{
	return &sdk_threads->list[((uint32_t)number * 2654435761u + probe) % THREADS_MAX];
}

/* Finds the calling thread's entry at any probe; adds one if there is none. */
struct sdk_thread *sdk_thread_find(void);

/* The calling thread's entry, usually at the first probe; NULL: the table is full there. */
static inline struct sdk_thread *sdk_thread_mine(void)
{
	int64_t distance = __atomic_load_n(&sdk_thread_distance, __ATOMIC_RELAXED);
	struct sdk_thread *thread;
	int32_t number;

	if (!distance || !sdk_threads || !sdk_threads->is_own)
		return sdk_thread_find();
	number = *(const int32_t *)(thread_pointer() + distance);
	thread = sdk_thread_at(number, 0);
	if (__atomic_load_n(&thread->number, __ATOMIC_RELAXED) != number ||
	    thread->pointer != (uint64_t)thread_pointer())
		return sdk_thread_find();
	return thread;
}

/* True if this process has no such thread. */
bool sdk_thread_is_gone(int32_t number);
/* Was the frame `left` of the calling thread discarded by a jump, seen from `frame`? */
bool sdk_frame_was_left(uint64_t left, uint64_t frame);

/* Forgets calls and tools that a jump has skipped: those whose frames are not above `frame`. */
void sdk_thread_prune(struct sdk_thread *thread, uint64_t frame);

/* Begins or ends the call whose frame is at that address. Calls further down the stack were left by
 * a jump or an exception, and are forgotten. Begin returns the enclosing call's id; 0: none. */
static inline uint64_t sdk_thread_begin(struct sdk_thread *thread, uint64_t frame,
					uint64_t correlation)
{
	uint32_t depth;
	uint64_t around;

	if (thread->depth || thread->tools_inside)
		sdk_thread_prune(thread, frame);
	depth = thread->depth;
	around = depth ? thread->calls[depth - 1].correlation : 0;
	if (depth == THREAD_CALLS_MAX)
		return around;
	thread->calls[depth].frame = frame;
	thread->calls[depth].correlation = correlation;
	/* A signal handler that interrupts here sees the whole entry, or none. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->depth = depth + 1;
	return around;
}

static inline void sdk_thread_end(struct sdk_thread *thread, uint64_t frame)
{
	uint32_t depth = MIN(thread->depth, THREAD_CALLS_MAX);

	while (depth && thread->calls[depth - 1].frame <= frame)
		depth--;
	thread->depth = depth;
}

/* The frame of the innermost call around an address of the calling thread's stack. */
struct sdk_frame *sdk_thread_frame(const struct sdk_thread *thread, uint64_t frame);
/* The id of the innermost call around an address of the calling thread's stack; 0: none. */
uint64_t sdk_thread_current(const struct sdk_thread *thread, uint64_t frame);

/* The thread enters code of a tool; returns the value that sdk_thread_leave_tool() restores. */
uint64_t sdk_thread_enter_tool(struct sdk_thread *thread, unsigned tool);
void sdk_thread_leave_tool(struct sdk_thread *thread, uint64_t before);

/* Waits for `limit_ns` at most until no other thread is in code of that tool; returns how many
 * still are. */
unsigned sdk_threads_await(unsigned tool, uint64_t limit_ns);

/* In a forked child: the other threads do not exist. */
void sdk_threads_adopt(void);
