/*
 * Buffers of tools: records of a kind collect in them until a delivery thread delivers them.
 */
#pragma once

#include "target/amd/sinks/sdk/base/abi.h"

#include <stdbool.h>

/* Writes into the buffer that a context (its index) has for that kind. Callable from any thread,
 * and in a signal handler. Waits only if the buffer is full and lossless, for two seconds at most.
 * A record that does not fit is counted as a drop. The record begins with its size and its kind. */
void buffer_write(unsigned context, int kind, const void *record, size_t size);

/* Writes a counter record into that buffer; `record` is what the tool sees. False: the buffer is
 * full, which is counted as a drop, or there is no such buffer. */
bool buffer_write_counter(struct sdk_handle id, int kind, const void *record, size_t size);

/* Delivers the buffers of one delivery thread (its index) for which delivery was requested. Called
 * on that thread. */
void buffers_deliver(unsigned thread);

/* Was a delivery requested from that thread? Checked before the thread sleeps. */
bool buffers_wait(unsigned thread);

/* Delivers everything in a tool's buffers; waits for `limit_ns` at most. */
void buffers_drain(int tool, uint64_t limit_ns);

/* Destroys the tool's buffers. */
void buffers_forget(int tool);

/* In a forked child: resets the state of writers and delivery threads, which are not there. */
void buffers_adopt(void);
