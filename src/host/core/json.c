/*
 * The streaming JSON writer.  Host only; keeps no text, allocates nothing.
 */
#include "host/core/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "host/core/utf8.h"

static void write_character(FILE *out, const unsigned char *at, size_t length)
{
	static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	if (length == 1)
		for (const char *escape = escapes; *escape; escape += 2)
			if ((char)*at == *escape) {
				fprintf(out, "\\%c", escape[1]);
				return;
			}
	if (length == 1 && (*at < 0x20 || *at == 0x7f))
		fprintf(out, "\\u%04x", *at);
	else
		fwrite(at, 1, length, out);
}

/* How many characters may be written as they are. */
static size_t plain_length(const unsigned char *at)
{
	size_t length = 0;

	while (at[length] >= 0x20 && at[length] < 0x7f && at[length] != '"' && at[length] != '\\')
		length++;
	return length;
}

static void write_string(FILE *out, const char *string)
{
	const unsigned char *at = (const unsigned char *)string;

	fputc('"', out);
	for (;;) {
		size_t length = plain_length(at);

		fwrite(at, 1, length, out);
		at += length;
		if (!*at)
			break;
		length = utf8_length(at);

		if (length)
			write_character(out, at, length);
		else
			fputs("\\ufffd", out);
		at += length ? length : 1;
	}
	fputc('"', out);
}

static void write_key(struct json *json, const char *key)
{
	if (json->needs_comma)
		fputc(',', json->out);
	json->needs_comma = true;
	if (key) {
		write_string(json->out, key);
		fputc(':', json->out);
	}
}

static void begin(struct json *json, const char *key, char bracket)
{
	write_key(json, key);
	fputc(bracket, json->out);
	json->needs_comma = false;
	json->depth++;
}

static void end(struct json *json, char bracket)
{
	fputc(bracket, json->out);
	json->needs_comma = true;
	if (--json->depth > 0)
		return;
	fputc('\n', json->out);
	fflush(json->out);
	json->needs_comma = false;
}

void json_object(struct json *json, const char *key)
{
	begin(json, key, '{');
}

void json_list(struct json *json, const char *key)
{
	begin(json, key, '[');
}

void json_object_end(struct json *json)
{
	end(json, '}');
}

void json_list_end(struct json *json)
{
	end(json, ']');
}

void json_text(struct json *json, const char *key, const char *value)
{
	write_key(json, key);
	write_string(json->out, value);
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	write_key(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void json_signed(struct json *json, const char *key, int64_t value)
{
	write_key(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_fixed(struct json *json, const char *key, uint64_t value, unsigned digits)
{
	uint64_t unit = 1;

	for (unsigned i = 0; i < digits; i++)
		unit *= 10;
	write_key(json, key);
	fprintf(json->out, "%" PRIu64, value / unit);
	if (digits)
		fprintf(json->out, ".%0*" PRIu64, (int)digits, value % unit);
}

/* JSON has no word for what is no number: 0 stands for it. */
void json_rounded(struct json *json, const char *key, double value, unsigned digits)
{
	write_key(json, key);
	fprintf(json->out, "%.*f", (int)digits, isfinite(value) ? value : 0);
}

void json_raw(struct json *json, const char *key, const char *value)
{
	write_key(json, key);
	fputs(value, json->out);
}

void json_bool(struct json *json, const char *key, bool value)
{
	write_key(json, key);
	fputs(value ? "true" : "false", json->out);
}
