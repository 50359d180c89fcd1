/*
 * Parses the grammar of RFC 2603 and prints meanwhile: paths, and the whole name.
 */
#include "host/symbols/demangle/rust_v0.h"

#include "host/symbols/demangle/rust_v0_private.h"

#include <string.h>

static void print_value_path(struct v0_name *name)
{
	v0_print_path(name, /* is_value */ true);
}

static void print_type_path(struct v0_name *name)
{
	v0_print_path(name, /* is_value */ false);
}

/* "::name", or "::{closure#0}" of an unnamed one. */
static void print_nested(struct v0_name *name, bool is_value)
{
	char space = v0_take(name);
	struct v0_identifier inner;

	v0_print_path(name, is_value);
	inner = v0_take_identifier(name);
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
	if (tag != 'Y') { /* where it stands is not shown */
		v0_take_optional(name, 's');
		name->silent++;
		v0_print_path(name, /* is_value */ false);
		name->silent--;
	}
	v0_print(name, "<");
	v0_print_type(name);
	if (tag != 'M') {
		v0_print(name, " as ");
		v0_print_path(name, /* is_value */ false);
	}
	v0_print(name, ">");
}

static void print_generics(struct v0_name *name, bool is_value)
{
	v0_print_path(name, is_value);
	v0_print(name, is_value ? "::<" : "<");
	v0_print_list(name, v0_print_generic_argument, ", ");
}

static void print_crate(struct v0_name *name)
{
	struct v0_identifier crate = v0_take_identifier(name);

	v0_print_identifier(name, &crate);
}

void v0_print_path(struct v0_name *name, bool is_value)
{
	char tag = v0_take(name);

	if (!v0_enter(name))
		return;
	if (tag == 'C') {
		print_crate(name);
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

/* A reference may lead to generics that are to be left open, too. */
bool v0_print_open_path(struct v0_name *name)
{
	const char *back;
	bool is_open = false;

	if (!v0_enter(name))
		return false;
	if (v0_eat(name, 'B')) {
		back = v0_jump(name);
		if (back) {
			is_open = v0_print_open_path(name);
			name->at = back;
		}
	} else if (v0_eat(name, 'I')) {
		print_generics(name, /* is_value */ false);
		is_open = true;
	} else {
		v0_print_path(name, /* is_value */ false);
	}
	v0_leave(name);
	return is_open;
}

/* The crate that made it, and a suffix of the linker or compiler: ".llvm.1234". */
static void skip_rest(struct v0_name *name)
{
	name->silent++;
	if (v0_peek(name) && v0_peek(name) != '.' && v0_peek(name) != '$')
		v0_print_path(name, /* is_value */ false);
	name->silent--;
	if (!name->is_bad && v0_peek(name) && v0_peek(name) != '.' && v0_peek(name) != '$')
		v0_fail(name);
}

bool rust_v0_demangle(const char *text, char *ret, size_t room)
{
	struct v0_name name = { .text = ret, .room = room };

	ret[0] = '\0';
	if (strncmp(text, "_R", 2) || text[2] < 'A' || text[2] > 'Z')
		return false;
	name.at = name.begin = text + 2;
	name.end = name.at + strlen(name.at);
	v0_print_path(&name, /* is_value */ true);
	skip_rest(&name);
	if (name.is_bad) {
		ret[0] = '\0';
		return false;
	}
	ret[name.size] = '\0';
	return true;
}
