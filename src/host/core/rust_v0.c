/*
 * Reads the grammar of RFC 2603 and prints as it goes.  Names come from targets: the depth, the
 * steps and the text are bounded, and references lead backwards only.
 */
#include "host/core/rust_v0.h"

#include "host/core/punycode.h"
#include "host/core/utf8.h"
#include "shared/base/macros.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 128u
#define STEPS_MAX 100000u

struct name {
	const char *at, *begin, *end;
	char *text;
	size_t size, room;
	unsigned depth, steps;
	unsigned silent;    /* read, but not printed */
	uint64_t lifetimes; /* bound by what is around */
	bool is_bad;
};

struct identifier {
	const char *bytes;
	size_t size;
	bool is_punycode;
	uint64_t number; /* tells those of the same name apart */
};

static void print_type(struct name *name);
static void print_path(struct name *name, bool is_value);

static bool fail(struct name *name)
{
	name->is_bad = true;
	return false;
}

static void put(struct name *name, const char *text, size_t size)
{
	if (name->is_bad || name->silent)
		return;
	if (size >= name->room - name->size) {
		fail(name);
		return;
	}
	memcpy(name->text + name->size, text, size);
	name->size += size;
}

static void print(struct name *name, const char *text)
{
	put(name, text, strlen(text));
}

static void print_number(struct name *name, const char *before, uint64_t number, const char *after)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%" PRIu64 "%s", before, number, after);
	print(name, text);
}

static char peek(const struct name *name)
{
	return name->is_bad || name->at == name->end ? '\0' : *name->at;
}

static bool eat(struct name *name, char wanted)
{
	if (!wanted || peek(name) != wanted)
		return false;
	name->at++;
	return true;
}

static char take(struct name *name)
{
	char next = peek(name);

	if (!next)
		fail(name);
	else
		name->at++;
	return next;
}

static bool multiply_add(struct name *name, uint64_t *number, uint64_t base, uint64_t digit)
{
	if (__builtin_mul_overflow(*number, base, number) ||
	    __builtin_add_overflow(*number, digit, number))
		return fail(name);
	return true;
}

static int digit_62(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1;
}

/* "_" is 0, "0_" is 1. */
static uint64_t take_base_62(struct name *name)
{
	uint64_t number = 0;

	if (eat(name, '_'))
		return 0;
	while (!name->is_bad && !eat(name, '_')) {
		int digit = digit_62(take(name));

		if (digit < 0 || !multiply_add(name, &number, 62, (uint64_t)digit)) {
			fail(name);
			return 0;
		}
	}
	return multiply_add(name, &number, 1, 1) ? number : 0;
}

/* 0 where the letter is not there, else the number behind it and one. */
static uint64_t take_optional(struct name *name, char letter)
{
	uint64_t number = 0;

	if (!eat(name, letter))
		return 0;
	number = take_base_62(name);
	return multiply_add(name, &number, 1, 1) ? number : 0;
}

static uint64_t take_decimal(struct name *name)
{
	uint64_t number = 0;

	if (eat(name, '0'))
		return 0;
	if (peek(name) < '1' || peek(name) > '9')
		fail(name);
	while (peek(name) >= '0' && peek(name) <= '9')
		if (!multiply_add(name, &number, 10, (uint64_t)(take(name) - '0')))
			return 0;
	return number;
}

static struct identifier take_plain_identifier(struct name *name)
{
	struct identifier ret = { .is_punycode = eat(name, 'u') };
	uint64_t size = take_decimal(name);

	eat(name, '_');
	if (name->is_bad || size > (uint64_t)(name->end - name->at)) {
		fail(name);
		return ret;
	}
	ret.bytes = name->at;
	ret.size = (size_t)size;
	name->at += size;
	return ret;
}

static struct identifier take_identifier(struct name *name)
{
	uint64_t number = take_optional(name, 's');
	struct identifier ret = take_plain_identifier(name);

	ret.number = number;
	return ret;
}

static void print_identifier(struct name *name, const struct identifier *identifier)
{
	char text[512];

	if (name->is_bad || !identifier->size)
		return;
	if (!identifier->is_punycode) {
		put(name, identifier->bytes, identifier->size);
	} else if (punycode_decode(identifier->bytes, identifier->size, '_', text, sizeof(text))) {
		print(name, text);
	} else {
		print(name, "punycode{");
		put(name, identifier->bytes, identifier->size);
		print(name, "}");
	}
}

static void print_lifetime(struct name *name, uint64_t number)
{
	uint64_t depth;

	if (!number) {
		print(name, "'_");
		return;
	}
	if (number > name->lifetimes) {
		fail(name);
		return;
	}
	depth = name->lifetimes - number;
	if (depth < 26) {
		const char text[] = { '\'', (char)('a' + depth), '\0' };

		print(name, text);
	} else {
		print_number(name, "'_", depth, "");
	}
}

/* "for<'a, 'b> "; how many there are. */
static uint64_t open_binder(struct name *name)
{
	uint64_t count = take_optional(name, 'G');

	if (!count || name->is_bad)
		return 0;
	if (name->silent) {
		if (__builtin_add_overflow(name->lifetimes, count, &name->lifetimes))
			fail(name);
		return count;
	}
	print(name, "for<");
	for (uint64_t i = 0; i < count && !name->is_bad; i++) {
		print(name, i ? ", " : "");
		name->lifetimes++;
		print_lifetime(name, 1);
	}
	print(name, "> ");
	return count;
}

/* What stands further ahead is printed once more, here. */
static void follow_reference(struct name *name, void (*printer)(struct name *name))
{
	const char *place = name->at - 1;
	uint64_t target = take_base_62(name);
	const char *back = name->at;

	if (name->is_bad || target >= (uint64_t)(place - name->begin)) {
		fail(name);
		return;
	}
	if (name->silent)
		return;
	name->at = name->begin + target;
	printer(name);
	name->at = back;
}

static bool enter(struct name *name)
{
	if (name->is_bad || ++name->steps > STEPS_MAX || ++name->depth > DEPTH_MAX)
		return fail(name);
	return true;
}

static void leave(struct name *name)
{
	name->depth--;
}

/* Up to "E", with a separator between them; how many there were. */
static unsigned print_list(struct name *name, void (*printer)(struct name *name),
			   const char *separator)
{
	unsigned count = 0;

	while (!name->is_bad && !eat(name, 'E')) {
		if (count++)
			print(name, separator);
		printer(name);
	}
	return count;
}

/* Hexadecimal digits up to "_", in decimal where they fit. */
static void print_unsigned(struct name *name)
{
	const char *digits = name->at;
	uint64_t number = 0;
	size_t count = 0;

	for (char c; (c = take(name)) && c != '_'; count++) {
		int digit = digit_62(c);

		if (digit < 0 || digit > 15) {
			fail(name);
			return;
		}
		number = number << 4 | (unsigned)digit;
	}
	if (name->is_bad)
		return;
	if (count <= 16) {
		print_number(name, "", number, "");
		return;
	}
	print(name, "0x");
	put(name, digits, count);
}

static bool take_small(struct name *name, uint64_t max, uint64_t *ret)
{
	*ret = 0;
	for (char c; (c = take(name)) && c != '_';) {
		int digit = digit_62(c);

		if (digit < 0 || digit > 15 || !multiply_add(name, ret, 16, (unsigned)digit))
			return fail(name);
	}
	return !name->is_bad && *ret <= max ? true : fail(name);
}

static void print_escape(struct name *name, uint64_t letter)
{
	char text[16];

	snprintf(text, sizeof(text), "\\u{%x}", (unsigned)letter);
	print(name, text);
}

static void print_letter(struct name *name)
{
	char text[UTF8_MAX];
	uint64_t letter;
	size_t size;

	if (!take_small(name, 0x10ffff, &letter))
		return;
	size = utf8_put(text, (uint32_t)letter);
	if (!size)
		fail(name);
	print(name, "'");
	if (letter < 0x20 || letter == 0x7f || letter == '\'' || letter == '\\')
		print_escape(name, letter);
	else
		put(name, text, size);
	print(name, "'");
}

static void print_boolean(struct name *name)
{
	uint64_t value;

	if (take_small(name, 1, &value))
		print(name, value ? "true" : "false");
}

/* Numbers, letters and booleans: what stable Rust has. */
static void print_const(struct name *name)
{
	char tag = take(name);

	if (!enter(name))
		return;
	if (tag == 'p') {
		print(name, "_");
	} else if (tag == 'B') {
		follow_reference(name, print_const);
	} else if (tag == 'b') {
		print_boolean(name);
	} else if (tag == 'c') {
		print_letter(name);
	} else if (tag && strchr("htmyoj", tag)) {
		print_unsigned(name);
	} else if (tag && strchr("aslxni", tag)) {
		if (eat(name, 'n'))
			print(name, "-");
		print_unsigned(name);
	} else {
		fail(name);
	}
	leave(name);
}

static void print_generic_argument(struct name *name)
{
	if (eat(name, 'L'))
		print_lifetime(name, take_base_62(name));
	else if (eat(name, 'K'))
		print_const(name);
	else
		print_type(name);
}

static const struct {
	char letter;
	const char *text;
} basic_types[] = {
	{ 'a', "i8" },  { 'b', "bool" }, { 'c', "char" },  { 'd', "f64" },   { 'e', "str" },
	{ 'f', "f32" }, { 'h', "u8" },   { 'i', "isize" }, { 'j', "usize" }, { 'l', "i32" },
	{ 'm', "u32" }, { 'n', "i128" }, { 'o', "u128" },  { 'p', "_" },     { 's', "i16" },
	{ 't', "u16" }, { 'u', "()" },   { 'v', "..." },   { 'x', "i64" },   { 'y', "u64" },
	{ 'z', "!" },
};

static const char *basic_type(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(basic_types); i++)
		if (basic_types[i].letter == letter)
			return basic_types[i].text;
	return NULL;
}

static void print_reference(struct name *name, const char *mutable)
{
	uint64_t lifetime = eat(name, 'L') ? take_base_62(name) : 0;

	print(name, "&");
	if (lifetime) {
		print_lifetime(name, lifetime);
		print(name, " ");
	}
	print(name, mutable);
	print_type(name);
}

static void print_array(struct name *name, bool has_length)
{
	print(name, "[");
	print_type(name);
	if (has_length) {
		print(name, "; ");
		print_const(name);
	}
	print(name, "]");
}

/* "C", or a name in which "-" is "_". */
static void print_abi(struct name *name)
{
	struct identifier abi;

	print(name, "extern \"");
	if (eat(name, 'C')) {
		print(name, "C");
	} else {
		abi = take_plain_identifier(name);
		for (size_t i = 0; !name->is_bad && i < abi.size; i++)
			put(name, abi.bytes[i] == '_' ? "-" : &abi.bytes[i], 1);
	}
	print(name, "\" ");
}

static void print_function(struct name *name)
{
	uint64_t bound = open_binder(name);

	if (eat(name, 'U'))
		print(name, "unsafe ");
	if (eat(name, 'K'))
		print_abi(name);
	print(name, "fn(");
	print_list(name, print_type, ", ");
	print(name, ")");
	if (!eat(name, 'u')) {
		print(name, " -> ");
		print_type(name);
	}
	name->lifetimes -= bound;
}

/* A path whose generics are left open for what is bound; whether there are any. */
static bool print_open_path(struct name *name);

static void print_path_of_trait(struct name *name)
{
	struct identifier bound;
	bool is_open = print_open_path(name);

	while (!name->is_bad && eat(name, 'p')) {
		print(name, is_open ? ", " : "<");
		is_open = true;
		bound = take_plain_identifier(name);
		print_identifier(name, &bound);
		print(name, " = ");
		print_type(name);
	}
	if (is_open)
		print(name, ">");
}

static void print_dynamic(struct name *name)
{
	uint64_t bound, lifetime;

	print(name, "dyn ");
	bound = open_binder(name);
	print_list(name, print_path_of_trait, " + ");
	name->lifetimes -= bound;
	if (!eat(name, 'L')) {
		fail(name);
		return;
	}
	lifetime = take_base_62(name);
	if (lifetime) {
		print(name, " + ");
		print_lifetime(name, lifetime);
	}
}

static void print_tuple(struct name *name)
{
	unsigned count;

	print(name, "(");
	count = print_list(name, print_type, ", ");
	print(name, count == 1 ? ",)" : ")");
}

static void print_shared(struct name *name)
{
	print_reference(name, "");
}

static void print_mutable(struct name *name)
{
	print_reference(name, "mut ");
}

static void print_pointer(struct name *name)
{
	print(name, "*const ");
	print_type(name);
}

static void print_mutable_pointer(struct name *name)
{
	print(name, "*mut ");
	print_type(name);
}

static void print_sized_array(struct name *name)
{
	print_array(name, /* has_length */ true);
}

static void print_slice(struct name *name)
{
	print_array(name, /* has_length */ false);
}

static void print_referred_type(struct name *name)
{
	follow_reference(name, print_type);
}

static const struct {
	char letter;
	void (*printer)(struct name *name);
} types[] = {
	{ 'R', print_shared },          { 'Q', print_mutable },     { 'P', print_pointer },
	{ 'O', print_mutable_pointer }, { 'A', print_sized_array }, { 'S', print_slice },
	{ 'T', print_tuple },           { 'F', print_function },    { 'D', print_dynamic },
	{ 'B', print_referred_type },
};

static void print_type(struct name *name)
{
	const char *basic = basic_type(peek(name));
	size_t i = 0;

	if (!enter(name))
		return;
	while (i < ARRAY_SIZE(types) && types[i].letter != peek(name))
		i++;
	if (basic) {
		name->at++;
		print(name, basic);
	} else if (i < ARRAY_SIZE(types)) {
		name->at++;
		types[i].printer(name);
	} else {
		print_path(name, /* is_value */ false);
	}
	leave(name);
}

static void print_value_path(struct name *name)
{
	print_path(name, /* is_value */ true);
}

static void print_type_path(struct name *name)
{
	print_path(name, /* is_value */ false);
}

/* "::name", or "::{closure#0}" of what has no name that a person gave it. */
static void print_nested(struct name *name, bool is_value)
{
	char space = take(name);
	struct identifier inner;

	print_path(name, is_value);
	inner = take_identifier(name);
	if (space >= 'A' && space <= 'Z') {
		const char other[] = { space, '\0' };

		print(name, "::{");
		print(name, space == 'C' ? "closure" : space == 'S' ? "shim" : other);
		print(name, inner.size ? ":" : "");
		print_identifier(name, &inner);
		print_number(name, "#", inner.number, "}");
	} else if (space >= 'a' && space <= 'z') {
		print(name, inner.size ? "::" : "");
		print_identifier(name, &inner);
	} else {
		fail(name);
	}
}

/* "<T>", "<T as Trait>". */
static void print_implementation(struct name *name, char tag)
{
	if (tag != 'Y') { /* where it stands is not shown */
		take_optional(name, 's');
		name->silent++;
		print_path(name, /* is_value */ false);
		name->silent--;
	}
	print(name, "<");
	print_type(name);
	if (tag != 'M') {
		print(name, " as ");
		print_path(name, /* is_value */ false);
	}
	print(name, ">");
}

static void print_generics(struct name *name, bool is_value)
{
	print_path(name, is_value);
	print(name, is_value ? "::<" : "<");
	print_list(name, print_generic_argument, ", ");
}

static void print_crate(struct name *name)
{
	struct identifier crate = take_identifier(name);

	print_identifier(name, &crate);
}

static void print_path(struct name *name, bool is_value)
{
	char tag = take(name);

	if (!enter(name))
		return;
	if (tag == 'C') {
		print_crate(name);
	} else if (tag == 'N') {
		print_nested(name, is_value);
	} else if (tag == 'M' || tag == 'X' || tag == 'Y') {
		print_implementation(name, tag);
	} else if (tag == 'I') {
		print_generics(name, is_value);
		print(name, ">");
	} else if (tag == 'B') {
		follow_reference(name, is_value ? print_value_path : print_type_path);
	} else {
		fail(name);
	}
	leave(name);
}

/* A reference may lead to generics that are to be left open, too. */
static bool print_open_path(struct name *name)
{
	const char *place = name->at, *back;
	bool is_open = false;
	uint64_t target;

	if (!enter(name))
		return false;
	if (eat(name, 'B')) {
		target = take_base_62(name);
		back = name->at;
		if (name->is_bad || target >= (uint64_t)(place - name->begin)) {
			fail(name);
		} else if (!name->silent) {
			name->at = name->begin + target;
			is_open = print_open_path(name);
			name->at = back;
		}
	} else if (eat(name, 'I')) {
		print_generics(name, /* is_value */ false);
		is_open = true;
	} else {
		print_path(name, /* is_value */ false);
	}
	leave(name);
	return is_open;
}

/* The crate that made it, and what a linker or compiler appended: ".llvm.1234". */
static void skip_rest(struct name *name)
{
	name->silent++;
	if (peek(name) && peek(name) != '.' && peek(name) != '$')
		print_path(name, /* is_value */ false);
	name->silent--;
	if (!name->is_bad && peek(name) && peek(name) != '.' && peek(name) != '$')
		fail(name);
}

bool rust_v0_demangle(const char *text, char *ret, size_t room)
{
	struct name name = { .text = ret, .room = room };

	ret[0] = '\0';
	if (strncmp(text, "_R", 2) || text[2] < 'A' || text[2] > 'Z')
		return false;
	name.at = name.begin = text + 2;
	name.end = name.at + strlen(name.at);
	print_path(&name, /* is_value */ true);
	skip_rest(&name);
	if (name.is_bad) {
		ret[0] = '\0';
		return false;
	}
	ret[name.size] = '\0';
	return true;
}
