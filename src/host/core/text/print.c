/*
 * A small printf() for foreign text.  Numbers are formatted by the C library.
 */
#include "host/core/text/print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/text/foreign.h"
#include "host/core/text/utf8.h"

#define NUMBER_MAX 512 /* a double in full has 310 digits */

/* The output: one of both. */
struct sink {
	FILE *out;
	char *buffer;
	size_t room, used;
};

/* "%-16.*s" */
struct conversion {
	char flags[8], length[3], kind;
	int width, precision; /* -1: none */
};

static void print_put(struct sink *self, const char *text, size_t size)
{
	if (self->out) {
		fwrite(text, 1, size, self->out);
		return;
	}
	if (self->room <= self->used)
		return;
	size = MIN(size, self->room - self->used);
	memcpy(self->buffer + self->used, text, size);
	self->used += size;
}

static void print_pad(struct sink *self, int columns)
{
	for (; columns > 0; columns--)
		print_put(self, " ", 1);
}

/* Copies the characters of this set; returns what follows them. */
static const char *copy_set(const char *at, const char *set, char *ret, size_t room)
{
	size_t size = strspn(at, set), kept = MIN(size, room - 1);

	memcpy(ret, at, kept);
	ret[kept] = '\0';
	return at + size;
}

static const char *parse_number(const char *at, int *ret, va_list *arguments)
{
	char *end;

	if (*at == '*') {
		*ret = va_arg(*arguments, int);
		return at + 1;
	}
	*ret = (int)strtol(at, &end, 10);
	return end;
}

/* Parses a conversion after the '%'; returns what follows it. */
static const char *parse_conversion(const char *at, struct conversion *ret, va_list *arguments)
{
	*ret = (struct conversion){ .width = 0, .precision = -1 };
	at = copy_set(at, "-+ #0", ret->flags, sizeof(ret->flags));
	at = parse_number(at, &ret->width, arguments);
	if (*at == '.')
		at = parse_number(at + 1, &ret->precision, arguments);
	at = copy_set(at, "hljzt", ret->length, sizeof(ret->length));
	ret->kind = *at;
	return *at ? at + 1 : at;
}

/* Writes the text in letters, or only counts them (NULL).  Reads nothing beyond its size; of a cut
 * text, a partial last letter is dropped. */
static int put_letters(struct sink *self, const char *text, size_t size, bool is_cut)
{
	int count = 0;

	for (struct letter letter; size > 0; text += letter.length, size -= letter.length) {
		letter = letter_within(text, size);
		if (is_cut && letter.kind == LETTER_INVALID && letter.number >= 0xc2 &&
		    size < UTF8_MAX)
			break;
		if (self && letter.kind == LETTER_PLAIN)
			print_put(self, text, letter.length);
		else if (self)
			print_put(self, FOREIGN_SHOWN, strlen(FOREIGN_SHOWN));
		count++;
	}
	return count;
}

static void put_text(struct sink *self, const struct conversion *conversion, const char *text)
{
	bool is_left = conversion->width < 0 || strchr(conversion->flags, '-');
	size_t size = conversion->precision < 0 ? strlen(text)
						: strnlen(text, (size_t)conversion->precision);
	bool is_cut = conversion->precision >= 0 && size == (size_t)conversion->precision;
	int room = abs(conversion->width) - put_letters(NULL, text, size, is_cut);

	if (!is_left)
		print_pad(self, room);
	put_letters(self, text, size, is_cut);
	if (is_left)
		print_pad(self, room);
}

static intmax_t next_integer(const char *length, bool is_signed, va_list *arguments)
{
	if (*length && *length != 'h') /* all others have 64 bits */
		return va_arg(*arguments, intmax_t);
	return is_signed ? va_arg(*arguments, int) : (intmax_t)va_arg(*arguments, unsigned);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* By the same conversion, for the widest type of its kind. */
static void put_number(struct sink *self, const struct conversion *conversion, va_list *arguments)
{
	char format[64], precision[16] = "", text[NUMBER_MAX];
	bool is_real = strchr("feg", conversion->kind), is_pointer = conversion->kind == 'p';

	if (conversion->precision >= 0)
		snprintf(precision, sizeof(precision), ".%d", conversion->precision);
	snprintf(format, sizeof(format), "%%%s%.0d%s%s%c", conversion->flags, conversion->width,
		 precision, is_real || is_pointer ? "" : "j", conversion->kind);
	if (is_real)
		snprintf(text, sizeof(text), format, va_arg(*arguments, double));
	else if (is_pointer)
		snprintf(text, sizeof(text), format, va_arg(*arguments, void *));
	else
		snprintf(text, sizeof(text), format,
			 next_integer(conversion->length, strchr("di", conversion->kind),
				      arguments));
	print_put(self, text, strlen(text));
}

#pragma GCC diagnostic pop

static void put_conversion(struct sink *self, const struct conversion *conversion,
			   va_list *arguments)
{
	const char *text;

	if (conversion->kind == '%') {
		print_put(self, "%", 1);
	} else if (conversion->kind == 's') {
		text = va_arg(*arguments, const char *);
		put_text(self, conversion, text ? text : "");
	} else if (conversion->kind == 'c') {
		put_text(self, conversion, (char[]){ (char)va_arg(*arguments, int), '\0' });
	} else {
		put_number(self, conversion, arguments);
	}
}

static void put_all(struct sink *self, const char *format, va_list *arguments)
{
	struct conversion conversion;

	while (*format) {
		size_t plain = strcspn(format, "%");

		print_put(self, format, plain);
		format += plain;
		if (!*format)
			break;
		format = parse_conversion(format + 1, &conversion, arguments);
		put_conversion(self, &conversion, arguments);
	}
}

void print(FILE *out, const char *format, ...)
{
	struct sink sink = { .out = out };
	va_list arguments;

	va_start(arguments, format);
	put_all(&sink, format, &arguments);
	va_end(arguments);
}

/* The words in braces for one thing, or those for several.  Returns what follows them. */
static const char *put_choice(FILE *out, const char *braces, bool is_one)
{
	const char *bar = strchr(braces, '|'), *end = strchr(braces, '}');
	const char *from = is_one ? braces + 1 : bar + 1, *to = is_one ? bar : end;

	fwrite(from, 1, (size_t)(to - from), out);
	return end + 1;
}

void print_counted(FILE *out, uint64_t count, const char *text)
{
	while (count && *text) {
		size_t size = strcspn(text, "#{");

		fwrite(text, 1, size, out);
		text += size;
		if (*text == '{')
			text = put_choice(out, text, count == 1);
		else if (*text++ == '#')
			fprintf(out, "%" PRIu64, count);
		else
			break;
	}
}

void print_lines(FILE *out, const char *text)
{
	struct sink sink = { .out = out };

	while (*text) {
		size_t size = strcspn(text, "\n"), end = text[size] == '\n';

		put_letters(&sink, text, size, false);
		print_put(&sink, "\n", end);
		text += size + end;
	}
}

void print_prefixed(FILE *out, const char *prefix, const char *lines)
{
	for (const char *at = lines; *at; at += strcspn(at, "\n"), at += *at == '\n')
		print(out, "%s%.*s\n", prefix, (int)strcspn(at, "\n"), at);
}

void print_list(char *buffer, size_t room, const char *format, va_list arguments)
{
	struct sink sink = { .buffer = buffer, .room = room - 1 };
	va_list rest;

	va_copy(rest, arguments);
	put_all(&sink, format, &rest);
	va_end(rest);
	buffer[sink.used] = '\0';
}

void print_into(char *buffer, size_t room, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_list(buffer, room, format, arguments);
	va_end(arguments);
}

void print_append(char *buffer, size_t room, const char *format, ...)
{
	size_t used = strlen(buffer);
	va_list arguments;

	va_start(arguments, format);
	print_list(buffer + used, room - used, format, arguments);
	va_end(arguments);
}
