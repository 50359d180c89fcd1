/*
 * Go's table of functions, in each layout that is known: small tables that are made here.
 */
#include "unit.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "host/unwind/rules/gopclntab.h"

#define TEXT    0x401000u
#define ROOM    1024u
#define HEADER  8u
#define NAMES   128u
#define UNITS   256u
#define FILES   288u
#define VALUES  320u
#define FUNCS   512u
#define RECORD  64u /* of the second function, from FUNCS on */
#define NO_TREE 0xffffffffu

/* What differs between layouts; see gopclntab.c. */
struct shape {
	uint32_t magic;
	bool is_short; /* offsets of four bytes from the begin of the code */
	unsigned name, frame, unit, flags, rest;
	unsigned node_size, node_name, node_caller;
};

static const struct shape shapes[] = {
	{ 0xfffffffa, false, 8, 20, 36, 41, 44, 20, 12, 16 },
	{ 0xfffffff0, true, 4, 16, 32, 37, 40, 20, 12, 16 },
	{ 0xfffffff1, true, 4, 16, 32, 41, 44, 16, 4, 8 },
};

static unsigned char bytes[ROOM];

static void put(unsigned at, uint64_t value, unsigned size)
{
	memcpy(bytes + at, &value, size);
}

static void put_header(const struct shape *shape)
{
	static const unsigned parts[] = { NAMES, UNITS, FILES, VALUES, FUNCS };
	unsigned at = HEADER + 16;

	put(0, shape->magic, 4);
	put(6, 4, 1);
	put(7, 8, 1);
	put(HEADER, 2, 8);
	if (shape->is_short) {
		put(at, TEXT, 8);
		at += 8;
	}
	for (unsigned i = 0; i < 5; i++)
		put(at + i * 8, parts[i], 8);
}

/* The second function: 16 instructions, the frame begins with the third one. */
static void put_record(const struct shape *shape)
{
	unsigned at = FUNCS + RECORD;

	put(at + shape->name, 7, 4);
	put(at + shape->frame, 1, 4);
	put(at + shape->frame + 4, 8, 4);
	put(at + shape->frame + 8, 16, 4);
	put(at + shape->frame + 12, 3, 4); /* tables of values */
	put(at + shape->unit, 1, 4);
	put(at + shape->flags, GO_WRITES_SP, 1);
	put(at + shape->flags + 2, 4, 1); /* data */
	put(at + shape->rest + 8, 24, 4); /* of what is inlined */
	put(at + shape->rest + 12, NO_TREE, 8);
	if (shape->is_short)
		put(at + shape->rest + 24, 0x40, 4);
	else
		put(at + ((shape->rest + 12 + 7) & ~7u) + 24, 0x500040, 8);
}

static void put_functions(const struct shape *shape)
{
	unsigned size = shape->is_short ? 4 : 8;
	uint64_t base = shape->is_short ? 0 : TEXT;

	put(FUNCS, base, size);
	put(FUNCS + 2 * size, base + 0x40, size);
	put(FUNCS + 3 * size, RECORD, size);
	put(FUNCS + 4 * size, base + 0x80, size);
	put_record(shape);
}

static void make(const struct shape *shape)
{
	/* Each: by how much the value changes, zigzag, and for how many instructions. */
	static const unsigned char frame[] = { 2, 2, 64, 14, 0 };
	static const unsigned char file[] = { 4, 16, 0 };
	static const unsigned char line[] = { 22, 4, 2, 12, 0 };
	static const unsigned char inlined[] = { 0, 8, 2, 8, 0 };

	memset(bytes, 0, sizeof(bytes));
	put_header(shape);
	memcpy(bytes + NAMES, "first\0\0main.work\0main.small\0", 29);
	put(UNITS + 8, 4, 4);
	memcpy(bytes + FILES, "???\0work.go", 12);
	memcpy(bytes + VALUES + 1, frame, sizeof(frame));
	memcpy(bytes + VALUES + 8, file, sizeof(file));
	memcpy(bytes + VALUES + 16, line, sizeof(line));
	memcpy(bytes + VALUES + 24, inlined, sizeof(inlined));
	put_functions(shape);
}

static struct gopclntab open_table(const struct shape *shape)
{
	struct gopclntab table;

	make(shape);
	assert_int_equal(gopclntab_open(&table, bytes, sizeof(bytes), 0), 0);
	return table;
}

static void finds_functions_by_address(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct gopclntab table = open_table(&shapes[i]);
		struct go_function function;

		assert_true(gopclntab_find(&table, TEXT + 0x40, &function));
		assert_string_equal(function.name, "main.work");
		assert_int_equal(function.start, TEXT + 0x40);
		assert_int_equal(function.end, TEXT + 0x80);
		assert_int_equal(function.flags, GO_WRITES_SP);
		assert_true(gopclntab_find(&table, TEXT + 0x7f, &function));
		assert_false(gopclntab_find(&table, TEXT + 0x80, &function));
		assert_false(gopclntab_find(&table, TEXT - 1, &function));
	}
}

static void knows_frames_and_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct gopclntab table = open_table(&shapes[i]);
		struct go_function function;
		struct go_values frame;
		struct go_line line;

		assert_true(gopclntab_find(&table, TEXT + 0x44, &function));
		frame = go_values_of(&table, &function, function.frame_values);
		assert_true(go_values_next(&frame));
		assert_int_equal(frame.value, 0);
		assert_int_equal(frame.end, TEXT + 0x48);
		assert_true(go_values_next(&frame));
		assert_int_equal(frame.value, 32);
		assert_int_equal(frame.end, TEXT + 0x80);
		assert_false(go_values_next(&frame));
		line = gopclntab_line(&table, &function, TEXT + 0x50);
		assert_string_equal(line.file, "work.go");
		assert_int_equal(line.line, 11);
		assert_int_equal(gopclntab_line(&table, &function, TEXT + 0x44).line, 10);
	}
}

static void knows_what_was_inlined(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct gopclntab table = open_table(&shapes[i]);
		unsigned char nodes[64] = { 0 };
		struct go_part tree = { nodes, shapes[i].node_size };
		struct go_function function;
		struct go_inlined inlined;

		nodes[shapes[i].node_name] = 17;
		nodes[shapes[i].node_caller] = 0x10;
		assert_true(gopclntab_find(&table, TEXT + 0x60, &function));
		assert_true(gopclntab_inlined(&table, &function, &tree, TEXT + 0x60, &inlined));
		assert_string_equal(inlined.name, "main.small");
		assert_int_equal(inlined.caller, TEXT + 0x50);
		assert_false(gopclntab_inlined(&table, &function, &tree, TEXT + 0x44, &inlined));
		tree.size--;
		assert_false(gopclntab_inlined(&table, &function, &tree, TEXT + 0x60, &inlined));
	}
}

static void believes_the_linker_where_code_is_relocated(void **state)
{
	struct gopclntab table;
	struct go_function function;

	(void)state;
	make(&shapes[1]);
	put(GO_TEXT_START_AT, 0, 8);
	assert_int_equal(gopclntab_open(&table, bytes, sizeof(bytes), TEXT), 0);
	assert_true(gopclntab_find(&table, TEXT + 0x40, &function));
}

#define TABLE       0x500000u
#define DESCRIPTION 0x600000u

/* As linkers write it that leave all to relocations. */
static void believes_relocations_before_what_is_written(void **state)
{
	unsigned char words[GO_DESCRIPTION_TEXT + 8] = { 0 };
	const Elf64_Rela relocations[] = {
		{ .r_offset = DESCRIPTION, .r_addend = TABLE },
		{ .r_offset = DESCRIPTION + GO_DESCRIPTION_TEXT, .r_addend = TEXT },
		{ .r_offset = TABLE + GO_TEXT_START_AT, .r_addend = TEXT + 0x100 },
	};
	struct go_places places = { .table = TABLE,
				    .description = { words, sizeof(words) },
				    .description_at = DESCRIPTION };

	(void)state;
	places.relocations = (struct go_part){ (const unsigned char *)relocations,
					       2 * sizeof(relocations[0]) + 1 };
	assert_int_equal(go_text_start(&places), TEXT);
	places.relocations.size = sizeof(relocations); /* before Go 1.26 */
	assert_int_equal(go_text_start(&places), TEXT + 0x100);
}

static void believes_the_description(void **state)
{
	const uint64_t table = TABLE, text = TEXT;
	unsigned char words[GO_DESCRIPTION_TEXT + 8] = { 0 };
	struct go_places places = { .table = TABLE,
				    .description = { words, sizeof(words) },
				    .description_at = DESCRIPTION };

	(void)state;
	memcpy(words + GO_DESCRIPTION_TEXT, &text, sizeof(text));
	assert_int_equal(go_text_start(&places), 0); /* it is of another table */
	memcpy(words, &table, sizeof(table));
	assert_int_equal(go_text_start(&places), TEXT);
	places.description.size--;
	assert_int_equal(go_text_start(&places), 0);
	places.description = (struct go_part){ 0 };
	assert_int_equal(go_text_start(&places), 0);
}

static void refuses_code_of_which_nobody_knows_the_begin(void **state)
{
	struct gopclntab table;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		make(&shapes[i]);
		if (shapes[i].is_short)
			put(GO_TEXT_START_AT, 0, 8);
		assert_int_equal(gopclntab_open(&table, bytes, sizeof(bytes), 0) < 0,
				 shapes[i].is_short);
	}
}

static void refuses_what_makes_no_sense(void **state)
{
	struct gopclntab table;

	(void)state;
	make(&shapes[2]);
	for (unsigned size = 0; size < 72; size++)
		assert_true(gopclntab_open(&table, bytes, size, 0) < 0);
	put(HEADER, GO_FUNCTIONS_MAX, 8); /* more functions than there is room for */
	assert_true(gopclntab_open(&table, bytes, sizeof(bytes), 0) < 0);
	put(HEADER, UINT64_MAX, 8);
	assert_true(gopclntab_open(&table, bytes, sizeof(bytes), 0) < 0);
	make(&shapes[2]);
	put(6, 0, 1);
	assert_true(gopclntab_open(&table, bytes, sizeof(bytes), 0) < 0);
	make(&shapes[2]);
	put(0, 0x12345678, 4);
	assert_true(gopclntab_open(&table, bytes, sizeof(bytes), 0) < 0);
}

/* A table of values that goes on for ever ends with its function. */
static void a_table_ends_with_its_function(void **state)
{
	struct gopclntab table = open_table(&shapes[2]);
	struct go_function function;
	struct go_values values;
	unsigned steps = 0;

	(void)state;
	memset(bytes + VALUES + 1, 2, ROOM - VALUES - 1 - (ROOM - FUNCS));
	assert_true(gopclntab_find(&table, TEXT + 0x40, &function));
	values = go_values_of(&table, &function, 1);
	while (go_values_next(&values))
		steps++;
	assert_int_equal(steps, 8);
}

/* Each function would be looked for through all of it. */
static void a_name_without_an_end_is_none(void **state)
{
	const size_t size = ROOM + 2 * GO_TEXT_MAX;
	unsigned char *all = calloc(1, size);
	struct gopclntab table;
	struct go_function function;

	(void)state;
	assert_non_null(all);
	make(&shapes[2]);
	put(HEADER + 3 * 8, ROOM, 8);
	memcpy(all, bytes, sizeof(bytes));
	memset(all + ROOM, 'x', 2 * GO_TEXT_MAX - 1);
	assert_int_equal(gopclntab_open(&table, all, size, 0), 0);
	assert_false(gopclntab_find(&table, TEXT + 0x40, &function));
	all[ROOM + 7 + GO_TEXT_MAX - 1] = 0;
	assert_true(gopclntab_find(&table, TEXT + 0x40, &function));
	free(all);
}

static void a_table_of_values_has_a_limit(void **state)
{
	const size_t size = 4 * GO_VALUES_MAX;
	unsigned char *all = malloc(size);
	struct gopclntab table = { .values = { all, size }, .quantum = 1 };
	const struct go_function function = { .start = TEXT, .end = UINT64_MAX };
	struct go_values values = go_values_of(&table, &function, 1);

	(void)state;
	assert_non_null(all);
	memset(all, 1, size);
	while (go_values_next(&values))
		;
	assert_int_equal(values.count, GO_VALUES_MAX);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_functions_by_address),
		cmocka_unit_test(knows_frames_and_lines),
		cmocka_unit_test(knows_what_was_inlined),
		cmocka_unit_test(believes_the_linker_where_code_is_relocated),
		cmocka_unit_test(believes_relocations_before_what_is_written),
		cmocka_unit_test(believes_the_description),
		cmocka_unit_test(refuses_code_of_which_nobody_knows_the_begin),
		cmocka_unit_test(refuses_what_makes_no_sense),
		cmocka_unit_test(a_table_ends_with_its_function),
		cmocka_unit_test(a_name_without_an_end_is_none),
		cmocka_unit_test(a_table_of_values_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
