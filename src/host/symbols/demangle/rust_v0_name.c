/*
 * Reads the letters, numbers and identifiers of a name, and prints.  Names come from targets: the
 * depth, the steps and the text are bounded, and references lead backwards only.
 */
#include "host/symbols/demangle/rust_v0_name.h"

#include "host/symbols/demangle/punycode.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 128u
#define STEPS_MAX 100000u

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
	} else if (punycode_decode(identifier->bytes, identifier->size, '_', text, sizeof(text))) {
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
