/*
 * Streams JSON, one object per line.  What is written is always valid: text that is not UTF-8 gets
 * the replacement character, as the names of processes may be any bytes.  Letters that foreign.h
 * keeps from people are written by their numbers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	unsigned depth;
	bool needs_comma;
};

/* Begins a line: {"event":... */
struct json json_event(FILE *out, const char *event);

/* Begins a line, or a member of the open object (key) or list (NULL). */
void json_object(struct json *json, const char *key);
void json_list(struct json *json, const char *key);

/* Ends the innermost object; the end of the outermost one ends the line and flushes it. */
void json_object_end(struct json *json);
void json_list_end(struct json *json);

/* One value each; key is NULL inside a list. */
void json_text(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
/* value / 10^digits, exactly: 1234567 with 3 digits is 1234.567. */
void json_fixed(struct json *json, const char *key, uint64_t value, unsigned digits);
/* The nearest number with so many digits. */
void json_rounded(struct json *json, const char *key, double value, unsigned digits);
/* As many digits as it needs to be read back, 15 at most; null where it is no number. */
void json_real(struct json *json, const char *key, double value);
/* Writes JSON text: "null". */
void json_raw(struct json *json, const char *key, const char *value);
void json_bool(struct json *json, const char *key, bool value);
/* A list of texts. */
void json_text_list(struct json *json, const char *key, const char *const *values, size_t count);
