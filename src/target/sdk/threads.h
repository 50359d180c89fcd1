/*
 * What is remembered of each thread that makes calls which tools see: the calls it is in, and the
 * tools whose code it is in.  Found by the thread's number; nothing here waits or allocates, and a
 * signal handler may come in between.
 */
#pragma once

#include "shared/arch/ticks.h"
#include "shared/wire/boot.h"

#include <stdbool.h>

struct sdk_frame;

#define THREADS_MAX       2048u
#define THREAD_CALLS_MAX  16u
#define THREAD_GUARDS_MAX 8u

/* A kernel that tools were told of as a dispatch. */
struct told_dispatch {
	uint64_t call;   /* that launches it: its internal number */
	uint64_t number; /* 0: none, or it was counted by that number */
};

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
	struct told_dispatch told; /* the last one */
	uint32_t guard_count;
	uint64_t guards[THREAD_GUARDS_MAX]; /* frames of guard_run(), the innermost last */
};

/* Once made, it stays as long as this library; open addressing.  The kernel empties it in a forked
 * child, where no tool is attached. */
struct sdk_threads {
	uint64_t is_own;
	struct sdk_thread list[THREADS_MAX];
};
extern struct sdk_threads *sdk_threads;
extern int64_t sdk_thread_distance; /* of its number from the thread pointer; 0: not known */

/* Takes memory, and notes where libc keeps a thread's number; before anything else here.  False
 * when there is no memory. */
bool sdk_threads_open(const struct boot_libc *libc);
/* Unmaps it, when no thread of the target can call this library any more. */
void sdk_threads_close(void);
int32_t sdk_thread_number(void);

static inline struct sdk_thread *sdk_thread_at(int32_t number, unsigned probe)
{
	return &sdk_threads->list[((uint32_t)number * 2654435761u + probe) % THREADS_MAX];
}

/* Wherever it is; makes one where there is none. */
struct sdk_thread *sdk_thread_find(void);

/* The calling thread's, most often the first that is looked at; NULL: there are too many. */
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

/* Of this process. */
bool sdk_thread_is_gone(int32_t number);
/* Was a frame of the calling thread's left by a jump, seen from where it is now? */
bool sdk_frame_was_left(uint64_t left, uint64_t frame);

/* Forgets calls and tools that were left by a jump: what is not further up the stack than the
 * frame. */
void sdk_thread_prune(struct sdk_thread *thread, uint64_t frame);

/* A call begins or ends whose frame is at that address.  Calls further down the stack than the
 * frame were left by a jump or an exception: they are forgotten.  Begin returns the number of the
 * call around it, 0: none. */
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
	/* A signal handler that comes now sees it whole, or not at all. */
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
/* The number of the innermost call around an address of the calling thread's stack; 0: none. */
uint64_t sdk_thread_current(const struct sdk_thread *thread, uint64_t frame);

/* The thread goes into code of a tool; returns what to give back when it has come out. */
uint64_t sdk_thread_enter_tool(struct sdk_thread *thread, unsigned tool);
void sdk_thread_leave_tool(struct sdk_thread *thread, uint64_t before);

/* Waits, for at most so long, until no thread but the calling one is in code of that tool; how many
 * still are. */
unsigned sdk_threads_await(unsigned tool, uint64_t limit_ns);

/* In a forked child: the others are not there. */
void sdk_threads_adopt(void);
