/*
 * Bytes as text that no channel changes.  Input is foreign.
 */
#include "host/core/text/base64.h"

#define NO_DIGIT 64u

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(char *ret, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i += 3) {
		uint32_t word = (uint32_t)at[i] << 16 |
				(i + 1 < size ? (uint32_t)at[i + 1] << 8 : 0) |
				(i + 2 < size ? at[i + 2] : 0u);

		*ret++ = digits[word >> 18];
		*ret++ = digits[word >> 12 & 63];
		*ret++ = i + 1 < size ? digits[word >> 6 & 63] : '=';
		*ret++ = i + 2 < size ? digits[word & 63] : '=';
	}
}

static uint32_t digit_value(char digit)
{
	if (digit >= 'A' && digit <= 'Z')
		return (uint32_t)(digit - 'A');
	if (digit >= 'a' && digit <= 'z')
		return (uint32_t)(digit - 'a') + 26;
	if (digit >= '0' && digit <= '9')
		return (uint32_t)(digit - '0') + 52;
	return digit == '+' ? 62 : digit == '/' ? 63 : NO_DIGIT;
}

bool base64_decode(const char *text, size_t length, void *ret, size_t room, size_t *ret_size)
{
	unsigned char *into = ret;
	size_t padding, size;

	if (length % 4)
		return false;
	padding = length && text[length - 1] == '=' ? 1u + (text[length - 2] == '=') : 0;
	size = length / 4 * 3 - padding;
	if (size > room)
		return false;
	for (size_t i = 0, at = 0; i < length; i += 4) {
		uint32_t word = 0;

		for (size_t k = 0; k < 4; k++) {
			bool is_padding = i + k >= length - padding;
			uint32_t value = is_padding ? 0 : digit_value(text[i + k]);

			if (value == NO_DIGIT)
				return false;
			word = word << 6 | value;
		}
		for (unsigned k = 0; k < 3 && at < size; k++)
			into[at++] = (unsigned char)(word >> (16 - 8 * k));
	}
	*ret_size = size;
	return true;
}
