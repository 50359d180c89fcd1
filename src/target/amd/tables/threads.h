/*
 * The state of each thread that makes calls which tools see: the calls it is in, and the tools
 * whose code it is in. Found by the thread's tid. Nothing here waits or allocates, so a signal
 * handler may interrupt it.
 */
#pragma once

#include "shared/arch/ticks.h"
#include "shared/wire/boot.h"

#include <stdbool.h>

struct call_frame;

#define THREADS_MAX        2048u
#define THREAD_CALLS_MAX   16u
#define THREAD_GUARDS_MAX  8u
#define CALL_INTERNAL_MASK ((UINT64_C(1) << 56) - 1)

/* A kernel dispatch that tools were notified of. */
struct told_dispatch {
	uint64_t call;   /* internal id of the launching call */
	uint64_t number; /* 0: none, or given to a counted kernel */
};

struct call_thread {
	int32_t number;
	uint32_t depth;
	uint32_t range_depth;  /* open roctx ranges */
	uint64_t pointer;      /* thread pointer: another thread may reuse the tid */
	uint64_t tools_inside; /* bits: tools with a callback that has not returned */
	uint64_t inside_frame; /* stack address where the first was entered */
	uint32_t hip_inside;   /* entries of hip_on_activity() that have not returned */
	struct thread_call {
		uint64_t frame;         /* its stack address */
		uint64_t begin;         /* as in its frame */
		uint64_t internal : 56; /* likewise */
		uint64_t table : 8;     /* enum api_table_number */
	} calls[THREAD_CALLS_MAX];
	struct told_dispatch told; /* the last dispatch */
	uint32_t guard_count;
	uint64_t guards[THREAD_GUARDS_MAX]; /* frames of guard_run(), the innermost last */
};

/* Open addressing; mapped until this library is unmapped. The kernel clears it in a forked child
 * (MADV_WIPEONFORK), where no tool is attached. */
struct call_threads {
	uint64_t is_own;
	struct call_thread list[THREADS_MAX];
};
extern struct call_threads *call_threads;
extern int64_t call_thread_distance; /* of the tid from the thread pointer; 0: unknown */

/* Maps the table, and stores where libc keeps a thread's tid; called before the other functions
 * here. False: no memory. */
bool call_threads_open(const struct boot_libc *libc);
/* Unmaps the table; no thread of the target may be able to call this library any more. */
void call_threads_close(void);
int32_t call_thread_number(void);
/* While it asks, each thread asks the kernel for its tid: libc has wrong ones. */
void call_threads_ask(bool asks);
/* False in a forked child, and before the table is mapped. */
static inline bool call_threads_are_own(void)
{
	const struct call_threads *threads = __atomic_load_n(&call_threads, __ATOMIC_ACQUIRE);

	return threads && threads->is_own;
}

static inline struct call_thread *call_thread_at(int32_t number, unsigned probe)
{
	return &call_threads->list[((uint32_t)number * 2654435761u + probe) % THREADS_MAX];
}

/* Finds the calling thread's entry at any probe; adds one if there is none. */
struct call_thread *call_thread_find(void);

/* The calling thread's entry, usually at the first probe; NULL: the table is full there. */
static inline struct call_thread *call_thread_mine(void)
{
	int64_t distance = __atomic_load_n(&call_thread_distance, __ATOMIC_RELAXED);
	struct call_thread *thread;
	int32_t number;

	if (!distance || !call_threads || !call_threads->is_own)
		return call_thread_find();
	number = *(const int32_t *)(thread_pointer() + distance);
	thread = call_thread_at(number, 0);
	if (__atomic_load_n(&thread->number, __ATOMIC_RELAXED) != number ||
	    thread->pointer != (uint64_t)thread_pointer())
		return call_thread_find();
	return thread;
}

/* True if this process has no such thread. */
bool call_thread_is_gone(int32_t number);
/* Was the frame `left` of the calling thread discarded by a jump, seen from `frame`? */
bool call_frame_was_left(uint64_t left, uint64_t frame);

/* Forgets calls and tools that a jump has skipped: those whose frames are not above `frame`. */
void call_thread_prune(struct call_thread *thread, uint64_t frame);

/* Begins or ends a call. Calls further down the stack were left by a jump or an exception, and are
 * forgotten. Begin returns the enclosing call's id; 0: none. A call without an id counts as a part
 * of the enclosing one. */
static inline uint64_t call_thread_begin(struct call_thread *thread, const struct thread_call *call)
{
	uint32_t depth;
	uint64_t around;

	if (thread->depth || thread->tools_inside)
		call_thread_prune(thread, call->frame);
	depth = thread->depth;
	around = depth ? thread->calls[depth - 1].internal : 0;
	if (depth == THREAD_CALLS_MAX)
		return around;
	thread->calls[depth] = *call;
	if (!call->internal)
		thread->calls[depth].internal = around & CALL_INTERNAL_MASK;
	/* A signal handler that interrupts here sees the whole entry, or none. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->depth = depth + 1;
	return around;
}

static inline void call_thread_end(struct call_thread *thread, uint64_t frame)
{
	uint32_t depth = MIN(thread->depth, THREAD_CALLS_MAX);

	while (depth && thread->calls[depth - 1].frame <= frame)
		depth--;
	thread->depth = depth;
}

/* The innermost call around an address of the calling thread's stack; NULL: none. */
const struct thread_call *call_thread_around(const struct call_thread *thread, uint64_t address);
/* Its frame; NULL if the call may have been left by a jump, to another stack or further up. */
struct call_frame *call_thread_frame(const struct thread_call *call, uint64_t address);

/* The thread enters code of a tool; returns the value that call_thread_leave_tool() restores. */
uint64_t call_thread_enter_tool(struct call_thread *thread, unsigned tool);
void call_thread_leave_tool(struct call_thread *thread, uint64_t before);

/* Waits for `limit_ns` at most until no other thread is in code of that tool; returns how many
 * still are. */
unsigned call_threads_await(unsigned tool, uint64_t limit_ns);

/* Is another thread in hip_on_activity()? */
bool call_threads_in_hip(void);

/* In a forked child: the other threads do not exist. */
void call_threads_adopt(void);
