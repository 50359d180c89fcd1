/*
 * Functions of Ruby, PHP and Lua: what is read of foreign memory, and where frames belong among
 * native ones.
 */
#include "unit.h"

#include "host/interpreter/locations.h"
#include "host/interpreter/ruby/ruby.h"

#include <errno.h>
#include <stdlib.h>

#define BASE 0x10000u

static _Alignas(8) unsigned char image[8192];

static int read_image(void *context, uint64_t address, void *into, size_t size)
{
	(void)context;
	if (address < BASE || address - BASE > sizeof(image) ||
	    size > sizeof(image) - (address - BASE))
		return -EFAULT;
	memcpy(into, image + (address - BASE), size);
	return 0;
}

static const struct target_memory memory = { read_image, NULL };

static int read_by(const struct interpreter_kind *kind, unsigned version, uint64_t code,
		   struct function *ret)
{
	const struct interpreter interpreter = { .memory = memory, .version = version };

	return kind->read(&interpreter, code, ret);
}

static void put(size_t offset, uint64_t word)
{
	memcpy(image + offset, &word, sizeof(word));
}

static void put_half(size_t offset, uint32_t half)
{
	memcpy(image + offset, &half, sizeof(half));
}

static void knows_interpreters_by_name(void **state)
{
	(void)state;
	assert_true(interpreter_kind_has_name(&interpreter_perl, "perl"));
	assert_true(interpreter_kind_has_name(&interpreter_perl, "libperl.so.5.36.0"));
	assert_false(interpreter_kind_has_name(&interpreter_perl, "perlbench"));
	assert_true(interpreter_kind_has_name(&interpreter_php, "php-fpm8.2"));
	assert_false(interpreter_kind_has_name(&interpreter_php, "phpize"));
	assert_true(interpreter_kind_has_name(&interpreter_ruby, "libruby-3.1.so.3.1"));
	assert_false(interpreter_kind_has_name(&interpreter_ruby, "rubygems"));
	assert_true(interpreter_kind_has_name(&interpreter_lua, "lua5.4"));
	assert_true(interpreter_kind_has_name(&interpreter_lua, "liblua5.1.so.0.0.0"));
	assert_false(interpreter_kind_has_name(&interpreter_lua, "luajit"));
	assert_true(interpreter_kind_has_name(&interpreter_luajit, "libluajit-5.1.so.2.1.0"));
}

static void reads_texts_up_to_the_end_of_memory(void **state)
{
	char *text = NULL;

	(void)state;
	memset(image, 'x', sizeof(image));
	assert_int_equal(target_string(&memory, BASE, &text), 0);
	assert_int_equal(strlen(text), TARGET_TEXT_MAX);
	free(text);
	assert_int_equal(target_string(&memory, BASE + sizeof(image) - 10, &text), -EFAULT);
	memcpy(image + sizeof(image) - 5, "a\x1b\xff", 4);
	assert_int_equal(target_string(&memory, BASE + sizeof(image) - 5, &text), 0);
	assert_string_equal(text, "a?\xef\xbf\xbd");
	free(text);
}

/* Lines begin at the first instructions and at two far ones, of which one is in the second block.
 */
static void finds_lines_of_ruby(void **state)
{
	const struct ruby_layout *layout = ruby_layout_find(301);
	const unsigned begins[] = { 0, 3, 53, 54, 100, 600 };
	unsigned char body[160] = { 0 };
	struct function function = { 0 };
	uint64_t word;

	(void)state;
	memset(image, 0, sizeof(image));
	for (unsigned i = 0; i < ARRAY_SIZE(begins); i++)
		put_half(i * 12, 10 + i);
	for (unsigned i = 0; i < 54; i++) {
		uint64_t count = 0;

		for (unsigned k = 0; k < ARRAY_SIZE(begins); k++)
			count += begins[k] <= i;
		word = word_in(image, 1024 + i / 9 * 8) | count << i % 9 * 7;
		put(1024 + i / 9 * 8, word);
	}
	put(1024 + 48 + 16, 1);
	put(1024 + 48 + 16, word_in(image, 1024 + 48 + 16) | 1ull << 46);
	put(1024 + 48 + 80 + 16, 1ull << (600 - 54 - 512));
	memcpy(body + 4, &(uint32_t){ 700 }, 4);
	memcpy(body + layout->line_table, &(uint64_t){ BASE }, 8);
	memcpy(body + layout->line_count, &(uint32_t){ ARRAY_SIZE(begins) }, 4);
	memcpy(body + layout->line_index, &(uint64_t){ BASE + 1024 }, 8);
	assert_int_equal(ruby_lines_read(&memory, layout, body, &function), 0);
	assert_int_equal(function.line_count, ARRAY_SIZE(begins));
	for (unsigned i = 0; i < ARRAY_SIZE(begins); i++)
		assert_int_equal(function.lines[i].at, begins[i]);
	assert_int_equal(function_line_at(&function, 2), 10);
	assert_int_equal(function_line_at(&function, 99), 13);
	assert_int_equal(function_line_at(&function, 5000), 15);
	function_done(&function);
	memcpy(body + 4, &(uint32_t){ UINT32_MAX }, 4);
	assert_int_equal(ruby_lines_read(&memory, layout, body, &function), -EFAULT);
	function_done(&function);
}

/* It leads to its first thread, which leads back to it; what only looks so is not taken. */
static void finds_the_machine_of_ruby(void **state)
{
	(void)state;
	memset(image, 0, sizeof(image));
	assert_int_equal(ruby_machine_find(&memory, BASE, BASE + 512), 0);
	put(16, BASE + 2048);
	put(24, BASE + 1024);
	put(1024 + 32, BASE + 3000);
	put(1024 + 40, BASE + 1536);
	put(1536 + 24, BASE + 3000);
	assert_int_equal(ruby_machine_find(&memory, BASE, BASE + 512), 0);
	put(1536 + 32, BASE + 1024);
	assert_int_equal(ruby_machine_find(&memory, BASE, BASE + 512), BASE + 24);
}

static void put_php_text(size_t offset, const char *text)
{
	uint64_t hash = 5381;

	for (const char *at = text; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	put(offset, 6ull << 32 | 1);
	put(offset + 8, hash | 1ull << 63);
	put(offset + 16, strlen(text));
	memcpy(image + offset + 24, text, strlen(text));
}

static void reads_functions_of_php(void **state)
{
	struct function function = { 0 };

	(void)state;
	memset(image, 0, sizeof(image));
	image[0] = 2;
	put(8, BASE + 1024);
	put(16, BASE + 512);
	put(152, BASE + 2048);
	put(512 + 8, BASE + 1536);
	put_php_text(1024, "sell");
	put_php_text(1536, "Shop");
	put_php_text(2048, "/srv/shop.php");
	assert_int_equal(read_by(&interpreter_php, 802, BASE, &function), 0);
	assert_string_equal(function.name, "Shop::sell");
	assert_string_equal(function.file, "/srv/shop.php");
	assert_false(function.is_native);
	function_done(&function);
	image[1024 + 24] = 'S';
	assert_int_equal(read_by(&interpreter_php, 802, BASE, &function), -EFAULT);
}

static void put_text(size_t offset, unsigned kind_at, unsigned kind, const char *text)
{
	image[offset + kind_at] = (unsigned char)kind;
	memcpy(image + offset + 24, text, strlen(text) + 1);
}

/* Lua 5.4: distances from the line before, and one that is known. */
static void reads_functions_of_lua(void **state)
{
	const signed char lines[] = { 1, 0, -128, -2 };
	struct function function = { 0 };

	(void)state;
	memset(image, 0, sizeof(image));
	image[8] = 10;
	put_half(28, sizeof(lines));
	put_half(40, 1);
	put_half(44, 12);
	put(64, BASE + 4096);
	put(88, BASE + 2048);
	put(96, BASE + 3072);
	put(112, BASE + 1024);
	put_text(1024, 8, 4, "@/srv/shop.lua");
	memcpy(image + 2048, lines, sizeof(lines));
	put_half(3072, 2);
	put_half(3076, 1000);
	assert_int_equal(read_by(&interpreter_lua, 50404, BASE, &function), 0);
	assert_string_equal(function.name, "function <shop.lua:12>");
	assert_string_equal(function.file, "/srv/shop.lua");
	assert_int_equal(interpreter_lua.line(NULL, &function, BASE + 4096), 0);
	assert_int_equal(interpreter_lua.line(NULL, &function, BASE + 4096 + 4), 13);
	assert_int_equal(interpreter_lua.line(NULL, &function, BASE + 4096 + 8), 13);
	assert_int_equal(interpreter_lua.line(NULL, &function, BASE + 4096 + 12), 1000);
	assert_int_equal(interpreter_lua.line(NULL, &function, BASE + 4096 + 16), 998);
	function_done(&function);
	put_half(28, UINT32_MAX);
	assert_int_equal(read_by(&interpreter_lua, 50404, BASE, &function), -EFAULT);
	image[8] = 9;
	assert_int_equal(read_by(&interpreter_lua, 50404, BASE, &function), -EFAULT);
}

static void reads_functions_of_luajit(void **state)
{
	struct function function = { 0 };

	(void)state;
	memset(image, 0, sizeof(image));
	image[9] = 7;
	put_half(12, 4);
	put(64, BASE + 1024);
	put_half(76, 3);
	put(80, BASE + 2048);
	put_text(1024, 9, 4, "return 1\nand more");
	memcpy(image + 2048, "\1\2\3", 3);
	assert_int_equal(read_by(&interpreter_luajit, 201, BASE + 104, &function), 0);
	assert_string_equal(function.name, "<main>");
	assert_string_equal(function.file, "[string \"return 1?and more\"]");
	assert_int_equal(interpreter_luajit.line(NULL, &function, BASE + 104 + 8), 1);
	assert_int_equal(interpreter_luajit.line(NULL, &function, BASE + 104 + 16), 3);
	assert_int_equal(interpreter_luajit.line(NULL, &function, BASE), 0);
	function_done(&function);
	image[1024 + 9] = 5;
	assert_int_equal(read_by(&interpreter_luajit, 201, BASE + 104, &function), -EFAULT);
}

#define LOOP     1050
#define LOCATION 1

/* Native functions are those of odd codes. */
static int read_nothing(const struct interpreter *self, uint64_t code, struct function *ret)
{
	(void)self;
	if (code == 12)
		return -ENOENT;
	*ret = (struct function){ .name = strdup("f"), .file = strdup(""), .is_native = code & 1 };
	return 0;
}

static unsigned no_line(const struct interpreter *self, const struct function *function,
			uint64_t at)
{
	(void)self;
	(void)function;
	(void)at;
	return 0;
}

static const struct interpreter_kind kind = {
	.title = "Test", .language = "test", .read = read_nothing, .line = no_line
};

static void check_merge(enum stack_end end, const uint64_t *native, size_t native_count,
			const struct interpreted_frame *frames, size_t count,
			const uint64_t *expected, size_t expected_count)
{
	struct interpreter *interpreter = calloc(1, sizeof(*interpreter));
	unsigned char room[sizeof(struct sample) + 32 * sizeof(__u64)] = { 0 };
	struct sample *sample = (struct sample *)room;
	__u64 merged[48];
	size_t total;

	assert_non_null(interpreter);
	interpreter->kind = &kind;
	interpreter->loop[0] = (struct code_range){ 1000, 1100 };
	sample->end = (__u8)end;
	sample->user_count = (__u16)native_count;
	memcpy(sample->frames, native, native_count * sizeof(*native));
	total = interpreter_merge(interpreter, sample, frames, count, merged);
	interpreter_close(interpreter);
	assert_int_equal(total, expected_count);
	for (size_t i = 0; i < total; i++)
		assert_int_equal(is_language_location(merged[i]) ? LOCATION : merged[i],
				 expected[i]);
}

#define CALL         \
	{            \
		8, 0 \
	}
#define ENTRY                                     \
	{                                         \
		8, 1ull << INTERPRETED_MARK_SHIFT \
	}
#define NATIVE                                    \
	{                                         \
		9, 1ull << INTERPRETED_MARK_SHIFT \
	}
#define HIDDEN                                     \
	{                                          \
		12, 1ull << INTERPRETED_MARK_SHIFT \
	}
#define NONE                                      \
	{                                         \
		0, 1ull << INTERPRETED_MARK_SHIFT \
	}

#define CHECK_MERGE(end, ...)                                                                      \
	do {                                                                                       \
		const uint64_t expected[] = { __VA_ARGS__ };                                       \
                                                                                                   \
		check_merge(end, native, ARRAY_SIZE(native), frames, ARRAY_SIZE(frames), expected, \
			    ARRAY_SIZE(expected));                                                 \
	} while (0)

static void puts_functions_where_they_belong(void **state)
{
	const uint64_t native[] = { 7, LOOP, 8, LOOP, 9 };
	const struct interpreted_frame frames[] = {
		CALL, ENTRY, HIDDEN, NATIVE, CALL, ENTRY, NONE
	};

	(void)state;
	CHECK_MERGE(STACK_COMPLETE, 7, LOCATION, LOCATION, 8, LOCATION, LOCATION, LOCATION, 9);
	CHECK_MERGE(STACK_CUT, 7, LOCATION, LOCATION, 8, LOCATION, LOCATION, LOCATION, 9);
}

static void counts_loops_from_the_outside(void **state)
{
	const uint64_t native[] = { LOOP, 8, LOOP, 9 };
	const struct interpreted_frame frames[] = { ENTRY };

	(void)state;
	CHECK_MERGE(STACK_COMPLETE, LOOP, 8, LOCATION, 9);
	CHECK_MERGE(STACK_CUT, LOCATION, 8, LOOP, 9);
}

#define COMPILED_AT(number)             \
	{                               \
		KERNEL_COMPILED, number \
	}
#define OF_C                                                  \
	{                                                     \
		KERNEL_NATIVE, 1ull << INTERPRETED_MARK_SHIFT \
	}

/* Compiled code stays, in the functions that it was compiled from; so does a loop that runs a
 * function of C. */
static void keeps_compiled_code_and_runs_of_c(void **state)
{
	const uint64_t native[] = { 7, 2000, 8, LOOP, 9 };
	const struct interpreted_frame frames[] = { COMPILED_AT(1), CALL, ENTRY, OF_C };

	(void)state;
	CHECK_MERGE(STACK_COMPLETE, 7, 2000, LOCATION, LOCATION, 8, LOOP, 9);
}

static void leaves_out_what_no_loop_runs(void **state)
{
	const uint64_t native[] = { 7, 8 };
	const struct interpreted_frame frames[] = { CALL, ENTRY };

	(void)state;
	CHECK_MERGE(STACK_COMPLETE, 7, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_interpreters_by_name),
		cmocka_unit_test(reads_texts_up_to_the_end_of_memory),
		cmocka_unit_test(finds_lines_of_ruby),
		cmocka_unit_test(finds_the_machine_of_ruby),
		cmocka_unit_test(reads_functions_of_php),
		cmocka_unit_test(reads_functions_of_lua),
		cmocka_unit_test(reads_functions_of_luajit),
		cmocka_unit_test(keeps_compiled_code_and_runs_of_c),
		cmocka_unit_test(puts_functions_where_they_belong),
		cmocka_unit_test(counts_loops_from_the_outside),
		cmocka_unit_test(leaves_out_what_no_loop_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
