/*
 * Rows for HotSpot's code on aarch64, by pieces of it as JDK 17 makes them; and its options.
 */
#include "unit.h"

#include "host/java/code_rows.h"
#include "host/java/java.h"

#include <string.h>

#define IN_LR     (UNWIND_SP | UNWIND_RA_IN_REGISTER)
#define SAME      UNWIND_FP_SAME
#define NOP       0xd503201fu
#define RET       0xd65f03c0u
#define ELSEWHERE 0x14100000u /* b */
#define CALL      0x94100000u /* bl */
#define CALL_X8   0xd63f0100u /* blr x8 */
#define JUMP_X8   0xd61f0100u /* br x8 */
#define PUSH      0xa9bf7bfdu /* stp x29, x30, [sp, #-16]! */
#define POP       0xa8c17bfdu /* ldp x29, x30, [sp], #16 */
#define FP_IS_SP  0x910003fdu /* mov x29, sp */
#define SP_IS_FP  0x910003bfu /* mov sp, x29 */
#define X13       (UNWIND_BASE_REGISTER + 13)
#define X20       (UNWIND_BASE_REGISTER + 20)

static struct rows rows;

static void follow(enum code_kind kind, const uint32_t *words, size_t count, uint32_t frame_size,
		   uint32_t frame_complete)
{
	const struct code code = { kind, (const unsigned char *)words, count * 4, frame_size,
				   frame_complete };

	rows_done(&rows);
	assert_int_equal(java_add_rows_aarch64(&rows, 0, &code), 0);
}

static const struct unwind_row *row_at(uint32_t pc)
{
	const struct unwind_row *found = rows.items;

	assert_true(rows.count && found->pc <= pc);
	for (size_t i = 1; i < rows.count && rows.items[i].pc <= pc; i++)
		found = &rows.items[i];
	return found;
}

/* Of the instruction with this number. */
static void check(uint32_t number, unsigned kind, unsigned cfa, int fp)
{
	const struct unwind_row *row = row_at(number * 4);

	assert_int_equal(row->kind, kind);
	if (kind == UNWIND_BAD)
		return;
	assert_int_equal(row->cfa, cfa);
	assert_int_equal(row->fp, fp);
}

static const struct unwind_special *special_at(uint32_t number)
{
	const struct unwind_row *row = row_at(number * 4);

	assert_int_equal(row->kind, UNWIND_SPECIAL);
	return &rows.specials[row->cfa];
}

/* x29 is no frame pointer in it. */
static const uint32_t method[] = {
	NOP,        0xd14053e9, /* sub x9, sp, #0x14, lsl #12 */
	0xf900013f,             /* str xzr, [x9] */
	0xd100c3ff,             /* sub sp, sp, #0x30 */
	0xa9027bfd,             /* stp x29, x30, [sp, #32] */
	0x5100043d,             /* 5: sub w29, w1, #1 */
	CALL,       0x14000002, /* b 9 */
	0x2a0003e1,             /* 8: mov w1, w0 */
	0xa9427bfd,             /* 9: ldp x29, x30, [sp, #32] */
	0x9100c3ff,             /* add sp, sp, #0x30 */
	0xf941a388,             /* 11: ldr x8, [x28, #832] */
	0xeb2863ff,             /* cmp sp, x8 */
	0x54000068,             /* b.hi 16 */
	RET,        0xaa0003e1, /* 15: mov x1, x0: what handles an exception */
	0x10ffff68,             /* 16: adr x8 */
	ELSEWHERE,  0,          /* 18 */
};

static void follows_a_method(void **state)
{
	(void)state;
	follow(CODE_METHOD, method, ARRAY_SIZE(method), 48, 20);
	check(0, IN_LR, 0, SAME);
	check(3, IN_LR, 0, SAME);
	check(4, IN_LR, 6, SAME);
	check(5, UNWIND_SP, 6, -2);
	check(8, UNWIND_SP, 6, -2);
	check(9, UNWIND_SP, 6, -2);
	check(10, IN_LR, 6, SAME);
	check(11, IN_LR, 0, SAME);
	check(14, IN_LR, 0, SAME);
	check(15, UNWIND_SP, 6, -2);
	check(16, IN_LR, 0, SAME);
	check(17, IN_LR, 0, SAME);
	check(18, UNWIND_SP, 6, -2);
}

static void follows_a_method_that_is_closed(void **state)
{
	uint32_t closed[ARRAY_SIZE(method)];

	(void)state;
	memcpy(closed, method, sizeof(closed));
	closed[0] = ELSEWHERE;
	follow(CODE_METHOD, closed, ARRAY_SIZE(closed), 48, 20);
	check(0, IN_LR, 0, SAME);
	check(3, IN_LR, 0, SAME);
	check(6, UNWIND_SP, 6, -2);
	check(16, IN_LR, 0, SAME);
}

static void believes_no_method_of_another_size(void **state)
{
	(void)state;
	follow(CODE_METHOD, method, ARRAY_SIZE(method), 64, 20);
	check(0, UNWIND_BAD, 0, 0);
	check(6, UNWIND_BAD, 0, 0);
	follow(CODE_METHOD, method, ARRAY_SIZE(method), 48, 16);
	check(6, UNWIND_BAD, 0, 0);
}

static void follows_large_frames(void **state)
{
	static const uint32_t words[] = {
		PUSH, 0xd2820008 /* mov x8, #0x1000 */,         0xcb2863ff /* sub sp, sp, x8 */,
		CALL, 0x914007ff /* add sp, sp, #1, lsl #12 */, POP,
		RET,
	};

	(void)state;
	follow(CODE_METHOD, words, ARRAY_SIZE(words), 4096 + 16, 12);
	check(0, IN_LR, 0, SAME);
	check(1, UNWIND_SP, 2, -2);
	check(3, UNWIND_SP, 514, -2);
	check(5, UNWIND_SP, 2, -2);
	check(6, IN_LR, 0, SAME);
}

static void follows_adapters(void **state)
{
	static const uint32_t words[] = {
		0xf9402188,                         /* ldr x8, [x12, #64] */
		JUMP_X8,    0xb9400828,             /* 2: ldr w8, [x1, #8] */
		PUSH,       FP_IS_SP,   0xa9b107e0, /* 5: stp x0, x1, [sp, #-240]! */
		0x0c9f6fe0,             /* st1 {v0.1d-v3.1d}, [sp], #32: nobody knows sp */
		CALL_X8,    0xa94577fc, /* 8: ldp x28, x29, [sp, #80] */
		SP_IS_FP,   POP,        0x910003ed, /* 11: mov x13, sp */
		0xd10083ff,                         /* sub sp, sp, #0x20 */
		JUMP_X8,
	};

	(void)state;
	follow(CODE_ADAPTER, words, ARRAY_SIZE(words), 0, 0);
	check(0, IN_LR, 0, SAME);
	check(2, IN_LR, 0, SAME);
	check(5, UNWIND_FP, 2, -2);
	check(8, UNWIND_FP, 2, -2);
	check(9, UNWIND_FP, 2, -2);
	check(11, IN_LR, 0, SAME);
	check(13, IN_LR, 4, SAME);
}

/* Where it begins and ends the caller's sp is in a register. */
static void follows_the_interpreter(void **state)
{
	static const uint32_t words[] = {
		0x927ced1f,             /* and sp, x8, #-16 */
		0xa9ba5bf4,             /* stp x20, x22, [sp, #-96]! */
		0xa9057bfd,             /* stp x29, x30, [sp, #80] */
		0x910143fd,             /* add x29, sp, #0x50 */
		0xa90437ff,             /* 4: stp xzr, x13, [sp, #64] */
		CALL_X8,                /* 5 */
		0xaa0903f4,             /* mov x20, x9 */
		SP_IS_FP,               /* 7 */
		POP,        0x927cee9f, /* 9: and sp, x20, #-16 */
		RET,        CALL_X8,    /* 11 */
	};
	const struct unwind_special *rule;

	(void)state;
	follow(CODE_ENTRY, words, ARRAY_SIZE(words), 0, 0);
	rule = special_at(0);
	assert_int_equal(rule->base, X13);
	assert_int_equal(rule->ra_saved, UNWIND_SAVED_NOT);
	assert_int_equal(rule->fp_saved, UNWIND_SAVED_NOT);
	assert_int_equal(special_at(3)->fp_saved, UNWIND_SAVED_NOT);
	rule = special_at(4);
	assert_int_equal(rule->base, X13);
	assert_int_equal(rule->fp_saved, UNWIND_SAVED_AT_BASE);
	rule = special_at(5);
	assert_int_equal(rule->base, UNWIND_BASE_FP);
	assert_int_equal(rule->is_dereferenced, 1);
	assert_int_equal(rule->offset, -8);
	assert_int_equal(rule->ra_offset, 8);
	assert_true(rule->is_floored);
	assert_int_equal(special_at(8)->base, UNWIND_BASE_FP);
	assert_int_equal(special_at(9)->base, X20);
	check(10, IN_LR, 0, SAME);
	assert_int_equal(special_at(11)->base, UNWIND_BASE_FP);
}

/* Its return address is true only when it was laid down. */
static void follows_safepoints(void **state)
{
	static const uint32_t words[] = {
		PUSH, FP_IS_SP, 0xf90007b4 /* str x20, [x29, #8] */, CALL_X8, SP_IS_FP, POP, RET,
	};

	(void)state;
	follow(CODE_SAFEPOINT, words, ARRAY_SIZE(words), 0, 0);
	check(0, UNWIND_BAD, 0, 0);
	check(2, UNWIND_BAD, 0, 0);
	check(3, UNWIND_FP, 2, -2);
	check(6, IN_LR, 0, SAME);
}

/* It is jumped to by routines that have saved all registers, and ends their call. */
static void follows_what_runs_in_the_frame_of_another(void **state)
{
	static const uint32_t words[] = {
		0xf9400780, /* ldr x0, [x28, #8] */
		0xf94007a3, /* ldr x3, [x29, #8] */
		CALL_X8,    /* 2 */
		0xf90007a0, /* str x0, [x29, #8] */
		0x910103ff, /* 4: add sp, sp, #64, that it has not taken */
		SP_IS_FP,   POP, RET,
	};

	(void)state;
	follow(CODE_FORWARDED, words, ARRAY_SIZE(words), 0, 0);
	check(0, UNWIND_FP, 2, -2);
	check(3, UNWIND_FP, 2, -2);
	check(5, UNWIND_FP, 2, -2);
	check(7, IN_LR, 0, SAME);
}

/* It takes frames away and makes others. */
static void follows_what_replaces_frames(void **state)
{
	static const uint32_t words[] = {
		PUSH,     FP_IS_SP, CALL_X8,    0x8b2263ff, /* add sp, sp, x2 */
		POP,      NOP,      0xf940005e,             /* 6: ldr x30, [x2] */
		PUSH,     FP_IS_SP, CALL_X8,                /* 9 */
		SP_IS_FP, POP,      RET,
	};

	(void)state;
	follow(CODE_HANDLER, words, ARRAY_SIZE(words), 0, 0);
	check(0, IN_LR, 0, SAME);
	check(2, UNWIND_FP, 2, -2);
	check(5, UNWIND_BAD, 0, 0);
	check(7, IN_LR, 0, SAME);
	check(9, UNWIND_FP, 2, -2);
	check(12, IN_LR, 0, SAME);
}

/* A table, then a function that nobody names, with a jump into its middle. */
static void finds_functions_among_stubs(void **state)
{
	uint32_t words[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = NOP;
	words[0] = RET;
	words[4] = 0x03020100;
	words[16] = 0xcb0803e8; /* neg x8, x8 */
	words[17] = JUMP_X8;
	words[18] = 0xd1000400; /* sub x0, x0, #1 */
	words[19] = RET;
	follow(CODE_STUBS, words, ARRAY_SIZE(words), 0, 0);
	check(4, UNWIND_BAD, 0, 0);
	check(16, IN_LR, 0, SAME);
	check(18, IN_LR, 0, SAME);
	check(24, UNWIND_BAD, 0, 0);
}

static bool keeps(const char *bytes, size_t size, bool are_variables)
{
	return java_options_keep_frame_pointers(bytes, size, are_variables, false);
}

#define KEEPS(bytes, are_variables) keeps(bytes, sizeof(bytes), are_variables)

static void reads_options(void **state)
{
	(void)state;
	assert_true(KEEPS("java\0-XX:+PreserveFramePointer\0Main", false));
	assert_false(KEEPS("java\0-XX:+PreserveFramePointer\0-XX:-PreserveFramePointer", false));
	assert_false(KEEPS("java\0-XX:+PreserveFramePointers", false));
	assert_true(KEEPS("A=1\0JAVA_TOOL_OPTIONS=-Xint -XX:+PreserveFramePointer\0B=", true));
	assert_true(KEEPS("JDK_JAVA_OPTIONS=-XX:+PreserveFramePointer", true));
	assert_false(KEEPS("OPTIONS=-XX:+PreserveFramePointer", true));
	assert_false(keeps("", 0, false));
}

static int forget_rows(void **state)
{
	(void)state;
	rows_done(&rows);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_a_method),
		cmocka_unit_test(follows_a_method_that_is_closed),
		cmocka_unit_test(believes_no_method_of_another_size),
		cmocka_unit_test(follows_large_frames),
		cmocka_unit_test(follows_adapters),
		cmocka_unit_test(follows_the_interpreter),
		cmocka_unit_test(follows_safepoints),
		cmocka_unit_test(follows_what_runs_in_the_frame_of_another),
		cmocka_unit_test(follows_what_replaces_frames),
		cmocka_unit_test(finds_functions_among_stubs),
		cmocka_unit_test(reads_options),
	};

	return cmocka_run_group_tests(tests, NULL, forget_rows);
}
