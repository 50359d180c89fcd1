/*
 * Draws texts into cells.
 */
#include "host/top/render/screen.h"

#include "host/core/text/foreign.h"
#include "host/core/text/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#define ELLIPSIS 0x2026u

int screen_init(struct screen *screen, unsigned width, unsigned height, bool is_ascii)
{
	size_t count = (size_t)width * height;

	*screen = (struct screen){ .width = width, .height = height, .is_ascii = is_ascii };
	screen->cells = calloc(count + 1, sizeof(*screen->cells));
	if (!screen->cells)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		screen->cells[i].rune = ' ';
	return 0;
}

void screen_done(struct screen *screen)
{
	free(screen->cells);
	*screen = (struct screen){ 0 };
}

/* Replacements of limpet's own characters on ASCII terminals. */
static const struct {
	uint32_t rune;
	char plain;
} substitutes[] = {
	{ ELLIPSIS, '~' }, { 0x2502, '|' }, { 0x00b7, '-' }, { 0x203a, '>' }, { 0x25be, '*' },
};

static uint32_t plain_rune(uint32_t rune)
{
	for (size_t i = 0; i < ARRAY_SIZE(substitutes); i++)
		if (substitutes[i].rune == rune)
			return (unsigned char)substitutes[i].plain;
	return '?';
}

/* The next character, and its width in cells: 1 or 2.  0 at the end. */
static uint32_t rune_next(const struct screen *screen, const char **text, unsigned *ret_width)
{
	struct letter letter = letter_at(*text);
	int width;

	*ret_width = 1;
	*text += letter.length;
	if (letter.kind != LETTER_PLAIN)
		return FOREIGN_SHOWN[0];
	if (letter.number < 0x7f)
		return letter.number;
	if (screen->is_ascii)
		return plain_rune(letter.number);
	width = wcwidth((wchar_t)letter.number);
	*ret_width = width == 2 ? 2 : 1;
	return width == 1 || width == 2 ? letter.number : (uint32_t)FOREIGN_SHOWN[0];
}

static void set_cell(struct screen *screen, const struct field *field, unsigned at, uint32_t rune,
		     enum style style)
{
	screen->cells[(size_t)field->y * screen->width + field->x + at] =
		(struct cell){ rune, (uint8_t)style };
}

/* The visible part of it. */
static struct field field_clip(const struct screen *screen, struct field field)
{
	if (field.y >= screen->height || field.x >= screen->width)
		field.width = 0;
	else
		field.width = MIN(field.width, screen->width - field.x);
	return field;
}

unsigned screen_text_width(const struct screen *screen, const char *text)
{
	unsigned all = 0, width;

	while (rune_next(screen, &text, &width))
		all += width;
	return all;
}

unsigned screen_put(struct screen *screen, struct field field, enum style style, const char *text)
{
	unsigned at = 0, width, room;
	uint32_t rune;

	field = field_clip(screen, field);
	room = field.width - (field.width && screen_text_width(screen, text) > field.width);
	while ((rune = rune_next(screen, &text, &width)) && at + width <= room) {
		set_cell(screen, &field, at, rune, style);
		if (width == 2)
			set_cell(screen, &field, at + 1, 0, style);
		at += width;
	}
	if (room < field.width)
		set_cell(screen, &field, at++, screen->is_ascii ? plain_rune(ELLIPSIS) : ELLIPSIS,
			 style);
	return at;
}

unsigned screen_format(struct screen *screen, struct field field, enum style style,
		       const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return screen_put(screen, field, style, text);
}

unsigned screen_put_right(struct screen *screen, struct field field, enum style style,
			  const char *text)
{
	unsigned width = screen_text_width(screen, text);

	if (width < field.width) {
		field.x += field.width - width;
		field.width = width;
	}
	return screen_put(screen, field, style, text);
}

void screen_fill(struct screen *screen, struct field field, enum style style)
{
	field = field_clip(screen, field);
	for (unsigned i = 0; i < field.width; i++)
		set_cell(screen, &field, i, ' ', style);
}

void screen_line(const struct screen *screen, unsigned y, char *ret, size_t room)
{
	const struct cell *cells = &screen->cells[(size_t)y * screen->width];
	unsigned width = screen->width;
	size_t at = 0;

	while (width && cells[width - 1].rune == ' ')
		width--;
	for (unsigned i = 0; i < width && at + UTF8_MAX < room; i++)
		if (cells[i].rune)
			at += utf8_put(ret + at, cells[i].rune);
	ret[at] = '\0';
}
