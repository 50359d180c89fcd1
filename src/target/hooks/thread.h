/*
 * The calling thread's number and errno, read from where libc keeps them: a thread of the program's
 * may have a filter that forbids any system call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* On a thread that libc made: where its number may be.  errno_location is libc's function; asks:
 * some thread has a wrong number there, so the kernel is always asked. */
void thread_learn(int *(*errno_location)(void), bool asks);
/* On another one: only offsets that are right here too remain. */
void thread_confirm(void);

int32_t thread_number(void);
int thread_errno(void);
