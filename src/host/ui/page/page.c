/*
 * The files of the page, by their paths.
 */
#include "host/ui/page/page.h"

#include "shared/base/macros.h"

#include <string.h>

extern const unsigned char page_html[], page_html_end[];
extern const unsigned char page_js[], page_js_end[];
extern const unsigned char page_css[], page_css_end[];

static const struct page_part parts[] = {
	{ "/", "text/html; charset=utf-8", page_html, page_html_end },
	{ "/app.js", "text/javascript; charset=utf-8", page_js, page_js_end },
	{ "/app.css", "text/css; charset=utf-8", page_css, page_css_end },
};

const struct page_part *page_find(const char *path, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (size == strlen(parts[i].path) && memcmp(path, parts[i].path, size) == 0)
			return &parts[i];
	return NULL;
}
