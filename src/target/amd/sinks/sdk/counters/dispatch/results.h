/*
 * Collects what devices have counted, for the tool: on the thread that delivers the tool's buffers,
 * and on the one that detaches the tool.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* On that delivery thread of the tool: reports finished kernels. Returns how long the thread may
 * sleep, in nanoseconds; 0: until it is woken. */
uint64_t dispatch_results_deliver(int tool, unsigned thread);

/* The tool's contexts were stopped: reports kernels that finish within `limit_ns`. */
void dispatch_results_drain(int tool, uint64_t limit_ns);

/* A set was put into a queue: wakes the polling thread. */
void dispatch_results_wake(void);

/* Another user needs the counters: frees what tools that stopped counting have left, as far as
 * devices do not use it any more. */
void dispatch_results_give_back(void);

/* In exit(), on its thread: stops counting, and reports finished kernels. */
void dispatch_results_finish(uint64_t limit_ns);

/* On the application thread that is about to shut HSA down: waits up to 100 ms until the delivery
 * thread has collected finished kernels. */
void dispatch_results_await(void);

/* In a forked child. */
void dispatch_results_adopt(void);
