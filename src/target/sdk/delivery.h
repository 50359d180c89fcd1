/*
 * Threads of ours that deliver buffers to tools, and what tools want to know of threads.
 */
#pragma once

#include "shared/wire/boot.h"
#include "target/sdk/abi.h"

#include <stdbool.h>

#define DELIVERY_THREADS_MAX 16u
#define DELIVERY_THREAD_NAME "limpet-sdk"

/* Whose functions make threads; before anything else here. */
void delivery_prepare(const struct boot_libc *libc);

/* The tool's first thread, which has all buffers that no other was given; made when there is none.
 * Its index, -1: it could not be made. */
int delivery_begin(int tool);
/* The thread that a tool knows by that handle; 0 is its first one.  -1: there is none. */
int delivery_find(int tool, struct sdk_handle id);

/* Is there such a thread, and is it the calling one? */
bool delivery_has(unsigned thread);
bool delivery_is_me(unsigned thread);
bool delivery_is_mine(void); /* any of them */

/* Wakes a thread: there is something for it to do. */
void delivery_wake(unsigned thread);

/* At detach and at the next attach: the threads of a tool end, and are made again.  Stop returns
 * how many have not ended in time. */
unsigned delivery_stop(int tool);
void delivery_restart(int tool);
void delivery_forget(int tool);

/* How many there are. */
unsigned delivery_threads(void);

void delivery_adopt(void);
