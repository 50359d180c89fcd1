/*
 * Ranges and marks: what libraries for them have in common.  What is written is the call; limpet's
 * model makes ranges of them.
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

/* The call, before its text.  False: nothing was written, as before the tracing began: there was no
 * room, or it is not known yet whether texts may be read. */
bool marker_write_call(struct writer *writer, const struct hook *hook,
		       const struct hook_frame *frame, uint64_t end);
/* Can so many bytes, less than a page, be read? */
bool marker_can_read(const void *at, size_t size);
/* What the program says, after the call; NULL: nothing, nor where it cannot be read, or where that
 * must not be tried. */
void marker_write_text(struct writer *writer, const char *text);
/* The call, and the text that is its first argument. */
void marker_write_message(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end);
