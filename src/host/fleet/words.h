/*
 * A command line, built word by word.
 */
#pragma once

#include "host/core/cleanup.h"
#include "shared/base/macros.h"

#include <stdbool.h>

/* Zero is empty. */
struct words {
	char **items; /* ends with NULL once there is one */
	size_t count, room;
	bool has_failed; /* no memory: it is incomplete */
};

void words_add(struct words *words, const char *format, ...) PRINTF_LIKE(2, 3);
/* NULL: has_failed. */
void words_add_text(struct words *words, const char *word);
/* Words with single blanks between them. */
void words_add_line(struct words *words, const char *line);
void words_done(struct words *words);
DEFINE_STRUCT_CLEANUP(words, words_done)

/* As one quoted word for a shell: the caller frees it; NULL: no memory. */
char *word_quote(const char *word);
