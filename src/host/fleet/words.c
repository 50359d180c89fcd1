/*
 * Builds command lines.
 */
#include "host/fleet/words.h"

#include "host/core/room.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Owns the word; NULL: there is no memory for it. */
static void word_own(struct words *self, char *word)
{
	/* Two at a time: for the NULL behind it, too. */
	if (!word || make_room(&self->items, self->count + 1, &self->room, sizeof(*self->items))) {
		self->has_failed = true;
		free(word);
		return;
	}
	self->items[self->count++] = word;
	self->items[self->count] = NULL;
}

void words_add(struct words *self, const char *format, ...)
{
	va_list arguments;
	char *word = NULL;

	va_start(arguments, format);
	if (vasprintf(&word, format, arguments) < 0)
		word = NULL;
	va_end(arguments);
	word_own(self, word);
}

void words_add_text(struct words *self, const char *word)
{
	word_own(self, word ? strdup(word) : NULL);
}

void words_add_line(struct words *self, const char *line)
{
	while (*line) {
		size_t length = strcspn(line, " ");

		word_own(self, strndup(line, length));
		line += length + (line[length] == ' ');
	}
}

void words_done(struct words *self)
{
	for (size_t i = 0; i < self->count; i++)
		free(self->items[i]);
	free(self->items);
	*self = (struct words){ 0 };
}

/* A quote ends the text, is quoted itself, and begins the text again. */
char *word_quote(const char *word)
{
	size_t size = strlen(word) * 4 + 3;
	char *quoted = malloc(size), *at = quoted;

	if (!quoted)
		return NULL;
	*at++ = '\'';
	for (; *word; word++) {
		if (*word == '\'') {
			memcpy(at, "'\\''", 4);
			at += 4;
		} else {
			*at++ = *word;
		}
	}
	*at++ = '\'';
	*at = '\0';
	return quoted;
}
