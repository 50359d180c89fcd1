/*
 * Constants among generic arguments.
 */
#include "host/symbols/demangle/rust_v0_private.h"

#include "host/core/text/utf8.h"

#include <stdio.h>
#include <string.h>

/* Hexadecimal digits up to "_", in decimal where they fit. */
static void print_unsigned(struct v0_name *name)
{
	const char *digits = name->at;
	uint64_t number = 0;
	size_t count = 0;

	for (char c; (c = v0_take(name)) && c != '_'; count++) {
		int digit = v0_digit_62(c);

		if (digit < 0 || digit > 15) {
			v0_fail(name);
			return;
		}
		number = number << 4 | (unsigned)digit;
	}
	if (name->is_bad)
		return;
	if (count <= 16) {
		v0_print_number(name, "", number, "");
		return;
	}
	v0_print(name, "0x");
	v0_put(name, digits, count);
}

static bool take_small(struct v0_name *name, uint64_t max, uint64_t *ret)
{
	*ret = 0;
	for (char c; (c = v0_take(name)) && c != '_';) {
		int digit = v0_digit_62(c);

		if (digit < 0 || digit > 15 || !v0_multiply_add(name, ret, 16, (unsigned)digit))
			return v0_fail(name);
	}
	return !name->is_bad && *ret <= max ? true : v0_fail(name);
}

static void print_escape(struct v0_name *name, uint64_t letter)
{
	char text[16];

	snprintf(text, sizeof(text), "\\u{%x}", (unsigned)letter);
	v0_print(name, text);
}

static void print_letter(struct v0_name *name)
{
	char text[UTF8_MAX];
	uint64_t letter;
	size_t size;

	if (!take_small(name, 0x10ffff, &letter))
		return;
	size = utf8_put(text, (uint32_t)letter);
	if (!size)
		v0_fail(name);
	v0_print(name, "'");
	if (letter < 0x20 || letter == 0x7f || letter == '\'' || letter == '\\')
		print_escape(name, letter);
	else
		v0_put(name, text, size);
	v0_print(name, "'");
}

static void print_boolean(struct v0_name *name)
{
	uint64_t value;

	if (take_small(name, 1, &value))
		v0_print(name, value ? "true" : "false");
}

/* Numbers, letters and booleans: those of stable Rust. */
void v0_print_const(struct v0_name *name)
{
	char tag = v0_take(name);

	if (!v0_enter(name))
		return;
	if (tag == 'p') {
		v0_print(name, "_");
	} else if (tag == 'B') {
		v0_follow_reference(name, v0_print_const);
	} else if (tag == 'b') {
		print_boolean(name);
	} else if (tag == 'c') {
		print_letter(name);
	} else if (tag && strchr("htmyoj", tag)) {
		print_unsigned(name);
	} else if (tag && strchr("aslxni", tag)) {
		if (v0_eat(name, 'n'))
			v0_print(name, "-");
		print_unsigned(name);
	} else {
		v0_fail(name);
	}
	v0_leave(name);
}
