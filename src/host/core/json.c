/*
 * The streaming JSON writer.  Host only; keeps no text, allocates nothing.
 */
#include "host/core/json.h"

#include <inttypes.h>
#include <string.h>

/* The length of the well-formed UTF-8 sequence that starts here, 0 when there is none (RFC 3629).
 */
static size_t sequence_length(const unsigned char *at)
{
	size_t length = *at < 0x80   ? 1
			: *at < 0xc2 ? 0
			: *at < 0xe0 ? 2
			: *at < 0xf0 ? 3
			: *at < 0xf5 ? 4
				     : 0;

	for (size_t i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
	    (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
		return 0;
	return length;
}

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

static void write_string(FILE *out, const char *string)
{
	const unsigned char *at = (const unsigned char *)string;

	fputc('"', out);
	while (*at) {
		size_t length = sequence_length(at);

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

void json_bool(struct json *json, const char *key, bool value)
{
	write_key(json, key);
	fputs(value ? "true" : "false", json->out);
}
