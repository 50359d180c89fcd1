/*
 * The tables of foreign.h, and the writers that use them; allocates nothing.
 */
#include "host/core/text/foreign.h"

#include <stdbool.h>
#include <string.h>

#include "host/core/text/utf8.h"
#include "shared/base/macros.h"

/* Ascending. */
static const struct {
	uint32_t first, last;
} controls[] = {
	{ 0x0000, 0x001f }, /* C0 */
	{ 0x007f, 0x009f }, /* DEL, C1 */
	{ 0x061c, 0x061c }, /* Arabic letter mark */
	{ 0x200e, 0x200f }, /* marks of direction */
	{ 0x2028, 0x202e }, /* ends of lines and paragraphs; embedded directions */
	{ 0x2066, 0x2069 }, /* isolated directions */
	{ 0xfff9, 0xfffb }, /* annotations */
	{ 0xfffe, 0xffff }, /* no letters, and forbidden in XML */
};

struct rule {
	const char *control, *invalid; /* in place of such a letter */
	const char *kept;              /* control characters that mean no harm here */
	struct {
		char letter;
		const char *text;
	} escapes[6];
	const char *dangerous; /* as the first letter */
};

static const struct rule rules[] = {
	[FOREIGN_TEXT] = { .control = FOREIGN_SHOWN, .invalid = FOREIGN_SHOWN, .kept = "" },
	[FOREIGN_XML] = { .control = FOREIGN_SHOWN,
			  .invalid = FOREIGN_SHOWN,
			  .kept = "",
			  .escapes = { { '&', "&amp;" },
				       { '<', "&lt;" },
				       { '>', "&gt;" },
				       { '"', "&quot;" },
				       { '\'', "&#39;" } } },
	[FOREIGN_CSV] = { .control = UTF8_REPLACEMENT,
			  .invalid = UTF8_REPLACEMENT,
			  .kept = "\n\t",
			  .escapes = { { '"', "\"\"" } },
			  .dangerous = "=+-@\t" },
	[FOREIGN_FOLDED] = { .control = FOREIGN_SHOWN,
			     .invalid = FOREIGN_SHOWN,
			     .kept = "",
			     .escapes = { { ';', ":" } } },
};

static bool is_control(uint32_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(controls) && controls[i].first <= number; i++)
		if (number <= controls[i].last)
			return true;
	return false;
}

struct letter letter_at(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = utf8_length(at);
	uint32_t number = length > 1 ? *at & (0x7fu >> length) : *at;

	for (size_t i = 1; i < length; i++)
		number = number << 6 | (at[i] & 0x3f);
	if (!*at)
		return (struct letter){ LETTER_PLAIN, 0, 0 };
	if (!length)
		return (struct letter){ LETTER_INVALID, 1, number };
	return (struct letter){ is_control(number) ? LETTER_CONTROL : LETTER_PLAIN, length,
				number };
}

struct letter letter_within(const char *at, size_t size)
{
	char text[UTF8_MAX + 1] = "";

	memcpy(text, at, MIN(size, (size_t)UTF8_MAX));
	return letter_at(text);
}

/* The replacement of the letter; NULL: itself. */
static const char *foreign_substitute(const struct rule *rule, const struct letter *letter)
{
	if (letter->kind == LETTER_INVALID)
		return rule->invalid;
	if (letter->kind == LETTER_CONTROL)
		return letter->length == 1 && strchr(rule->kept, (int)letter->number)
			       ? NULL
			       : rule->control;
	for (size_t i = 0; i < ARRAY_SIZE(rule->escapes) && rule->escapes[i].text; i++)
		if (letter->length == 1 && rule->escapes[i].letter == (char)letter->number)
			return rule->escapes[i].text;
	return NULL;
}

void foreign_write(FILE *out, enum foreign_format format, const char *text)
{
	const struct rule *rule = &rules[format];

	/* Spreadsheets evaluate text that begins so.  Numbers are harmless. */
	if (rule->dangerous && *text && strchr(rule->dangerous, *text) &&
	    text[1 + strspn(text + 1, "0123456789.")])
		fputc('\'', out);
	for (struct letter letter; (letter = letter_at(text)).length; text += letter.length) {
		const char *instead = foreign_substitute(rule, &letter);

		if (instead)
			fputs(instead, out);
		else
			fwrite(text, 1, letter.length, out);
	}
}

char *foreign_copy(char *buffer, size_t capacity, const char *text)
{
	size_t used = 0;

	for (struct letter letter; (letter = letter_at(text)).length; text += letter.length) {
		const char *instead = foreign_substitute(&rules[FOREIGN_TEXT], &letter);
		size_t size = instead ? strlen(instead) : letter.length;

		if (used + size >= capacity)
			break;
		memcpy(buffer + used, instead ? instead : text, size);
		used += size;
	}
	buffer[used] = '\0';
	return buffer;
}

void foreign_clean(char *text, const char *kept)
{
	char *end = text;

	for (struct letter letter; (letter = letter_at(text)).length; text += letter.length) {
		bool is_kept = letter.kind == LETTER_PLAIN || strchr(kept, *text);

		if (is_kept)
			memmove(end, text, letter.length);
		else
			*end = FOREIGN_SHOWN[0];
		end += is_kept ? letter.length : 1;
	}
	*end = '\0';
}
