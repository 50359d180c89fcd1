/*
 * limpet's threads that deliver buffers to tools, and the SDK's calls about threads.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/amd/sinks/sdk/abi.h"

#include <stdbool.h>

#define DELIVERY_THREADS_MAX 16u
#define DELIVERY_THREAD_NAME "limpet-sdk"

/* Sets the libc functions that create threads; called before the other functions here. */
void delivery_prepare(const struct boot_libc *libc);

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
