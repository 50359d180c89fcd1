/*
 * Ranges and marks: the common part of all marker libraries. A record holds the call; the model
 * makes ranges of these records.
 */
#pragma once

#include "target/hooks/hook.h"
#include "target/hooks/writer.h"

#define MARKER(symbol, write, ...)                                                    \
	{                                                                             \
		symbol, NULL, DOMAIN_MARKER, HOOK_REGISTERS, write, NULL, __VA_ARGS__ \
	}
#define MARKS(symbol, write)  MARKER(symbol, write, 0)
#define PUSHES(symbol, write) MARKER(symbol, write, 1, { { VALUE_RESULT, CAPTURE_RESULT_INT } })
#define STARTS(symbol, write) MARKER(symbol, write, 1, { { VALUE_ID, CAPTURE_RESULT } })
#define STOPS(symbol)         MARKER(symbol, NULL, 1, { { VALUE_ID, CAPTURE_ARG0 } })

/* Writes the call, before its text. False: nothing was written, because there is no room, or
 * because the host has not decided yet whether memory may be probed. */
bool marker_write_call(struct writer *writer, const struct hook *hook,
		       const struct hook_frame *frame, uint64_t end);
/* True if `size` bytes (less than a page) can be read. */
bool marker_can_read(const void *at, size_t size);
/* Writes the text after the call's record; nothing if it is NULL, or cannot or must not be read. */
void marker_write_text(struct writer *writer, const char *text);
/* Writes the call, and its first argument as text. */
void marker_write_message(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end);
