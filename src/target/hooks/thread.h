/*
 * The calling thread's ID, errno and stack, read from libc's memory: an application thread may have
 * a filter that forbids every system call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* On a thread created by libc: notes offsets that may hold its ID and its stack. errno_location is
 * libc's function; asks: some thread has a wrong ID in its block, so always ask the kernel. */
void thread_learn(int *(*errno_location)(void), bool asks);
/* On another thread: keeps only the offsets that also match here. */
void thread_confirm(void);

int32_t thread_number(void);
int thread_errno(void);

/* Returns the end of the stack that libc allocated for the calling thread, if the address lies on
 * it. Else 0: on the first thread, on a coroutine's or a signal's stack, on a thread unknown to
 * libc. Memory from the address to the end stays mapped until the thread ends. */
uint64_t thread_stack_end(uint64_t address);
