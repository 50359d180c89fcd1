/*
 * Parses the grammar of RFC 2603 and prints meanwhile: paths, types, constants and the whole name.
 */
#include "host/symbols/demangle/rust.h"

#include "host/core/text/utf8.h"
#include "host/symbols/demangle/rust_v0_name.h"

#include <stdio.h>
#include <string.h>

static void print_type(struct v0_name *name);
static void print_path(struct v0_name *name, bool is_value);

static void print_value_path(struct v0_name *name)
{
	print_path(name, /* is_value */ true);
}

static void print_type_path(struct v0_name *name)
{
	print_path(name, /* is_value */ false);
}

/* Hexadecimal digits up to "_", in decimal where they fit. */
static void print_unsigned(struct v0_name *name)
{
	const char *digits = name->at;
	uint64_t number = 0;
	size_t count = 0;

	for (char c; (c = v0_next(name)) && c != '_'; count++) {
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

static bool read_small(struct v0_name *name, uint64_t max, uint64_t *ret)
{
	*ret = 0;
	for (char c; (c = v0_next(name)) && c != '_';) {
		int digit = v0_digit_62(c);

		if (digit < 0 || digit > 15 || !v0_multiply_add(name, ret, 16, (unsigned)digit))
			return v0_fail(name);
	}
	return !name->is_bad && *ret <= max ? true : v0_fail(name);
}

static void print_letter(struct v0_name *name)
{
	char text[UTF8_MAX], escape[16];
	uint64_t letter;
	size_t size;

	if (!read_small(name, 0x10ffff, &letter))
		return;
	size = utf8_put(text, (uint32_t)letter);
	if (!size)
		v0_fail(name);
	snprintf(escape, sizeof(escape), "\\u{%x}", (unsigned)letter);
	v0_print(name, "'");
	if (letter < 0x20 || letter == 0x7f || letter == '\'' || letter == '\\')
		v0_print(name, escape);
	else
		v0_put(name, text, size);
	v0_print(name, "'");
}

/* Numbers, letters and booleans: those of stable Rust. */
static void print_const(struct v0_name *name)
{
	char tag = v0_next(name);
	uint64_t value;

	if (!v0_enter(name))
		return;
	if (tag == 'p') {
		v0_print(name, "_");
	} else if (tag == 'B') {
		v0_follow_reference(name, print_const);
	} else if (tag == 'b') {
		if (read_small(name, 1, &value))
			v0_print(name, value ? "true" : "false");
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

static void print_generic_argument(struct v0_name *name)
{
	if (v0_eat(name, 'L'))
		v0_print_lifetime(name, v0_read_base_62(name));
	else if (v0_eat(name, 'K'))
		print_const(name);
	else
		print_type(name);
}

static void print_reference(struct v0_name *name, const char *mutable)
{
	uint64_t lifetime = v0_eat(name, 'L') ? v0_read_base_62(name) : 0;

	v0_print(name, "&");
	if (lifetime) {
		v0_print_lifetime(name, lifetime);
		v0_print(name, " ");
	}
	v0_print(name, mutable);
	print_type(name);
}

static void print_array(struct v0_name *name, bool has_length)
{
	v0_print(name, "[");
	print_type(name);
	if (has_length) {
		v0_print(name, "; ");
		print_const(name);
	}
	v0_print(name, "]");
}

static void print_tuple(struct v0_name *name)
{
	unsigned count;

	v0_print(name, "(");
	count = v0_print_list(name, print_type, ", ");
	v0_print(name, count == 1 ? ",)" : ")");
}

/* "C", or a name in which "-" is "_". */
static void print_abi(struct v0_name *name)
{
	struct v0_identifier abi;

	v0_print(name, "extern \"");
	if (v0_eat(name, 'C')) {
		v0_print(name, "C");
	} else {
		abi = v0_read_plain_identifier(name);
		for (size_t i = 0; !name->is_bad && i < abi.size; i++)
			v0_put(name, abi.bytes[i] == '_' ? "-" : &abi.bytes[i], 1);
	}
	v0_print(name, "\" ");
}

static void print_function(struct v0_name *name)
{
	uint64_t bound = v0_open_binder(name);

	if (v0_eat(name, 'U'))
		v0_print(name, "unsafe ");
	if (v0_eat(name, 'K'))
		print_abi(name);
	v0_print(name, "fn(");
	v0_print_list(name, print_type, ", ");
	v0_print(name, ")");
	if (!v0_eat(name, 'u')) {
		v0_print(name, " -> ");
		print_type(name);
	}
	name->lifetimes -= bound;
}

static void print_generics(struct v0_name *name, bool is_value)
{
	print_path(name, is_value);
	v0_print(name, is_value ? "::<" : "<");
	v0_print_list(name, print_generic_argument, ", ");
}

/* A path whose generics are left open for bindings; returns whether there are any.  A reference may
 * lead to such generics, too. */
static bool print_open_path(struct v0_name *name)
{
	const char *back;
	bool is_open = false;

	if (!v0_enter(name))
		return false;
	if (v0_eat(name, 'B')) {
		back = v0_jump(name);
		if (back) {
			is_open = print_open_path(name);
			name->at = back;
		}
	} else if (v0_eat(name, 'I')) {
		print_generics(name, /* is_value */ false);
		is_open = true;
	} else {
		print_type_path(name);
	}
	v0_leave(name);
	return is_open;
}

static void print_trait(struct v0_name *name)
{
	struct v0_identifier bound;
	bool is_open = print_open_path(name);

	while (!name->is_bad && v0_eat(name, 'p')) {
		v0_print(name, is_open ? ", " : "<");
		is_open = true;
		bound = v0_read_plain_identifier(name);
		v0_print_identifier(name, &bound);
		v0_print(name, " = ");
		print_type(name);
	}
	if (is_open)
		v0_print(name, ">");
}

static void print_dynamic(struct v0_name *name)
{
	uint64_t bound, lifetime;

	v0_print(name, "dyn ");
	bound = v0_open_binder(name);
	v0_print_list(name, print_trait, " + ");
	name->lifetimes -= bound;
	if (!v0_eat(name, 'L')) {
		v0_fail(name);
		return;
	}
	lifetime = v0_read_base_62(name);
	if (lifetime) {
		v0_print(name, " + ");
		v0_print_lifetime(name, lifetime);
	}
}

static const char *const basic_types['z' - 'a' + 1] = {
	['a' - 'a'] = "i8",    ['b' - 'a'] = "bool", ['c' - 'a'] = "char", ['d' - 'a'] = "f64",
	['e' - 'a'] = "str",   ['f' - 'a'] = "f32",  ['h' - 'a'] = "u8",   ['i' - 'a'] = "isize",
	['j' - 'a'] = "usize", ['l' - 'a'] = "i32",  ['m' - 'a'] = "u32",  ['n' - 'a'] = "i128",
	['o' - 'a'] = "u128",  ['p' - 'a'] = "_",    ['s' - 'a'] = "i16",  ['t' - 'a'] = "u16",
	['u' - 'a'] = "()",    ['v' - 'a'] = "...",  ['x' - 'a'] = "i64",  ['y' - 'a'] = "u64",
	['z' - 'a'] = "!",
};

/* False: the letter begins no type, but a path. */
static bool print_compound(struct v0_name *name, char letter)
{
	name->at++;
	switch (letter) {
	case 'R':
		print_reference(name, "");
		return true;
	case 'Q':
		print_reference(name, "mut ");
		return true;
	case 'P':
	case 'O':
		v0_print(name, letter == 'P' ? "*const " : "*mut ");
		print_type(name);
		return true;
	case 'A':
	case 'S':
		print_array(name, letter == 'A');
		return true;
	case 'T':
		print_tuple(name);
		return true;
	case 'F':
		print_function(name);
		return true;
	case 'D':
		print_dynamic(name);
		return true;
	case 'B':
		v0_follow_reference(name, print_type);
		return true;
	default:
		name->at--;
		return false;
	}
}

static void print_type(struct v0_name *name)
{
	char letter = v0_peek(name);
	const char *basic = letter >= 'a' && letter <= 'z' ? basic_types[letter - 'a'] : NULL;

	if (!v0_enter(name))
		return;
	if (basic) {
		name->at++;
		v0_print(name, basic);
	} else if (!letter || !print_compound(name, letter)) {
		print_type_path(name);
	}
	v0_leave(name);
}

/* "::name", or "::{closure#0}" of an unnamed one. */
static void print_nested(struct v0_name *name, bool is_value)
{
	char space = v0_next(name);
	struct v0_identifier inner;

	print_path(name, is_value);
	inner = v0_read_identifier(name);
	if (space >= 'A' && space <= 'Z') {
		const char other[] = { space, '\0' };

		v0_print(name, "::{");
		v0_print(name, space == 'C' ? "closure" : space == 'S' ? "shim" : other);
		v0_print(name, inner.size ? ":" : "");
		v0_print_identifier(name, &inner);
		v0_print_number(name, "#", inner.number, "}");
	} else if (space >= 'a' && space <= 'z') {
		v0_print(name, inner.size ? "::" : "");
		v0_print_identifier(name, &inner);
	} else {
		v0_fail(name);
	}
}

/* "<T>", "<T as Trait>". */
static void print_implementation(struct v0_name *name, char tag)
{
	if (tag != 'Y') { /* the path of the implementation itself is not shown */
		v0_read_optional(name, 's');
		name->silent++;
		print_type_path(name);
		name->silent--;
	}
	v0_print(name, "<");
	print_type(name);
	if (tag != 'M') {
		v0_print(name, " as ");
		print_type_path(name);
	}
	v0_print(name, ">");
}

static void print_path(struct v0_name *name, bool is_value)
{
	char tag = v0_next(name);
	struct v0_identifier crate;

	if (!v0_enter(name))
		return;
	if (tag == 'C') {
		crate = v0_read_identifier(name);
		v0_print_identifier(name, &crate);
	} else if (tag == 'N') {
		print_nested(name, is_value);
	} else if (tag == 'M' || tag == 'X' || tag == 'Y') {
		print_implementation(name, tag);
	} else if (tag == 'I') {
		print_generics(name, is_value);
		v0_print(name, ">");
	} else if (tag == 'B') {
		v0_follow_reference(name, is_value ? print_value_path : print_type_path);
	} else {
		v0_fail(name);
	}
	v0_leave(name);
}

bool rust_v0_demangle(const char *text, char *ret, size_t room)
{
	struct v0_name name = { .text = ret, .room = room };

	ret[0] = '\0';
	if (strncmp(text, "_R", 2) || text[2] < 'A' || text[2] > 'Z')
		return false;
	name.at = name.begin = text + 2;
	name.end = name.at + strlen(name.at);
	print_value_path(&name);
	/* The crate that made it, and a suffix of the linker or compiler: ".llvm.1234". */
	name.silent++;
	if (v0_peek(&name) && v0_peek(&name) != '.' && v0_peek(&name) != '$')
		print_type_path(&name);
	name.silent--;
	if (!name.is_bad && v0_peek(&name) && v0_peek(&name) != '.' && v0_peek(&name) != '$')
		v0_fail(&name);
	ret[name.is_bad ? 0 : name.size] = '\0';
	return !name.is_bad;
}
