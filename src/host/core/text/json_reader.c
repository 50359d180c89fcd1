/*
 * A JSON reader without a tree: a cursor, and its depth.  Input is foreign.
 */
#include "host/core/text/json_reader.h"

#include <string.h>

#define DEPTH_MAX 32u

struct json_reader json_reader_of(const char *text, size_t size)
{
	return (struct json_reader){ .at = text, .end = text + size };
}

static bool reader_fail(struct json_reader *self)
{
	self->has_failed = true;
	self->at = self->end;
	return false;
}

static char next_char(struct json_reader *self)
{
	while (self->at < self->end && strchr(" \t\r\n", *self->at) && *self->at)
		self->at++;
	return self->at < self->end ? *self->at : '\0';
}

static bool char_match(struct json_reader *self, char wanted)
{
	if (self->has_failed || next_char(self) != wanted)
		return false;
	self->at++;
	return true;
}

static bool nest_begin(struct json_reader *self, char opening)
{
	if (self->depth >= DEPTH_MAX || !char_match(self, opening))
		return reader_fail(self);
	self->depth++;
	self->is_behind = false;
	return true;
}

bool json_read_object(struct json_reader *self)
{
	return nest_begin(self, '{');
}

bool json_read_list(struct json_reader *self)
{
	return nest_begin(self, '[');
}

/* Before the next member or item: its comma.  False at the end of the innermost one. */
static bool nest_next(struct json_reader *self, char closing)
{
	if (self->has_failed || !self->depth)
		return false;
	if (char_match(self, closing)) {
		self->depth--;
		self->is_behind = true;
		return false;
	}
	if (self->is_behind && !char_match(self, ','))
		return reader_fail(self);
	self->is_behind = false;
	return true;
}

bool json_read_item(struct json_reader *self)
{
	return nest_next(self, ']');
}

bool json_read_member(struct json_reader *self, char *key, size_t room)
{
	if (!nest_next(self, '}'))
		return false;
	json_read_text(self, key, room);
	self->is_behind = false;
	return char_match(self, ':') || reader_fail(self);
}

struct sink {
	char *at, *end; /* room for the zero is behind the end */
};

static void sink_put(struct sink *sink, char letter)
{
	if (sink->at < sink->end)
		*sink->at++ = letter;
}

/* UTF-8 of a code point below 0x10000; halves of a pair are written each by itself. */
static void sink_put_point(struct sink *sink, unsigned point)
{
	if (point >= 0x800) {
		sink_put(sink, (char)(0xe0 | point >> 12));
		sink_put(sink, (char)(0x80 | (point >> 6 & 0x3f)));
		sink_put(sink, (char)(0x80 | (point & 0x3f)));
	} else if (point >= 0x80) {
		sink_put(sink, (char)(0xc0 | point >> 6));
		sink_put(sink, (char)(0x80 | (point & 0x3f)));
	} else if (point) {
		sink_put(sink, (char)point);
	}
}

static bool escape_read(struct json_reader *self, struct sink *sink)
{
	static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	static const char digits[] = "0123456789abcdef";
	char letter = self->at < self->end ? *self->at++ : '\0';
	const char *known = letter ? strchr(letters, letter) : NULL;
	unsigned point = 0;

	if (known) {
		sink_put(sink, meanings[known - letters]);
		return true;
	}
	if (letter != 'u')
		return reader_fail(self);
	for (unsigned i = 0; i < 4; i++, self->at++) {
		const char *digit =
			self->at < self->end && *self->at ? strchr(digits, *self->at | 0x20) : NULL;

		if (!digit)
			return reader_fail(self);
		point = point << 4 | (unsigned)(digit - digits);
	}
	sink_put_point(sink, point);
	return true;
}

void json_read_text(struct json_reader *self, char *ret, size_t room)
{
	struct sink sink = { ret, ret + room - 1 };

	*ret = '\0';
	if (!char_match(self, '"')) {
		reader_fail(self);
		return;
	}
	while (self->at < self->end && *self->at != '"') {
		char letter = *self->at++;

		if (letter == '\\' ? !escape_read(self, &sink) : (unsigned char)letter < 0x20) {
			reader_fail(self);
			return;
		}
		if (letter != '\\')
			sink_put(&sink, letter);
	}
	*sink.at = '\0';
	if (self->at++ >= self->end)
		reader_fail(self);
	self->is_behind = true;
}

static bool is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

uint64_t json_read_number(struct json_reader *self)
{
	uint64_t value = 0;

	if (!is_digit(next_char(self)))
		return reader_fail(self);
	if (*self->at == '0' && self->at + 1 < self->end && is_digit(self->at[1]))
		return reader_fail(self);
	for (; self->at < self->end && is_digit(*self->at); self->at++) {
		unsigned digit = (unsigned)(*self->at - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return reader_fail(self);
		value = value * 10 + digit;
	}
	self->is_behind = true;
	return value;
}

static bool is_bare(char letter)
{
	return is_digit(letter) || (letter >= 'a' && letter <= 'z') ||
	       (letter && strchr("E+-.", letter));
}

static bool word_match(struct json_reader *self, const char *word)
{
	size_t length = strlen(word);

	next_char(self);
	if ((size_t)(self->end - self->at) < length || memcmp(self->at, word, length) != 0)
		return false;
	self->at += length;
	self->is_behind = true;
	return true;
}

bool json_read_bool(struct json_reader *self)
{
	if (word_match(self, "true"))
		return true;
	return word_match(self, "false") ? false : reader_fail(self);
}

char json_read_kind(struct json_reader *self)
{
	return self->has_failed ? '\0' : next_char(self);
}

void json_read_bare(struct json_reader *self, char *ret, size_t room)
{
	struct sink sink = { ret, ret + room - 1 };

	if (!json_read_kind(self) || !is_bare(*self->at))
		reader_fail(self);
	for (; self->at < self->end && is_bare(*self->at); self->at++)
		sink_put(&sink, *self->at);
	*sink.at = '\0';
	self->is_behind = true;
}

/* A value that is neither an object nor a list; numbers also with a fraction. */
static void plain_pass(struct json_reader *self, char first)
{
	const char *begin = self->at;
	char ignored[8];

	if (first == '"') {
		json_read_text(self, ignored, sizeof(ignored));
		return;
	}
	if (word_match(self, "true") || word_match(self, "false") || word_match(self, "null"))
		return;
	while (self->at < self->end && *self->at && strchr("+-.0123456789eE", *self->at))
		self->at++;
	self->is_behind = true;
	if (self->at == begin)
		reader_fail(self);
}

/* A bit for each open level below `depth` marks objects. */
void json_read_past(struct json_reader *self)
{
	unsigned depth = self->depth;
	uint32_t objects = 0;
	char ignored[8];

	do {
		bool is_object = self->depth && objects >> (self->depth - 1) & 1;
		char first;

		if (self->depth > depth && is_object &&
		    !json_read_member(self, ignored, sizeof(ignored)))
			continue;
		if (self->depth > depth && !is_object && !json_read_item(self))
			continue;
		first = next_char(self);
		if (first == '{' && json_read_object(self))
			objects |= 1u << (self->depth - 1);
		else if (first == '[' && json_read_list(self))
			objects &= ~(1u << (self->depth - 1));
		else if (first != '{' && first != '[')
			plain_pass(self, first);
	} while (self->depth > depth && !self->has_failed);
}

bool json_read_whole(struct json_reader *self)
{
	return !self->has_failed && !self->depth && !next_char(self) && self->at == self->end;
}
