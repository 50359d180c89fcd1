/*
 * Rows for HotSpot's code: what instructions do with a frame, and a small machine whose tables,
 * heaps and blobs are read as those of a real one.  SEEDS is the folder it lies in.
 */
#include "unit.h"

#include "host/core/text/text.h"
#include "host/java/blob_rows.h"
#include "host/java/code_rows.h"
#include "host/unwind/arch/x86_64/instruction.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE 0x1000u
#define R13  (UNWIND_BASE_REGISTER + 13)

struct bytes {
	unsigned char at[128];
	size_t size;
};

static struct bytes bytes_of(const char *hex)
{
	struct bytes bytes = { .size = 0 };
	unsigned byte;

	for (int used = 0; sscanf(hex, " %2x%n", &byte, &used) == 1; hex += used)
		bytes.at[bytes.size++] = (unsigned char)byte;
	return bytes;
}

static struct instruction read_one(const char *hex)
{
	struct bytes bytes = bytes_of(hex);
	struct instruction it;

	assert_int_equal(instruction_read(&it, bytes.at, bytes.size), 0);
	assert_int_equal(it.size, bytes.size);
	return it;
}

static void knows_lengths(void **state)
{
	static const char *const whole[] = {
		"90",
		"66 66 90",
		"0f 1f 84 00 00 00 00 00",
		"66 0f 1f 44 00 00",
		"48 b8 01 02 03 04 05 06 07 08",
		"b8 01 02 03 04",
		"66 b8 01 02",
		"f6 04 24 01",
		"f7 d8",
		"48 f7 05 01 00 00 00 02 00 00 00",
		"c5 f8 77",
		"c5 fd 6f 04 24",
		"c4 e3 7d 39 c1 01",
		"c4 e2 7d 58 05 01 00 00 00",
		"62 f1 7e 48 6f 04 24",
		"62 f3 fd 48 39 c1 01",
		"66 0f 3a 0f c1 08",
		"f2 48 0f 38 f1 c1",
		"48 8d 84 24 00 01 00 00",
		"49 3b a7 18 03 00 00",
		"84 05 00 00 00 00",
		"f0 48 0f b1 0a",
		"a1 01 02 03 04 05 06 07 08",
		"c8 10 00 00",
	};
	struct instruction it;
	struct bytes cut;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
		read_one(whole[i]);
		cut = bytes_of(whole[i]);
		assert_int_equal(instruction_read(&it, cut.at, cut.size - 1), -EBADMSG);
	}
	cut = bytes_of("06");
	assert_int_equal(instruction_read(&it, cut.at, cut.size), -EBADMSG);
	cut = bytes_of("66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90");
	assert_int_equal(instruction_read(&it, cut.at, cut.size), -EBADMSG);
}

static void knows_what_touches_the_stack(void **state)
{
	struct instruction it;

	(void)state;
	it = read_one("41 55");
	assert_int_equal(it.kind, INSTRUCTION_PUSH);
	assert_int_equal(it.from, 13);
	it = read_one("48 81 ec 00 01 00 00");
	assert_int_equal(it.kind, INSTRUCTION_ADD);
	assert_int_equal(it.to, REGISTER_RSP);
	assert_int_equal(it.value, -256);
	it = read_one("48 8d 64 24 08");
	assert_int_equal(it.kind, INSTRUCTION_ADD);
	assert_int_equal(it.value, 8);
	assert_int_equal(read_one("48 83 e4 f0").kind, INSTRUCTION_ALIGN);
	assert_int_equal(read_one("48 03 e1").to, REGISTER_RSP);
	it = read_one("48 89 6c 24 20");
	assert_int_equal(it.kind, INSTRUCTION_STORE);
	assert_int_equal(it.from, REGISTER_RBP);
	assert_int_equal(it.value, 32);
	it = read_one("48 8b 5d f8");
	assert_int_equal(it.kind, INSTRUCTION_LOAD);
	assert_int_equal(it.from, REGISTER_RBP);
	assert_int_equal(it.value, -8);
	it = read_one("75 fe");
	assert_int_equal(it.kind, INSTRUCTION_BRANCH);
	assert_int_equal(it.target, 0);
	assert_int_equal(read_one("ff e0").kind, INSTRUCTION_JUMP);
	assert_int_equal(read_one("ff 34 24").kind, INSTRUCTION_PUSH);
	assert_int_equal(read_one("48 83 fc 08").kind, INSTRUCTION_OTHER);
}

static struct rows rows_of(enum code_kind kind, const char *hex, uint32_t frame_size,
			   uint32_t frame_complete)
{
	struct bytes bytes = bytes_of(hex);
	const struct code code = { kind, bytes.at, bytes.size, frame_size, frame_complete };
	struct rows rows = { 0 };

	assert_int_equal(java_add_rows_x86_64(&rows, 0, &code), 0);
	return rows;
}

static const struct unwind_row *row_at(const struct rows *rows, uint32_t pc)
{
	const struct unwind_row *found = rows->items;

	assert_true(rows->count && found->pc <= pc);
	for (size_t i = 1; i < rows->count && rows->items[i].pc <= pc; i++)
		found = &rows->items[i];
	return found;
}

static void check_row(const struct rows *rows, uint32_t pc, unsigned kind, unsigned cfa, int fp)
{
	const struct unwind_row *row = row_at(rows, pc);

	assert_int_equal(row->kind, kind);
	if (kind == UNWIND_BAD)
		return;
	assert_int_equal(row->cfa, cfa);
	assert_int_equal(row->fp, fp);
}

static const struct unwind_special *special_at(const struct rows *rows, uint32_t pc)
{
	const struct unwind_row *row = row_at(rows, pc);

	assert_int_equal(row->kind, UNWIND_SPECIAL);
	return &rows->specials[row->cfa];
}

/* Bang, push rbp, sub; call; add, pop, poll that branches to code behind, ret; that code. */
#define METHOD                                                                                    \
	"89 84 24 00 c0 fe ff 55 48 83 ec 20 e8 00 01 00 00 48 83 c4 20 5d 49 3b a7 18 03 00 00 " \
	"0f 87 01 00 00 00 c3 4c 8d 15 e0 ff ff ff e9 00 01 00 00 90"

static void follows_a_method(void **state)
{
	struct rows rows = rows_of(CODE_METHOD, METHOD, 48, 12);

	(void)state;
	check_row(&rows, 0, UNWIND_SP, 1, UNWIND_FP_SAME);
	check_row(&rows, 7, UNWIND_SP, 1, UNWIND_FP_SAME);
	check_row(&rows, 8, UNWIND_SP, 2, -2);
	check_row(&rows, 12, UNWIND_SP, 6, -2);
	check_row(&rows, 20, UNWIND_SP, 6, -2);
	check_row(&rows, 21, UNWIND_SP, 2, -2);
	check_row(&rows, 22, UNWIND_SP, 1, UNWIND_FP_SAME);
	check_row(&rows, 35, UNWIND_SP, 1, UNWIND_FP_SAME); /* ret */
	check_row(&rows, 36, UNWIND_SP, 1, UNWIND_FP_SAME); /* reached by the branch */
	check_row(&rows, 48, UNWIND_SP, 6, -2);             /* behind the last jump */
	rows_done(&rows);
}

/* sub, then rbp is stored; a word is pushed and popped on the way. */
static void follows_other_prologues(void **state)
{
	struct rows rows = rows_of(CODE_METHOD,
				   "48 83 ec 28 48 89 6c 24 20 ff 74 24 08 8f 44 24 10 48 83 c4 20 "
				   "5d c3",
				   48, 9);

	(void)state;
	check_row(&rows, 4, UNWIND_SP, 6, UNWIND_FP_SAME);
	check_row(&rows, 9, UNWIND_SP, 6, -2);
	check_row(&rows, 13, UNWIND_SP, 7, -2);
	check_row(&rows, 17, UNWIND_SP, 6, -2);
	check_row(&rows, 22, UNWIND_SP, 1, UNWIND_FP_SAME);
	rows_done(&rows);
}

static void believes_no_method_of_another_size(void **state)
{
	struct rows rows = rows_of(CODE_METHOD, METHOD, 56, 12);

	(void)state;
	for (uint32_t pc = 0; pc < 49; pc++)
		check_row(&rows, pc, UNWIND_BAD, 0, 0);
	rows_done(&rows);
	rows = rows_of(CODE_METHOD, METHOD, 48, 4000);
	check_row(&rows, 12, UNWIND_BAD, 0, 0);
	rows_done(&rows);
}

/* A place to be patched: a jump to a call behind four bytes of data, which look like an instruction
 * that reaches into it. */
static void follows_over_data(void **state)
{
	struct rows rows =
		rows_of(CODE_METHOD,
			"55 48 83 ec 20 e9 06 00 00 00 c3 50 00 05 14 0a e8 50 50 50 50 eb "
			"e7 06 90",
			48, 5);

	(void)state;
	check_row(&rows, 16, UNWIND_SP, 6, -2);
	check_row(&rows, 20, UNWIND_SP, 6, -2);
	check_row(&rows, 21, UNWIND_SP, 6, -2);
	check_row(&rows, 24, UNWIND_SP, 6, -2);
	rows_done(&rows);
}

/* Its first bytes are a jump now; who is in it still is in a frame of the size that is told. */
static void follows_a_method_that_is_closed(void **state)
{
	struct rows rows = rows_of(
		CODE_METHOD, "e9 00 01 00 00 6c 24 20 90 e8 00 01 00 00 48 83 c4 20 5d c3", 48, 9);

	(void)state;
	check_row(&rows, 0, UNWIND_SP, 1, UNWIND_FP_SAME);
	check_row(&rows, 5, UNWIND_BAD, 0, 0);
	check_row(&rows, 9, UNWIND_SP, 6, -2);
	check_row(&rows, 18, UNWIND_SP, 2, -2);
	check_row(&rows, 19, UNWIND_SP, 1, UNWIND_FP_SAME);
	rows_done(&rows);
}

static void follows_a_frame_pointer(void **state)
{
	struct rows rows = rows_of(CODE_ROUTINES,
				   "55 48 8b ec 48 83 ec 60 53 75 fd 48 83 e4 e0 c9 c3 90", 0, 0);

	(void)state;
	check_row(&rows, 0, UNWIND_SP, 1, UNWIND_FP_SAME);
	check_row(&rows, 1, UNWIND_SP, 2, -2);
	check_row(&rows, 4, UNWIND_FP, 2, -2);
	check_row(&rows, 9, UNWIND_FP, 2, -2);
	check_row(&rows, 15, UNWIND_FP, 2, -2); /* aligned: what sp is, is not known */
	check_row(&rows, 16, UNWIND_SP, 1, UNWIND_FP_SAME);
	check_row(&rows, 17, UNWIND_SP, 1, UNWIND_FP_SAME);
	rows_done(&rows);
}

static void says_nothing_where_ways_disagree(void **state)
{
	/* Over a push, or not. */
	struct rows rows = rows_of(CODE_ROUTINES, "75 01 50 90 c3", 0, 0);

	(void)state;
	check_row(&rows, 2, UNWIND_SP, 1, UNWIND_FP_SAME);
	check_row(&rows, 3, UNWIND_BAD, 0, 0);
	rows_done(&rows);
	/* A stack of another's making. */
	rows = rows_of(CODE_ROUTINES, "90 48 8b e1 90 55 48 8b ec 90 06 90", 0, 0);
	check_row(&rows, 4, UNWIND_BAD, 0, 0);
	check_row(&rows, 9, UNWIND_FP, 2, -2);
	check_row(&rows, 10, UNWIND_BAD, 0, 0); /* no instruction: nothing behind it is read */
	check_row(&rows, 11, UNWIND_BAD, 0, 0);
	rows_done(&rows);
}

/* From compiled to interpreted: ra is popped, arguments go below it, it is pushed again. */
static void follows_adapters(void **state)
{
	struct rows rows = rows_of(CODE_ADAPTER, "58 4c 8b ec 48 83 ec 10 50 ff e1", 0, 0);
	const struct unwind_special *rule = special_at(&rows, 1);

	(void)state;
	assert_int_equal(rule->base, UNWIND_BASE_SP);
	assert_int_equal(rule->offset, 0);
	assert_int_equal(rule->ra_saved, UNWIND_SAVED_IN);
	assert_int_equal(rule->ra_offset, 0);
	assert_int_equal(special_at(&rows, 8)->offset, 16);
	rule = special_at(&rows, 9);
	assert_int_equal(rule->offset, 24);
	assert_int_equal(rule->ra_saved, UNWIND_SAVED_AT_CFA);
	assert_int_equal(rule->ra_offset, -24);
	rows_done(&rows);
	/* And back: it is copied, the stack aligned, it is pushed. */
	rows = rows_of(CODE_ADAPTER, "48 8b 04 24 4c 8b dc 48 83 e4 f0 50 41 ff e3", 0, 0);
	check_row(&rows, 7, UNWIND_SP, 1, UNWIND_FP_SAME);
	rule = special_at(&rows, 11);
	assert_int_equal(rule->ra_saved, UNWIND_SAVED_IN);
	assert_int_equal(rule->ra_offset, 0);
	check_row(&rows, 12, UNWIND_SP, 1, UNWIND_FP_SAME);
	rows_done(&rows);
}

/* pop rax; push 0; push rax; push rbp; mov rbp,rsp; push r13; ...; mov rbx,[rbp-8]; leave; pop rcx;
 * mov rsp,rbx; jmp rcx */
static void follows_the_interpreter(void **state)
{
	struct rows rows = rows_of(
		CODE_ENTRY, "58 6a 00 50 55 48 8b ec 41 55 90 48 8b 5d f8 c9 59 48 8b e3 ff e1 90",
		0, 0);
	const struct unwind_special *rule = special_at(&rows, 0);

	(void)state;
	assert_int_equal(rule->base, R13);
	assert_int_equal(rule->ra_saved, UNWIND_SAVED_AT_SP);
	assert_int_equal(rule->ra_offset, 0);
	rule = special_at(&rows, 1);
	assert_int_equal(rule->ra_saved, UNWIND_SAVED_IN);
	rule = special_at(&rows, 5);
	assert_int_equal(rule->base, R13);
	assert_int_equal(rule->ra_saved, UNWIND_SAVED_AT_SP);
	assert_int_equal(rule->ra_offset, 8);
	rule = special_at(&rows, 8);
	assert_int_equal(rule->base, R13);
	assert_int_equal(rule->ra_saved, UNWIND_SAVED_AT_BASE);
	assert_int_equal(rule->fp_saved, UNWIND_SAVED_AT_BASE);
	rule = special_at(&rows, 10);
	assert_int_equal(rule->base, UNWIND_BASE_FP);
	assert_int_equal(rule->is_dereferenced, 1);
	assert_int_equal(rule->offset, -8);
	assert_int_equal(rule->ra_offset, 8);
	assert_int_equal(rule->fp_offset, 0);
	rule = special_at(&rows, 16);
	assert_int_equal(rule->base, UNWIND_BASE_REGISTER + 3);
	assert_int_equal(rule->ra_saved, UNWIND_SAVED_AT_SP);
	assert_int_equal(rule->fp_saved, UNWIND_SAVED_NOT);
	rule = special_at(&rows, 17);
	assert_int_equal(rule->ra_saved, UNWIND_SAVED_IN);
	assert_int_equal(rule->ra_offset, 2); /* rcx */
	rule = special_at(&rows, 20);
	assert_int_equal(rule->base, UNWIND_BASE_SP);
	assert_int_equal(rule->offset, 0);
	assert_int_equal(special_at(&rows, 22)->base, UNWIND_BASE_FP); /* the next bytecode */
	rows_done(&rows);
}

/* Its return address is true only when it was laid down. */
static void follows_safepoints(void **state)
{
	struct rows rows = rows_of(CODE_SAFEPOINT,
				   "53 55 48 8b ec 48 83 ec 40 49 8b 9f a0 02 00 00 48 89 5d 08 e8 "
				   "00 00 01 00 c9 c3",
				   0, 0);

	(void)state;
	check_row(&rows, 0, UNWIND_BAD, 0, 0);
	check_row(&rows, 16, UNWIND_BAD, 0, 0);
	check_row(&rows, 20, UNWIND_FP, 2, -2);
	check_row(&rows, 26, UNWIND_SP, 1, UNWIND_FP_SAME);
	rows_done(&rows);
}

/* mov rax,[r15+8]; mov rdx,[rbp+8]; call; mov [rbp+8],rax; leave; ret. */
static void follows_what_runs_in_the_frame_of_another(void **state)
{
	struct rows rows = rows_of(
		CODE_FORWARDED, "49 8b 47 08 48 8b 55 08 e8 00 00 01 00 48 89 45 08 c9 c3", 0, 0);

	(void)state;
	check_row(&rows, 0, UNWIND_FP, 2, -2);
	check_row(&rows, 13, UNWIND_FP, 2, -2);
	check_row(&rows, 18, UNWIND_SP, 1, UNWIND_FP_SAME);
	rows_done(&rows);
}

struct image {
	char *bytes;
	size_t size;
};

static int read_image(void *context, uint64_t address, void *into, size_t size)
{
	const struct image *image = context;

	if (address < BASE || address - BASE > image->size || size > image->size - (address - BASE))
		return -EFAULT;
	memcpy(into, image->bytes + (address - BASE), size);
	return 0;
}

static void read_pieces(void *context, const uint64_t *addresses, size_t count, size_t size,
			unsigned char *into)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(read_image(context, addresses[i], into + i * size, size), 0);
}

static struct image load_machine(void)
{
	struct image image = { 0 };
	char path[512];

	snprintf(path, sizeof(path), "%s/machine", getenv("SEEDS"));
	assert_int_equal(text_read_file(path, 1 << 20, &image.bytes, &image.size), 0);
	return image;
}

static void read_layout(struct image *image, struct java_layout *layout, int wanted)
{
	const struct memory_reader memory = { read_image, image };
	uint64_t symbols[JAVA_SYMBOLS];
	struct err err = { 0 };

	for (unsigned i = 0; i < JAVA_SYMBOLS; i++)
		symbols[i] = BASE + i * 8;
	assert_int_equal(java_layout_read(layout, &memory, symbols, &err), wanted);
	layout->add_rows = java_add_rows_x86_64;
	if (wanted)
		assert_true(err.what[0]);
}

static void reads_a_machine(void **state)
{
	struct image image = load_machine();
	const struct java_memory memory = { { read_image, &image }, read_pieces };
	struct java_heap heaps[JAVA_HEAPS_MAX] = { 0 };
	struct java_layout layout;
	struct java_blob *blobs = NULL;
	size_t count;

	(void)state;
	read_layout(&image, &layout, 0);
	assert_int_equal(layout.block_size, 8);
	assert_int_equal(java_heaps_read(heaps, &memory, &layout), 1);
	assert_int_equal(heaps[0].low, 0x4000);
	assert_int_equal(java_blobs_read(&blobs, &count, &memory, &layout, &heaps[0]), 0);
	assert_int_equal(count, 4); /* one is free */
	assert_int_equal(blobs[0].frame_size, 6);
	assert_int_equal(blobs[0].frame_complete, 12);
	assert_true(blobs[1].address > blobs[0].code_end);
	for (size_t i = 0; i < count; i++) {
		struct blob_rows made = { .blob = blobs[i] };

		assert_int_equal(blob_rows_make(&made, NULL, &memory, &layout), 0);
		if (i == 0)
			check_row(&made.rows, 12, UNWIND_SP, 6, -2);
		if (i == 2) { /* the interpreter: a bytecode, then an entry */
			assert_int_equal(special_at(&made.rows, 32)->base, UNWIND_BASE_FP);
			assert_int_equal(special_at(&made.rows, 64 + 32 + 1)->ra_saved,
					 UNWIND_SAVED_IN);
		}
		rows_done(&made.rows);
	}
	free(blobs);
	free(image.bytes);
}

/* Until code has settled it is read at each look: most of it is as it was. */
static void makes_rows_of_what_has_changed_only(void **state)
{
	struct image image = load_machine();
	const struct java_memory memory = { { read_image, &image }, read_pieces };
	struct java_heap heaps[JAVA_HEAPS_MAX] = { 0 };
	struct blob_rows first = { 0 }, same = { 0 }, other = { 0 };
	const struct unwind_row *items;
	struct java_layout layout;
	struct java_blob *blobs = NULL;
	size_t count;

	(void)state;
	read_layout(&image, &layout, 0);
	assert_int_equal(java_heaps_read(heaps, &memory, &layout), 1);
	assert_int_equal(java_blobs_read(&blobs, &count, &memory, &layout, &heaps[0]), 0);
	first.blob = same.blob = other.blob = blobs[0];
	assert_int_equal(blob_rows_make(&first, NULL, &memory, &layout), 0);
	items = first.rows.items;
	assert_int_equal(blob_rows_make(&same, &first, &memory, &layout), 0);
	assert_ptr_equal(same.rows.items, items);
	assert_null(first.rows.items);
	image.bytes[blobs[0].code_begin - BASE] = (char)0xcc; /* not its prologue */
	assert_int_equal(blob_rows_make(&other, &same, &memory, &layout), 0);
	assert_int_not_equal(other.sum, same.sum);
	assert_non_null(other.rows.items);
	assert_ptr_equal(same.rows.items, items);
	rows_done(&same.rows);
	rows_done(&other.rows);
	free(blobs);
	free(image.bytes);
}

static void names_what_is_missing(void **state)
{
	struct image image = load_machine();
	struct java_layout layout;
	char *name;

	(void)state;
	name = memmem(image.bytes, image.size, "_frame_size", 11);
	assert_non_null(name);
	name[1] = 'g';
	read_layout(&image, &layout, -EOPNOTSUPP);
	image.bytes[8] = 127; /* entries that overlap */
	image.bytes[9] = 127;
	read_layout(&image, &layout, -EOPNOTSUPP);
	memset(image.bytes, 0, 8);
	image.bytes[9] = 0;
	read_layout(&image, &layout, -EFAULT);
	free(image.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_lengths),
		cmocka_unit_test(knows_what_touches_the_stack),
		cmocka_unit_test(follows_a_method),
		cmocka_unit_test(follows_other_prologues),
		cmocka_unit_test(believes_no_method_of_another_size),
		cmocka_unit_test(follows_a_method_that_is_closed),
		cmocka_unit_test(follows_over_data),
		cmocka_unit_test(follows_a_frame_pointer),
		cmocka_unit_test(says_nothing_where_ways_disagree),
		cmocka_unit_test(follows_adapters),
		cmocka_unit_test(follows_the_interpreter),
		cmocka_unit_test(follows_safepoints),
		cmocka_unit_test(follows_what_runs_in_the_frame_of_another),
		cmocka_unit_test(reads_a_machine),
		cmocka_unit_test(makes_rows_of_what_has_changed_only),
		cmocka_unit_test(names_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
