/*
 * Copies of the tracer's notes, for trace_notes.c.
 */
#pragma once

#include "shared/wire/ring.h"

struct trace_notes {
	char texts[TRACE_NOTES][TRACE_NOTE_TEXT_MAX];
};
