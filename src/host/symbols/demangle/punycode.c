/*
 * Decodes punycode.  Foreign bytes: every number is checked, the letters are few.
 */
#include "host/symbols/demangle/punycode.h"

#include "host/core/text/utf8.h"
#include "shared/base/macros.h"

#include <string.h>

#define LETTERS_MAX 128u

enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, FIRST_BIAS = 72, FIRST = 0x80 };

struct decoding {
	uint32_t letters[LETTERS_MAX];
	uint32_t count;
	uint32_t bias, letter, at;
	bool has_inserted;
};

static uint32_t punycode_adapt(uint32_t delta, uint32_t count, bool is_first)
{
	uint32_t k = 0;

	delta /= is_first ? DAMP : 2;
	delta += delta / count;
	for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
		delta /= BASE - T_MIN;
	return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static int digit_of(char c)
{
	if (c >= 'a' && c <= 'z')
		return c - 'a';
	return c >= '0' && c <= '9' ? c - '0' + 26 : -1;
}

/* A number of variable length. */
static bool read_delta(const struct decoding *self, const char **at, const char *end, uint32_t *ret)
{
	uint32_t weight = 1;

	*ret = 0;
	for (uint32_t k = BASE;; k += BASE) {
		uint32_t limit = k <= self->bias ? T_MIN : MIN(k - self->bias, (uint32_t)T_MAX);
		int digit = *at < end ? digit_of(*(*at)++) : -1;
		uint32_t part;

		if (digit < 0 || __builtin_mul_overflow((uint32_t)digit, weight, &part) ||
		    __builtin_add_overflow(*ret, part, ret))
			return false;
		if ((uint32_t)digit < limit)
			return true;
		if (__builtin_mul_overflow(weight, BASE - limit, &weight))
			return false;
	}
}

static bool punycode_insert(struct decoding *self, uint32_t delta)
{
	uint32_t count = self->count + 1, index;

	if (self->count == LETTERS_MAX || __builtin_add_overflow(self->at, delta, &index) ||
	    __builtin_add_overflow(self->letter, index / count, &self->letter) ||
	    self->letter > 0x10ffff)
		return false;
	index %= count;
	memmove(self->letters + index + 1, self->letters + index,
		(self->count - index) * sizeof(self->letters[0]));
	self->letters[index] = self->letter;
	self->bias = punycode_adapt(delta, count, !self->has_inserted);
	self->has_inserted = true;
	self->at = index + 1;
	self->count = count;
	return true;
}

/* The ASCII part is before the last delimiter; returns its length with that. */
static size_t read_ascii(struct decoding *self, const char *bytes, size_t size, char delimiter)
{
	const char *last = memrchr(bytes, delimiter, size);
	size_t count = last ? (size_t)(last - bytes) : 0;

	self->count = (uint32_t)MIN(count, LETTERS_MAX);
	for (uint32_t i = 0; i < self->count; i++)
		self->letters[i] = (unsigned char)bytes[i];
	return last ? count + 1 : 0;
}

static bool write_letters(const struct decoding *self, char *ret, size_t room)
{
	size_t size = 0;

	for (uint32_t i = 0; i < self->count; i++) {
		char bytes[UTF8_MAX];
		size_t length = utf8_put(bytes, self->letters[i]);

		if (!length || room - size <= length)
			return false;
		memcpy(ret + size, bytes, length);
		size += length;
	}
	ret[size] = '\0';
	return true;
}

bool punycode_decode(const char *bytes, size_t size, char delimiter, char *ret, size_t room)
{
	struct decoding self = { .bias = FIRST_BIAS, .letter = FIRST };
	size_t ascii = read_ascii(&self, bytes, size, delimiter);
	const char *at = bytes + ascii, *end = bytes + size;
	uint32_t delta;

	if (ascii > LETTERS_MAX || at == end)
		return false;
	while (at < end)
		if (!read_delta(&self, &at, end, &delta) || !punycode_insert(&self, delta))
			return false;
	return write_letters(&self, ret, room);
}
