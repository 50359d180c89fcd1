/*
 * The calling thread's number, errno and stack, read from where libc keeps them: a thread of the
 * program's may have a filter that forbids any system call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* On a thread that libc made: where its number and its stack may be.  errno_location is libc's
 * function; asks: some thread has a wrong number there, so the kernel is always asked. */
void thread_learn(int *(*errno_location)(void), bool asks);
/* On another one: only offsets that are right here too remain. */
void thread_confirm(void);

int32_t thread_number(void);
int thread_errno(void);

/* Where the stack ends that libc gave the calling thread, if the address lies on it; else 0: on the
 * first thread, on a coroutine's or a signal's stack, on a thread that libc does not know.  Memory
 * from the address to there stays mapped until the thread ends. */
uint64_t thread_stack_end(uint64_t address);
