/*
 * Reads the letters, numbers and identifiers of a name, and prints.  Names come from targets: the
 * depth, the steps and the text are bounded, and references lead backwards only.
 */
#include "host/symbols/demangle/rust_v0_name.h"

#include "host/core/text/utf8.h"
#include "shared/base/macros.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX   128u
#define STEPS_MAX   100000u
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

/* Letters that are not ASCII, in letters that are (RFC 3492): as UTF-8, terminated.  The last
 * delimiter is between the ASCII part and the rest.  False for an invalid name, or without room. */
static bool punycode_decode(const char *bytes, size_t size, char *ret, size_t room)
{
	struct decoding self = { .bias = FIRST_BIAS, .letter = FIRST };
	const char *last = memrchr(bytes, '_', size), *at = last ? last + 1 : bytes;
	const char *end = bytes + size;
	uint32_t delta;

	if (at - bytes > (ptrdiff_t)LETTERS_MAX || at == end)
		return false;
	for (; bytes < last; bytes++)
		self.letters[self.count++] = (unsigned char)*bytes;
	while (at < end)
		if (!read_delta(&self, &at, end, &delta) || !punycode_insert(&self, delta))
			return false;
	return write_letters(&self, ret, room);
}

bool v0_fail(struct v0_name *name)
{
	name->is_bad = true;
	return false;
}

void v0_put(struct v0_name *name, const char *text, size_t size)
{
	if (name->is_bad || name->silent)
		return;
	if (size >= name->room - name->size) {
		v0_fail(name);
		return;
	}
	memcpy(name->text + name->size, text, size);
	name->size += size;
}

void v0_print(struct v0_name *name, const char *text)
{
	v0_put(name, text, strlen(text));
}

void v0_print_number(struct v0_name *name, const char *before, uint64_t number, const char *after)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%" PRIu64 "%s", before, number, after);
	v0_print(name, text);
}

char v0_peek(const struct v0_name *name)
{
	return name->is_bad || name->at == name->end ? '\0' : *name->at;
}

bool v0_eat(struct v0_name *name, char wanted)
{
	if (!wanted || v0_peek(name) != wanted)
		return false;
	name->at++;
	return true;
}

char v0_next(struct v0_name *name)
{
	char next = v0_peek(name);

	if (!next)
		v0_fail(name);
	else
		name->at++;
	return next;
}

bool v0_multiply_add(struct v0_name *name, uint64_t *number, uint64_t base, uint64_t digit)
{
	if (__builtin_mul_overflow(*number, base, number) ||
	    __builtin_add_overflow(*number, digit, number))
		return v0_fail(name);
	return true;
}

int v0_digit_62(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1;
}

uint64_t v0_read_base_62(struct v0_name *name)
{
	uint64_t number = 0;

	if (v0_eat(name, '_'))
		return 0;
	while (!name->is_bad && !v0_eat(name, '_')) {
		int digit = v0_digit_62(v0_next(name));

		if (digit < 0 || !v0_multiply_add(name, &number, 62, (uint64_t)digit)) {
			v0_fail(name);
			return 0;
		}
	}
	return v0_multiply_add(name, &number, 1, 1) ? number : 0;
}

uint64_t v0_read_optional(struct v0_name *name, char letter)
{
	uint64_t number = 0;

	if (!v0_eat(name, letter))
		return 0;
	number = v0_read_base_62(name);
	return v0_multiply_add(name, &number, 1, 1) ? number : 0;
}

static uint64_t read_decimal(struct v0_name *name)
{
	uint64_t number = 0;

	if (v0_eat(name, '0'))
		return 0;
	if (v0_peek(name) < '1' || v0_peek(name) > '9')
		v0_fail(name);
	while (v0_peek(name) >= '0' && v0_peek(name) <= '9')
		if (!v0_multiply_add(name, &number, 10, (uint64_t)(v0_next(name) - '0')))
			return 0;
	return number;
}

struct v0_identifier v0_read_plain_identifier(struct v0_name *name)
{
	struct v0_identifier ret = { .is_punycode = v0_eat(name, 'u') };
	uint64_t size = read_decimal(name);

	v0_eat(name, '_');
	if (name->is_bad || size > (uint64_t)(name->end - name->at)) {
		v0_fail(name);
		return ret;
	}
	ret.bytes = name->at;
	ret.size = (size_t)size;
	name->at += size;
	return ret;
}

struct v0_identifier v0_read_identifier(struct v0_name *name)
{
	uint64_t number = v0_read_optional(name, 's');
	struct v0_identifier ret = v0_read_plain_identifier(name);

	ret.number = number;
	return ret;
}

void v0_print_identifier(struct v0_name *name, const struct v0_identifier *identifier)
{
	char text[512];

	if (name->is_bad || !identifier->size)
		return;
	if (!identifier->is_punycode) {
		v0_put(name, identifier->bytes, identifier->size);
	} else if (punycode_decode(identifier->bytes, identifier->size, text, sizeof(text))) {
		v0_print(name, text);
	} else {
		v0_print(name, "punycode{");
		v0_put(name, identifier->bytes, identifier->size);
		v0_print(name, "}");
	}
}

void v0_print_lifetime(struct v0_name *name, uint64_t number)
{
	uint64_t depth;

	if (!number) {
		v0_print(name, "'_");
		return;
	}
	if (number > name->lifetimes) {
		v0_fail(name);
		return;
	}
	depth = name->lifetimes - number;
	if (depth < 26) {
		const char text[] = { '\'', (char)('a' + depth), '\0' };

		v0_print(name, text);
	} else {
		v0_print_number(name, "'_", depth, "");
	}
}

uint64_t v0_open_binder(struct v0_name *name)
{
	uint64_t count = v0_read_optional(name, 'G');

	if (!count || name->is_bad)
		return 0;
	if (name->silent) {
		if (__builtin_add_overflow(name->lifetimes, count, &name->lifetimes))
			v0_fail(name);
		return count;
	}
	v0_print(name, "for<");
	for (uint64_t i = 0; i < count && !name->is_bad; i++) {
		v0_print(name, i ? ", " : "");
		name->lifetimes++;
		v0_print_lifetime(name, 1);
	}
	v0_print(name, "> ");
	return count;
}

const char *v0_jump(struct v0_name *name)
{
	const char *start = name->at - 1;
	uint64_t target = v0_read_base_62(name);
	const char *back = name->at;

	if (name->is_bad || target >= (uint64_t)(start - name->begin)) {
		v0_fail(name);
		return NULL;
	}
	if (name->silent)
		return NULL;
	name->at = name->begin + target;
	return back;
}

void v0_follow_reference(struct v0_name *name, v0_printer *printer)
{
	const char *back = v0_jump(name);

	if (!back)
		return;
	printer(name);
	name->at = back;
}

bool v0_enter(struct v0_name *name)
{
	if (name->is_bad || ++name->steps > STEPS_MAX || ++name->depth > DEPTH_MAX)
		return v0_fail(name);
	return true;
}

void v0_leave(struct v0_name *name)
{
	name->depth--;
}

unsigned v0_print_list(struct v0_name *name, v0_printer *printer, const char *separator)
{
	unsigned count = 0;

	while (!name->is_bad && !v0_eat(name, 'E')) {
		if (count++)
			v0_print(name, separator);
		printer(name);
	}
	return count;
}
