/*
 * Messages to the host: why something is not traced, or what went wrong. The texts are written into
 * the session's memory at its begin, so that saying one is a single store.
 */
#pragma once

#include "shared/wire/ring.h"

struct note {
	enum note_about about;
	uint32_t domains; /* bits of the explained domains, for NOTE_DOMAINS and NOTE_ABSENT */
	const char *text;
};

/* At the begin of a session: clears the list, then adds messages; any without room are not said. */
void notes_begin(struct rings *rings);
void notes_add(const struct note *notes, size_t count);

/* Any thread; does nothing without a session. */
void note_raise(const struct note *note);
/* On limpet's threads. */
void note_withdraw(const struct note *note);
