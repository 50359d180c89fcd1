/*
 * A small printf() for foreign text.  Numbers are formatted by the C library.
 */
#include "host/core/text/print.h"

#include <stdbool.h>
#include <stdint.h>
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
static const char *take_all(const char *at, const char *these, char *ret, size_t room)
{
	size_t size = strspn(at, these), kept = MIN(size, room - 1);

	memcpy(ret, at, kept);
	ret[kept] = '\0';
	return at + size;
}

static const char *take_number(const char *at, int *ret, va_list *arguments)
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
static const char *take_conversion(const char *at, struct conversion *ret, va_list *arguments)
{
	*ret = (struct conversion){ .width = 0, .precision = -1 };
	at = take_all(at, "-+ #0", ret->flags, sizeof(ret->flags));
	at = take_number(at, &ret->width, arguments);
	if (*at == '.')
		at = take_number(at + 1, &ret->precision, arguments);
	at = take_all(at, "hljzt", ret->length, sizeof(ret->length));
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

/* The conversion again, for the widest type of its kind. */
static void print_spell(const struct conversion *self, const char *length, char *ret, size_t room)
{
	char precision[16] = "";

	if (self->precision >= 0)
		snprintf(precision, sizeof(precision), ".%d", self->precision);
	snprintf(ret, room, "%%%s%.0d%s%s%c", self->flags, self->width, precision, length,
		 self->kind);
}

static intmax_t take_signed(const char *length, va_list *arguments)
{
	if (!strcmp(length, "ll"))
		return va_arg(*arguments, long long);
	if (*length == 'j')
		return va_arg(*arguments, intmax_t);
	if (*length && *length != 'h')
		return va_arg(*arguments, long);
	return va_arg(*arguments, int);
}

static uintmax_t take_unsigned(const char *length, va_list *arguments)
{
	if (!strcmp(length, "ll"))
		return va_arg(*arguments, unsigned long long);
	if (*length == 'j')
		return va_arg(*arguments, uintmax_t);
	if (*length && *length != 'h')
		return va_arg(*arguments, unsigned long);
	return va_arg(*arguments, unsigned);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void put_pointer(struct sink *self, const struct conversion *conversion, const void *pointer)
{
	char format[64], text[NUMBER_MAX];

	print_spell(conversion, "", format, sizeof(format));
	snprintf(text, sizeof(text), format, pointer);
	print_put(self, text, strlen(text));
}

static void put_number(struct sink *self, const struct conversion *conversion, va_list *arguments)
{
	char format[64], text[NUMBER_MAX];
	bool is_real = strchr("feg", conversion->kind), is_signed = strchr("di", conversion->kind);

	print_spell(conversion, is_real ? "" : "j", format, sizeof(format));
	if (is_real)
		snprintf(text, sizeof(text), format, va_arg(*arguments, double));
	else if (is_signed)
		snprintf(text, sizeof(text), format, take_signed(conversion->length, arguments));
	else
		snprintf(text, sizeof(text), format, take_unsigned(conversion->length, arguments));
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
	} else if (conversion->kind == 'p') {
		put_pointer(self, conversion, va_arg(*arguments, void *));
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
		format = take_conversion(format + 1, &conversion, arguments);
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
