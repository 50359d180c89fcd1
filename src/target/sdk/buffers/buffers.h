/*
 * Buffers of tools: records of a kind collect in them until somebody delivers them to the tool.
 */
#pragma once

#include "target/sdk/abi.h"

#include <stdbool.h>

/* Writes into the buffer that a context (its index) has for that kind.  From any thread, also in a
 * signal handler; waits only where the buffer is full and its tool wants nothing lost, and then for
 * two seconds at most.  Where it does not fit, a drop is counted.  The record begins with its size
 * and its kind. */
void buffer_write(unsigned context, int kind, const void *record, size_t size);

/* Into that buffer, a record of the category of counters, which begins as its tool is to see it.
 * False: there is no room, which was counted, or no such buffer. */
bool buffer_write_counter(struct sdk_handle id, int kind, const void *record, size_t size);

/* Delivers what is in the buffers of that thread of ours (its index) that somebody wants delivered;
 * on that thread. */
void buffers_deliver(unsigned thread);

/* Has somebody asked for it?  For the thread that has nothing to do. */
bool buffers_wait(unsigned thread);

/* Delivers everything that a tool's buffers hold; waits for at most so long. */
void buffers_drain(int tool, uint64_t limit_ns);

/* Its buffers are gone with it. */
void buffers_forget(int tool);

/* In a forked child: nobody writes, nobody delivers. */
void buffers_adopt(void);
