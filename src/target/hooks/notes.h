/*
 * Sentences for whoever records: why something is not traced, or what went wrong.  Their texts are
 * written into the session's memory when it begins, so that saying one is storing a word.
 */
#pragma once

#include "shared/wire/ring.h"

struct note {
	enum note_about about;
	uint32_t domains; /* bits of those that it explains, of NOTE_DOMAINS and NOTE_ABSENT */
	const char *text;
};

/* For a session that begins: nothing is known yet.  Then all that may be said; what there is no
 * room for is never said. */
void notes_begin(struct rings *rings);
void notes_add(const struct note *notes, size_t count);

/* On any thread; where no session is, nothing happens. */
void note_say(const struct note *note);
/* On threads of ours. */
void note_take_back(const struct note *note);
