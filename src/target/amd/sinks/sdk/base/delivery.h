/*
 * limpet's threads that deliver buffers to tools, and the SDK's calls about threads.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/amd/sinks/sdk/base/abi.h"

#include <stdbool.h>

#define DELIVERY_THREADS_MAX 16u
#define DELIVERY_THREAD_NAME "limpet-sdk"

/* Sets libc's functions, which create threads; called before the other functions here. The last
 * ones; NULL: never set. */
void delivery_learn(const struct boot_libc *libc);
const struct boot_libc *delivery_libc(void);

/* What threads do, in that order; called before the first one is created. */
struct delivery_work {
	/* Delivers counts of kernels. Returns nanoseconds until the next call; 0: no need. */
	uint64_t (*results)(int tool, unsigned thread);
	void (*buffers)(unsigned thread);
	bool (*buffers_wait)(unsigned thread); /* another buffer is due */
	void (*notify)(bool is_made);          /* before and after a thread is created */
};
void delivery_prepare(const struct delivery_work *work);

/* The index of the tool's first thread, which delivers all buffers not assigned to another thread;
 * creates the thread if there is none. -1: creation failed. */
int delivery_begin(int tool);
/* The index of a tool's thread with that handle; handle 0: its first one. -1: no such thread. */
int delivery_find(int tool, struct sdk_handle id);

/* Does the thread run? Is it the calling thread? */
bool delivery_has(unsigned thread);
bool delivery_is_me(unsigned thread);
bool delivery_is_mine(void); /* the calling thread is any of them */

/* Wakes a thread to deliver. */
void delivery_wake(unsigned thread);

/* Ends a tool's threads at detach; starts them again at the next attach. delivery_stop() returns
 * how many have not ended in time. */
unsigned delivery_stop(int tool);
void delivery_restart(int tool);
void delivery_forget(int tool);

/* How many threads run. */
unsigned delivery_threads(void);

void delivery_adopt(void);
