/*
 * {"jobs": [{"hip_trace": true, "output_format": ["csv", "json"], ...}]}
 */
#include "input.h"

#include "host/core/cleanup.h"

#include <stdlib.h>
#include <string.h>

struct json_reader {
	struct input *input;
	struct text rest;
	char *room; /* for a text without its escapes; as long as the file */
};

static void skip_blanks(struct json_reader *self)
{
	static const char blanks[] = { ' ', '\t', '\r', '\n' };

	while (self->rest.at < self->rest.end && memchr(blanks, *self->rest.at, sizeof(blanks)))
		self->rest.at++;
}

static bool letter_take(struct json_reader *self, char wanted)
{
	skip_blanks(self);
	return text_take_char(&self->rest, wanted);
}

static int reader_refuse(const struct json_reader *self, struct err *err)
{
	return input_refuse(self->input, "it is not JSON of the form {\"jobs\": [{...}]}", err);
}

static bool take_hex(struct text *rest, unsigned *ret)
{
	*ret = 0;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef0123456789ABCDEF";
		const char *digit =
			rest->at < rest->end && *rest->at ? strchr(digits, *rest->at) : NULL;

		if (!digit)
			return false;
		*ret = *ret * 16 + (unsigned)(digit - digits) % 16;
		rest->at++;
	}
	return true;
}

/* As UTF-8; surrogate pairs are not supported: a file may have the character itself. */
static char *put_code(char *to, unsigned code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 63));
	} else {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 63));
		*to++ = (char)(0x80 | (code & 63));
	}
	return to;
}

static char *take_escape(struct text *rest, char *to)
{
	static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	char name = rest->at < rest->end ? *rest->at++ : 0;
	const char *found = name ? strchr(names, name) : NULL;
	unsigned code;

	if (found) {
		*to++ = means[found - names];
		return to;
	}
	if (name != 'u' || !take_hex(rest, &code) || !code || (code & 0xf800) == 0xd800)
		return NULL;
	return put_code(to, code);
}

/* Parses a text after its first quote; valid in `room` until the next one. */
static bool take_text(struct json_reader *self, struct text *ret)
{
	char *to = self->room;

	while (to && self->rest.at < self->rest.end) {
		char c = *self->rest.at++;

		if (c == '"') {
			*ret = (struct text){ self->room, to };
			return true;
		}
		if (!c)
			return false;
		if (c == '\\')
			to = take_escape(&self->rest, to);
		else
			*to++ = c;
	}
	return false;
}

/* true, 12.5: as it stands there. */
static bool take_bare(struct json_reader *self, struct text *ret)
{
	const char *begin = self->rest.at;

	while (self->rest.at < self->rest.end && *self->rest.at &&
	       strchr("abcdefghijklmnopqrstuvwxyzE0123456789+-.", *self->rest.at))
		self->rest.at++;
	*ret = (struct text){ begin, self->rest.at };
	return begin < self->rest.at;
}

static int take_scalar(struct json_reader *self, struct err *err)
{
	struct text value;

	if (letter_take(self, '"')) {
		if (!take_text(self, &value))
			return reader_refuse(self, err);
	} else if (!take_bare(self, &value)) {
		return reader_refuse(self, err);
	} else if (text_equals(value, "null")) {
		return 0;
	}
	return input_add_value(self->input, value, err);
}

static int take_values(struct json_reader *self, struct err *err)
{
	int r;

	if (!letter_take(self, '['))
		return take_scalar(self, err);
	if (letter_take(self, ']'))
		return 0;
	do
		r = take_scalar(self, err);
	while (!r && letter_take(self, ','));
	if (!r && !letter_take(self, ']'))
		r = reader_refuse(self, err);
	return r;
}

/* The name of a member, and the colon behind it. */
static int take_name(struct json_reader *self, struct text *ret, struct err *err)
{
	return letter_take(self, '"') && take_text(self, ret) && letter_take(self, ':')
		       ? 0
		       : reader_refuse(self, err);
}

static int take_entry(struct json_reader *self, struct err *err)
{
	struct text name = { 0 };
	int r = take_name(self, &name, err);

	if (!r)
		r = input_begin_entry(self->input, name, err);
	if (!r)
		r = take_values(self, err);
	return r ? r : input_end_entry(self->input, err);
}

static int take_job(struct json_reader *self, struct err *err)
{
	int r = letter_take(self, '{') ? input_begin_job(self->input, err)
				       : reader_refuse(self, err);

	if (r || letter_take(self, '}'))
		return r;
	do
		r = take_entry(self, err);
	while (!r && letter_take(self, ','));
	return r || letter_take(self, '}') ? r : reader_refuse(self, err);
}

static int take_jobs(struct json_reader *self, struct err *err)
{
	int r;

	if (!letter_take(self, '['))
		return reader_refuse(self, err);
	if (letter_take(self, ']'))
		return 0;
	do
		r = take_job(self, err);
	while (!r && letter_take(self, ','));
	return r || letter_take(self, ']') ? r : reader_refuse(self, err);
}

int input_read_json(struct input *input, struct text text, struct err *err)
{
	CLEANUP(free) char *room = malloc((size_t)(text.end - text.at) + 4);
	struct json_reader self = { input, text, room };
	struct text name = { 0 };
	int r;

	if (!room || !letter_take(&self, '{'))
		return reader_refuse(&self, err);
	r = take_name(&self, &name, err);
	if (!r && !text_equals(name, "jobs"))
		r = reader_refuse(&self, err);
	if (!r)
		r = take_jobs(&self, err);
	if (!r && !letter_take(&self, '}'))
		r = reader_refuse(&self, err);
	skip_blanks(&self);
	return r || self.rest.at == self.rest.end ? r : reader_refuse(&self, err);
}
