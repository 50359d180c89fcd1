/*
 * Draws the help: the keys, and facts about the sampler.
 */
#include "host/top/render/render.h"

#include <stdio.h>
#include <string.h>

struct page {
	struct screen *screen;
	unsigned y, end;
};

static void put_line(struct page *page, unsigned x, enum style style, const char *text)
{
	if (page->y < page->end)
		screen_put(page->screen, rest_of(page->screen, page->y, x), style, text);
	page->y++;
}

/* As many columns as fit, cut between words where there are any. */
static size_t text_fitting(const char *text, size_t columns)
{
	size_t length = strcspn(text, "\n"), cut = columns;

	if (length <= columns)
		return length;
	while (cut && text[cut] != ' ')
		cut--;
	return cut ? cut : columns;
}

static void put_paragraph(struct page *page, unsigned x, const char *text)
{
	size_t columns = page->screen->width > x + 1 ? page->screen->width - x - 1 : 1;
	char line[512];

	columns = MIN(columns, sizeof(line) - 1);
	while (*text && page->y < page->end) {
		size_t length = text_fitting(text, columns);

		memcpy(line, text, length);
		line[length] = '\0';
		put_line(page, x, STYLE_PLAIN, line);
		text += length;
		text += *text == ' ' || *text == '\n';
	}
}

static void put_keys(struct page *page)
{
	for (const struct key_binding *key = key_bindings; key->name; key++) {
		if (page->y < page->end)
			screen_put(page->screen, rest_of(page->screen, page->y, 2), STYLE_STRONG,
				   key->name);
		put_line(page, 9, STYLE_PLAIN, key->help);
	}
}

void render_help(struct screen *screen, const struct picture *picture, struct area area)
{
	struct page page = { screen, area.y, area.y + area.height };
	char line[512];

	put_keys(&page);
	snprintf(line, sizeof(line), "sampler %s: %s", picture->source.sampler,
		 picture->source.summary);
	put_paragraph(&page, 0, line);
	if (picture->source.reasons[0])
		put_paragraph(&page, 0, picture->source.reasons);
	put_paragraph(
		&page, 0,
		"Shares are of the window (w). The newest samples are kept, half a million at "
		"most, in bounded memory; freeze writes those.");
}
