/*
 * A command line that grows word by word.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* Zero is empty. */
struct words {
	char **items; /* ends with NULL once there is one */
	size_t count, room;
	bool has_failed; /* no memory: it is not whole */
};

void words_add(struct words *words, const char *format, ...) PRINTF_LIKE(2, 3);
void words_done(struct words *words);

static inline void words_done_at_scope_end(struct words *words)
{
	words_done(words);
}

/* As one word for a shell, between quotes: the caller's to free; NULL: no memory. */
char *word_quote(const char *word);
