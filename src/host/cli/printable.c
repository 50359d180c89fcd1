/*
 * Makes names harmless for a terminal.
 */
#include "host/cli/printable.h"

#include <stdbool.h>
#include <string.h>

#include "host/core/utf8.h"

const char *printable(const char *text, char *buffer)
{
	const unsigned char *at = (const unsigned char *)text;
	char *end = buffer;

	while (*at && end - buffer < NAME_MAX_SHOWN - 4) {
		size_t length = utf8_length(at);
		/* U+0080 to U+009f are control characters too: some terminals obey them. */
		bool is_plain =
			length && *at >= 0x20 && *at != 0x7f && !(at[0] == 0xc2 && at[1] < 0xa0);

		memcpy(end, is_plain ? (const char *)at : "?", is_plain ? length : 1);
		end += is_plain ? length : 1;
		at += length ? length : 1;
	}
	*end = '\0';
	return buffer;
}
