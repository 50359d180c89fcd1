/*
 * What devices have counted, on its way to the tool: looked for by the thread that delivers the
 * tool's buffers, and by who detaches it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* On that thread (of delivery.h), of the tool: tells what is done.  How long it may sleep then, in
 * nanoseconds; 0: as long as it likes. */
uint64_t dispatch_results_deliver(int tool, unsigned thread);

/* The tool's contexts were stopped: tells what is done by then, for so long. */
void dispatch_results_drain(int tool, uint64_t limit_ns);

/* A set was put into a queue: that thread is to look. */
void dispatch_results_wake(void);

/* Somebody else wants to count: what tools that do not any more have left is given back, as far as
 * devices are done with it. */
void dispatch_results_give_back(void);

/* The program is ending, on this thread: no more is counted, and what is done is told. */
void dispatch_results_finish(uint64_t limit_ns);

/* On the program's thread that is about to shut HSA down: until the other thread has taken what is
 * done, for a moment. */
void dispatch_results_await(void);

/* In a forked child. */
void dispatch_results_adopt(void);
