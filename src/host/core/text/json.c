/*
 * The streaming JSON writer; keeps no text, allocates nothing.
 */
#include "host/core/text/json.h"

#include <inttypes.h>
#include <math.h>

#include "host/core/text/foreign.h"

/* \b \f \n \r \t \" \\ have short names. */
static void write_letter(FILE *out, const char *at, const struct letter *letter)
{
	static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *escape = escapes; letter->length == 1 && *escape; escape += 2)
		if (*at == *escape) {
			fprintf(out, "\\%c", escape[1]);
			return;
		}
	if (letter->kind == LETTER_INVALID)
		fputs("\\ufffd", out);
	else if (letter->kind == LETTER_CONTROL)
		fprintf(out, "\\u%04x", letter->number);
	else
		fwrite(at, 1, letter->length, out);
}

static void write_string(FILE *out, const char *at)
{
	struct letter letter;

	fputc('"', out);
	for (;; at += letter.length) {
		const char *plain = at; /* what may be written as it is */

		while (*at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\')
			at++;
		fwrite(plain, 1, (size_t)(at - plain), out);
		letter = letter_at(at);
		if (!letter.length)
			break;
		write_letter(out, at, &letter);
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

static void json_begin(struct json *json, const char *key, char bracket)
{
	write_key(json, key);
	fputc(bracket, json->out);
	json->needs_comma = false;
	json->depth++;
}

static void json_end(struct json *json, char bracket)
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
	json_begin(json, key, '{');
}

void json_list(struct json *json, const char *key)
{
	json_begin(json, key, '[');
}

void json_object_end(struct json *json)
{
	json_end(json, '}');
}

void json_list_end(struct json *json)
{
	json_end(json, ']');
}

void json_text(struct json *json, const char *key, const char *value)
{
	write_key(json, key);
	write_string(json->out, value);
}

struct json json_event(FILE *out, const char *event)
{
	struct json json = { .out = out };

	json_object(&json, NULL);
	json_text(&json, "event", event);
	return json;
}

void json_text_list(struct json *json, const char *key, const char *const *values, size_t count)
{
	json_list(json, key);
	for (size_t i = 0; i < count; i++)
		json_text(json, NULL, values[i]);
	json_list_end(json);
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

/* JSON has no NaN or infinity: writes 0. */
void json_rounded(struct json *json, const char *key, double value, unsigned digits)
{
	write_key(json, key);
	fprintf(json->out, "%.*f", (int)digits, isfinite(value) ? value : 0);
}

void json_real(struct json *json, const char *key, double value)
{
	write_key(json, key);
	if (isfinite(value))
		fprintf(json->out, "%.15g", value);
	else
		fputs("null", json->out);
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
