/*
 * Types, and the generic arguments that they are.
 */
#include "host/symbols/demangle/rust_v0_private.h"

#include "shared/base/macros.h"

void v0_print_generic_argument(struct v0_name *name)
{
	if (v0_eat(name, 'L'))
		v0_print_lifetime(name, v0_take_base_62(name));
	else if (v0_eat(name, 'K'))
		v0_print_const(name);
	else
		v0_print_type(name);
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

static void print_reference(struct v0_name *name, const char *mutable)
{
	uint64_t lifetime = v0_eat(name, 'L') ? v0_take_base_62(name) : 0;

	v0_print(name, "&");
	if (lifetime) {
		v0_print_lifetime(name, lifetime);
		v0_print(name, " ");
	}
	v0_print(name, mutable);
	v0_print_type(name);
}

static void print_array(struct v0_name *name, bool has_length)
{
	v0_print(name, "[");
	v0_print_type(name);
	if (has_length) {
		v0_print(name, "; ");
		v0_print_const(name);
	}
	v0_print(name, "]");
}

/* "C", or a name in which "-" is "_". */
static void print_abi(struct v0_name *name)
{
	struct v0_identifier abi;

	v0_print(name, "extern \"");
	if (v0_eat(name, 'C')) {
		v0_print(name, "C");
	} else {
		abi = v0_take_plain_identifier(name);
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
	v0_print_list(name, v0_print_type, ", ");
	v0_print(name, ")");
	if (!v0_eat(name, 'u')) {
		v0_print(name, " -> ");
		v0_print_type(name);
	}
	name->lifetimes -= bound;
}

static void print_path_of_trait(struct v0_name *name)
{
	struct v0_identifier bound;
	bool is_open = v0_print_open_path(name);

	while (!name->is_bad && v0_eat(name, 'p')) {
		v0_print(name, is_open ? ", " : "<");
		is_open = true;
		bound = v0_take_plain_identifier(name);
		v0_print_identifier(name, &bound);
		v0_print(name, " = ");
		v0_print_type(name);
	}
	if (is_open)
		v0_print(name, ">");
}

static void print_dynamic(struct v0_name *name)
{
	uint64_t bound, lifetime;

	v0_print(name, "dyn ");
	bound = v0_open_binder(name);
	v0_print_list(name, print_path_of_trait, " + ");
	name->lifetimes -= bound;
	if (!v0_eat(name, 'L')) {
		v0_fail(name);
		return;
	}
	lifetime = v0_take_base_62(name);
	if (lifetime) {
		v0_print(name, " + ");
		v0_print_lifetime(name, lifetime);
	}
}

static void print_tuple(struct v0_name *name)
{
	unsigned count;

	v0_print(name, "(");
	count = v0_print_list(name, v0_print_type, ", ");
	v0_print(name, count == 1 ? ",)" : ")");
}

static void print_shared(struct v0_name *name)
{
	print_reference(name, "");
}

static void print_mutable(struct v0_name *name)
{
	print_reference(name, "mut ");
}

static void print_pointer(struct v0_name *name)
{
	v0_print(name, "*const ");
	v0_print_type(name);
}

static void print_mutable_pointer(struct v0_name *name)
{
	v0_print(name, "*mut ");
	v0_print_type(name);
}

static void print_sized_array(struct v0_name *name)
{
	print_array(name, /* has_length */ true);
}

static void print_slice(struct v0_name *name)
{
	print_array(name, /* has_length */ false);
}

static void print_referred_type(struct v0_name *name)
{
	v0_follow_reference(name, v0_print_type);
}

static const struct {
	char letter;
	v0_printer *printer;
} types[] = {
	{ 'R', print_shared },          { 'Q', print_mutable },     { 'P', print_pointer },
	{ 'O', print_mutable_pointer }, { 'A', print_sized_array }, { 'S', print_slice },
	{ 'T', print_tuple },           { 'F', print_function },    { 'D', print_dynamic },
	{ 'B', print_referred_type },
};

void v0_print_type(struct v0_name *name)
{
	const char *basic = basic_type(v0_peek(name));
	size_t i = 0;

	if (!v0_enter(name))
		return;
	while (i < ARRAY_SIZE(types) && types[i].letter != v0_peek(name))
		i++;
	if (basic) {
		name->at++;
		v0_print(name, basic);
	} else if (i < ARRAY_SIZE(types)) {
		name->at++;
		types[i].printer(name);
	} else {
		v0_print_path(name, /* is_value */ false);
	}
	v0_leave(name);
}
