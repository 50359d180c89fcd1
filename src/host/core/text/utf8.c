/*
 * Validates UTF-8.
 */
#include "host/core/text/utf8.h"

#include <stdlib.h>
#include <string.h>

size_t utf8_length(const unsigned char *at)
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

size_t utf8_put(char ret[UTF8_MAX], uint32_t letter)
{
	size_t length = letter < 0x80 ? 1 : letter < 0x800 ? 2 : letter < 0x10000 ? 3 : 4;
	static const unsigned char first[] = { 0, 0x00, 0xc0, 0xe0, 0xf0 };

	if (letter > 0x10ffff || (letter >= 0xd800 && letter < 0xe000))
		return 0;
	for (size_t i = length - 1; i > 0; i--, letter >>= 6)
		ret[i] = (char)(0x80 | (letter & 0x3f));
	ret[0] = (char)(first[length] | letter);
	return length;
}

bool utf8_is_valid(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = 1;

	while (*at && (length = utf8_length(at)) > 0)
		at += length;
	return !*at;
}

char *utf8_mended(const char *text)
{
	const size_t replacement = strlen(UTF8_REPLACEMENT);
	const unsigned char *at = (const unsigned char *)text;
	char *mended = malloc(strlen(text) * replacement + 1), *end = mended;

	while (mended && *at) {
		size_t length = utf8_length(at);

		memcpy(end, length ? (const char *)at : UTF8_REPLACEMENT,
		       length ? length : replacement);
		end += length ? length : replacement;
		at += length ? length : 1;
	}
	if (mended)
		*end = '\0';
	return mended;
}
