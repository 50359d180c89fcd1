/*
 * Small foreign texts: a bounded cursor, whole files, and numbers typed by people.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>
#include <sys/types.h>

/* The rest to read.  Needs no terminating zero. */
struct text {
	const char *at, *end;
};

struct text text_of(const char *string);

/* Each take_ moves past what it found; after false nothing has moved. */
bool text_take_field(struct text *line, char separator, struct text *ret_field);
bool text_take_word(struct text *text, struct text *ret_word);
bool text_take_char(struct text *text, char wanted);
bool text_take_prefix(struct text *text, const char *prefix);
bool text_take_number(struct text *text, unsigned base, uint64_t *ret);
void text_skip_blanks(struct text *text);

static inline bool text_take_line(struct text *text, struct text *ret_line)
{
	return text_take_field(text, '\n', ret_line);
}

bool text_equals(struct text text, const char *string);

/* Copies as a terminated string, cut to the capacity (which must not be 0). */
void text_copy(struct text text, char *buffer, size_t capacity);
/* The same as people may see it (foreign.h). */
void text_copy_printable(struct text text, char *buffer, size_t capacity);

/* Cuts it to at most this many bytes (4 or more), after a word, and appends "...". */
void text_shorten(char *text, size_t size);

/* Replaces the text by a copy of the value; -ENOMEM keeps the old one. */
int text_set(char **text, const char *value) MUST_CHECK;

/* Reads a whole file, one in /proc included; *ret is terminated and the caller's to free.  -EFBIG
 * over limit. */
int text_read_file(const char *path, size_t limit, char **ret, size_t *ret_size) MUST_CHECK;

/* The same of a file that any user may have put there; -EINVAL: it is a pipe or a device. */
int text_read_regular(const char *path, size_t limit, char **ret, size_t *ret_size) MUST_CHECK;

/* Reads at most capacity - 1 bytes into a terminated buffer; the number of bytes or -errno, -EINVAL
 * of a pipe or a device. */
ssize_t text_read_small(const char *path, char *buffer, size_t capacity) MUST_CHECK;

/* User input.  The whole string must be valid: 0, or -EINVAL, or -ERANGE. */
int text_parse_number(const char *string, uint64_t max, uint64_t *ret) MUST_CHECK;
int text_parse_pid(const char *string, pid_t *ret) MUST_CHECK;
/* "10" and "10s" are seconds; "0.5", "250ms", "2m" and "0" are right too. */
int text_parse_duration(const char *string, uint64_t *ret_ns) MUST_CHECK;
