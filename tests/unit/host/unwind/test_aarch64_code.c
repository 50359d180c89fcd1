/*
 * Rules by instructions of aarch64, on pieces of code that are made here: the same on each machine.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "host/unwind/arch/aarch64/instruction.h"
#include "host/unwind/arch/code.h"

#define CODE      0x1000u
#define IN_LR     (UNWIND_SP | UNWIND_RA_IN_REGISTER)
#define ALONE     (UNWIND_SP | UNWIND_RA_ALONE)
#define SAME      UNWIND_FP_SAME
#define NOP       0xd503201fu
#define RET       0xd65f03c0u
#define STP_16    0xa9bf7bfdu /* stp x29, x30, [sp, #-16]! */
#define LDP_16    0xa8c17bfdu /* ldp x29, x30, [sp], #16 */
#define LDR_FP_16 0xf84107fdu /* ldr x29, [sp], #16 */
#define FP_IS_SP  0x910003fdu /* mov x29, sp */
#define CALL      0x97ffff00u /* bl elsewhere */
#define MAKE_32   0xd10083ffu /* sub sp, sp, #32 */
#define LEAVE_32  0x910083ffu /* add sp, sp, #32 */

static struct rows rows;

static int hear(void *context, uint64_t address, const struct rules *rules)
{
	const struct unwind_row none = { .kind = UNWIND_NONE, .fp = SAME };
	const struct unwind_row signal = { .kind = UNWIND_SIGNAL, .fp = SAME };
	uint32_t pc = (uint32_t)(address - CODE);

	(void)context;
	if (rules->kind == RULES_FRAME)
		return rows_add_rules(&rows, pc, rules);
	return rows_add(&rows, pc, rules->kind == RULES_SIGNAL ? signal : none);
}

/* named: a bit for each word where a symbol is. */
static void read_named(const uint32_t *words, size_t count, unsigned char named)
{
	const struct object_part piece = { (const unsigned char *)words, count * 4, CODE, true };
	const struct code_begins begins = { .first = CODE, .count = 8, .named = &named };
	const struct rules_listener listener = { hear, NULL };

	rows_done(&rows);
	rows.machine = unwind_machine_of(EM_AARCH64);
	assert_int_equal(code_of_aarch64.read(&piece, &begins, &listener), 0);
}

static void read_words(const uint32_t *words, size_t count)
{
	read_named(words, count, 0);
}

#define READ(words) read_words(words, ARRAY_SIZE(words))

static const struct unwind_row *row_at(uint32_t pc)
{
	size_t at = 0;

	assert_true(rows.count > 0 && rows.items[0].pc <= pc);
	while (at + 1 < rows.count && rows.items[at + 1].pc <= pc)
		at++;
	return &rows.items[at];
}

static void assert_row(uint32_t pc, unsigned kind, unsigned cfa, int fp)
{
	const struct unwind_row *row = row_at(pc);

	assert_int_equal(row->kind, kind);
	assert_int_equal(row->cfa, cfa);
	assert_int_equal(row->fp, fp);
}

static void knows_the_stubs_of_linkers(void **state)
{
	static const uint32_t words[] = {
		0xa9bf7bf0,                                     /* stp x16, x30, [sp, #-16]! */
		0x900001f0, 0xf947fe11, 0x913fe210, 0xd61f0220, /* adrp, ldr, add, br x17 */
		NOP,        NOP,        NOP,        0xb00001f0, 0xf9400211, 0x91000210,
		0xd61f0220, 0xb00001f0, 0xf9400611, 0x91002210, 0xd61f0220,
	};

	(void)state;
	READ(words);
	assert_row(0, IN_LR, 0, SAME);
	assert_row(4, ALONE, 2, -1);
	assert_row(16, ALONE, 2, -1);
	assert_row(32, IN_LR, 0, SAME);
	assert_row(60, IN_LR, 0, SAME);
}

static void knows_stubs_that_are_guarded(void **state)
{
	static const uint32_t words[] = {
		0xd503245f, 0xa9bf7bf0, /* bti c; stp */
		0x900001f0, 0xf947fe11, 0x913fe210, 0xd61f0220, NOP,        NOP, 0xd503245f,
		0xb00001f0, 0xf9400211, 0x91000210, 0xd503219f, 0xd61f0220, /* autia1716; br x17 */
	};

	(void)state;
	READ(words);
	assert_row(0, IN_LR, 0, SAME);
	assert_row(4, IN_LR, 0, SAME);
	assert_row(8, ALONE, 2, -1);
	assert_row(32, IN_LR, 0, SAME);
	assert_row(52, IN_LR, 0, SAME);
}

/* As crti.o has it. */
static void knows_init(void **state)
{
	static const uint32_t words[] = { NOP, STP_16, FP_IS_SP, CALL, LDP_16, RET };

	(void)state;
	READ(words);
	assert_row(4, IN_LR, 0, SAME);
	assert_row(8, UNWIND_SP, 2, -2);
	assert_row(12, UNWIND_FP, 2, -2);
	assert_row(16, UNWIND_FP, 2, -2);
	assert_row(20, IN_LR, 0, SAME);
}

/* As OpenSSL's sha256_block_armv8 has it: x30 is saved, left alone, and not loaded again. */
static void takes_from_its_register_what_was_popped(void **state)
{
	static const uint32_t words[] = { STP_16, FP_IS_SP, NOP, LDR_FP_16, RET };

	(void)state;
	READ(words);
	assert_row(8, UNWIND_FP, 2, -2);
	assert_row(12, UNWIND_FP, 2, -2);
	assert_row(16, IN_LR, 0, SAME);
}

static void counts_from_the_frame_pointer_where_the_stack_grows(void **state)
{
	static const uint32_t words[] = {
		0xa9be7bfd, FP_IS_SP, /* stp x29, x30, [sp, #-32]!; mov x29, sp */
		0xcb2063ff, CALL,     /* sub sp, sp, x0 */
		0x910003bf,           /* mov sp, x29 */
		0xa8c27bfd, RET,
	};

	(void)state;
	READ(words);
	assert_row(4, UNWIND_SP, 4, -4);
	assert_row(8, UNWIND_FP, 4, -4);
	assert_row(20, UNWIND_FP, 4, -4);
	assert_row(24, IN_LR, 0, SAME);
}

/* A branch over an early return. */
static void takes_the_frame_along_a_branch(void **state)
{
	static const uint32_t words[] = {
		STP_16, 0xb4000060, /* cbz x0, 16 */
		LDP_16, RET,        CALL, LDP_16, RET,
	};

	(void)state;
	READ(words);
	assert_row(12, IN_LR, 0, SAME);
	assert_row(16, UNWIND_SP, 2, -2);
	assert_row(24, IN_LR, 0, SAME);
}

static void says_nothing_where_two_frames_meet(void **state)
{
	static const uint32_t words[] = { 0xb4000040, STP_16, CALL, NOP, RET }; /* cbz x0, 8 */

	(void)state;
	READ(words);
	assert_row(0, IN_LR, 0, SAME);
	assert_int_equal(row_at(8)->kind, UNWIND_NONE);
	assert_int_equal(row_at(16)->kind, UNWIND_NONE);
}

/* Its own return address is nowhere any more. */
static void says_that_a_lost_return_address_is_lost(void **state)
{
	static const uint32_t words[] = { 0xaa0003fe, RET }; /* mov x30, x0 */

	(void)state;
	READ(words);
	assert_row(0, IN_LR, 0, SAME);
	assert_int_equal(row_at(4)->kind, UNWIND_BAD);
}

/* _start of older C libraries. */
static void knows_where_a_program_begins(void **state)
{
	static const uint32_t words[] = { 0xd280001d, 0xd280001e, CALL, CALL, NOP };

	(void)state;
	READ(words);
	assert_row(0, IN_LR, 0, SAME);
	assert_int_equal(row_at(8)->kind, UNWIND_END);
	assert_int_equal(row_at(15)->kind, UNWIND_END);
}

/* clone of musl: the thread's function is called, then the thread ends; what follows is another
 * function, and reached by no way. */
static void knows_where_a_thread_begins(void **state)
{
	static const uint32_t words[] = {
		0xd4000001, 0xb4000040, RET,        /* svc #0; cbz x0, 12 */
		0xa8c103e1, 0xd63f0020,             /* ldp x1, x0, [sp], #16; blr x1 */
		0xd2800ba8, 0xd4000001, 0xb9400000, /* mov x8, #93; svc #0; another one */
	};

	(void)state;
	READ(words);
	assert_row(12, IN_LR, 0, SAME);
	assert_int_equal(row_at(19)->kind, UNWIND_END);
	assert_int_equal(row_at(28)->kind, UNWIND_NONE);
}

/* Nothing tells that the call does not return, nor that another function begins behind it. */
static void sees_that_a_call_does_not_return(void **state)
{
	static const uint32_t words[] = {
		0xa9be7bfd, FP_IS_SP, CALL,                    /* stp x29, x30, [sp, #-32]! */
		STP_16,     CALL,     LDP_16, RET,        NOP, /* by a frame that is made twice */
		0xa9be7bfd, FP_IS_SP, CALL,   0xd10083ff,      /* sub sp, sp, #32 */
		0xa9017bfd, CALL,                              /* stp x29, x30, [sp, #16] */
	};

	(void)state;
	READ(words);
	assert_row(8, UNWIND_FP, 4, -4);
	assert_row(12, IN_LR, 0, SAME);
	assert_row(16, UNWIND_SP, 2, -2);
	assert_row(40, UNWIND_FP, 4, -4);
	assert_int_equal(row_at(52)->kind, UNWIND_NONE);
}

static void sees_the_next_function_behind_a_call(void **state)
{
	static const uint32_t behind_padding[] = { STP_16, FP_IS_SP, CALL,     NOP, MAKE_32,
						   NOP,    CALL,     LEAVE_32, RET };
	static const uint32_t at_once[] = { STP_16, FP_IS_SP, NOP, CALL, MAKE_32, LEAVE_32, RET };
	static const uint32_t with_a_name[] = { STP_16, FP_IS_SP, CALL, RET };

	(void)state;
	READ(behind_padding);
	assert_row(8, UNWIND_FP, 2, -2);
	assert_int_equal(row_at(16)->kind, UNWIND_NONE);
	READ(at_once);
	assert_row(12, UNWIND_FP, 2, -2);
	assert_int_equal(row_at(16)->kind, UNWIND_NONE);
	read_named(with_a_name, ARRAY_SIZE(with_a_name), 1 | 1 << 3);
	assert_row(8, UNWIND_FP, 2, -2);
	assert_row(12, IN_LR, 0, SAME);
}

/* As _dl_tlsdesc_dynamic: it saves x29 and x30 only where it has to call, with two others on the
 * stack already. */
static void no_function_begins_in_the_middle_of_one(void **state)
{
	static const uint32_t words[] = {
		RET,        NOP,
		0xa9be0be1, 0x54000068, /* stp x1, x2, [sp, #-32]!; b.hi over the return */
		0xa8c20be1, RET,        /* ldp x1, x2, [sp], #32 */
		STP_16,     CALL,
		LDP_16,     0x17fffffb, /* b to that ldp */
	};

	(void)state;
	READ(words);
	for (uint32_t pc = 8; pc < sizeof(words); pc += 4)
		assert_int_equal(row_at(pc)->kind, UNWIND_NONE);
}

/* As dlsym, which tells who called it. */
static void knows_an_argument_from_what_is_saved(void **state)
{
	static const uint32_t words[] = {
		0xa9be7bfd, 0xf9000ffe, /* stp x29, x30, [sp, #-32]!; str x30, [sp, #24] */
		CALL,       0xa8c27bfd, /* ldp x29, x30, [sp], #32 */
		RET,
	};

	(void)state;
	READ(words);
	assert_row(8, UNWIND_SP, 4, -4);
	assert_row(16, IN_LR, 0, SAME);
}

static void keeps_vector_registers_apart(void **state)
{
	static const uint32_t words[] = {
		0xfc1f0ffe, /* str d30, [sp, #-16]! */
		0x6d0077fe, /* stp d30, d29, [sp] */
		0xeb2063ff, /* cmp sp, x0 */
		0xfc4107fe, /* ldr d30, [sp], #16 */
		RET,
	};

	(void)state;
	READ(words);
	assert_row(4, IN_LR, 2, SAME);
	assert_row(12, IN_LR, 2, SAME);
	assert_row(16, IN_LR, 0, SAME);
}

/* A handler returns to its first instruction: looked up one byte before. */
static void knows_the_trampoline_of_signals(void **state)
{
	static const uint32_t words[] = {
		RET, NOP, 0xd2801168, 0xd4000001, STP_16, CALL,
	};

	(void)state;
	READ(words);
	assert_row(7, UNWIND_SIGNAL, 0, SAME);
	assert_row(12, UNWIND_SIGNAL, 0, SAME);
	assert_row(16, UNWIND_SIGNAL, 0, SAME); /* in the call */
	assert_row(20, UNWIND_SP, 2, -2);
}

#define LR_TO_X4   0xaa1e03e4u /* mov x4, x30 */
#define RET_X4     0xd65f0080u
#define CALL_AHEAD 0x94000003u /* bl three further */

/* x264 calls its own helpers so, which have no frame and leave x4 alone. */
static void assert_kept(const uint32_t *words, size_t count, bool is_kept)
{
	const struct unwind_special *special;

	read_named(words, count, 1);
	assert_row(0, IN_LR, 0, SAME);
	assert_row(4, is_kept ? UNWIND_SPECIAL : IN_LR, 0, SAME); /* in the call */
	if (!is_kept) {
		assert_int_equal(row_at(8)->kind, UNWIND_BAD);
		return;
	}
	special = &rows.specials[row_at(4)->cfa];
	assert_int_equal(special->base, UNWIND_BASE_SP);
	assert_int_equal(special->offset, 0);
	assert_int_equal(special->ra_saved, UNWIND_SAVED_IN);
	assert_int_equal(special->ra_offset, 4);
	assert_true(special->is_kept);
	special = &rows.specials[row_at(8)->cfa]; /* behind it */
	assert_int_equal(special->ra_saved, UNWIND_SAVED_IN);
	assert_false(special->is_kept);
}

static void finds_a_return_address_in_another_register(void **state)
{
	/* vectors of that number are other registers, and so is what is stored or read */
	static const uint32_t plain[] = { LR_TO_X4,   CALL_AHEAD, RET_X4,
					  NOP,        0x4e209404, /* mla v4.16b, v0.16b, v0.16b */
					  0x4cdf7024,             /* ld1 {v4.16b}, [x1], #16 */
					  0xf9000004,             /* str x4, [x0] */
					  0x8b040000,             /* add x0, x0, x4 */
					  RET };
	static const uint32_t tail[] = { LR_TO_X4, CALL_AHEAD, RET_X4, NOP, 0x14000002, NOP, RET };
	static const uint32_t loop[] = { LR_TO_X4,   CALL_AHEAD, RET_X4, NOP,
					 0xf1000400, 0x54ffffe1, /* subs x0, x0, #1; b.ne */
					 RET };

	(void)state;
	assert_kept(plain, ARRAY_SIZE(plain), true);
	assert_kept(tail, ARRAY_SIZE(tail), true);
	assert_kept(loop, ARRAY_SIZE(loop), true);
}

static void believes_no_register_that_may_be_written(void **state)
{
	static const uint32_t writers[] = {
		0xaa0003e4,             /* mov x4, x0 */
		0x91000484,             /* add x4, x4, #1 */
		0xf9400004,             /* ldr x4, [x0] */
		0xa9401003,             /* ldp x3, x4, [x0] */
		0xf8408483,             /* ldr x3, [x4], #8 */
		0x4cdf7081,             /* ld1 {v1.16b}, [x4], #16 */
		0x4e083c04,             /* mov x4, v0.d[0] */
		0x9e660004,             /* fmov x4, d0 */
		0x9e780004,             /* fcvtzs x4, d0 */
		0xd53bd044,             /* mrs x4, tpidr_el0 */
		0xc85f7c04,             /* ldxr x4, [x0] */
		0xc8047c00,             /* stxr w4, x0, [x0] */
		0xf8200004,             /* ldadd x0, x4, [x0] */
		0xd63f0000,             /* blr x0 */
		CALL,       0xd61f0000, /* br x0 */
		0x04e0e3e4,             /* cntd x4 */
		0xd5287404,             /* sysl x4, #0, c7, c4, #0 */
		0xf83fd000,             /* ld64b x0, [x0]: to x7 */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
		const uint32_t words[] = { LR_TO_X4, CALL_AHEAD, RET_X4, NOP, writers[i], RET };

		assert_kept(words, ARRAY_SIZE(words), false);
	}
}

static void knows_registers_that_are_not_named(void **state)
{
	const uint32_t casp = 0x48227c06;  /* casp x2, x3, x6, x7, [x0] */
	const uint32_t ld64b = 0xf83fd002; /* ld64b x2, [x0]: to x9 */
	/* pacia1716, pacib1716, autia1716, autib1716; chkfeat x16 */
	static const uint32_t hints[] = { 0xd503211f, 0xd503215f, 0xd503219f, 0xd50321df,
					  0xd503251f };

	(void)state;
	assert_true(instruction_may_write(casp, 3));
	assert_false(instruction_may_write(casp, 4));
	assert_true(instruction_may_write(ld64b, 3));
	assert_true(instruction_may_write(ld64b, 9));
	assert_false(instruction_may_write(ld64b, 10));
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		assert_true(instruction_may_write(hints[i], 16));
		assert_true(instruction_may_write(hints[i], 17));
		assert_false(instruction_may_write(hints[i], 4));
	}
}

/* A file of such calls must not cost what they come to. */
static void reads_helpers_only_so_often(void **state)
{
	enum { CALLS = 128, LENGTH = 128 };
	static uint32_t words[1 + CALLS + 1 + LENGTH + 1];
	uint32_t helper = CALLS + 2;

	(void)state;
	words[0] = LR_TO_X4;
	for (uint32_t i = 1; i <= CALLS; i++)
		words[i] = 0x94000000u | (helper - i); /* bl helper */
	words[CALLS + 1] = RET_X4;
	for (uint32_t i = 0; i < LENGTH; i++)
		words[helper + i] = NOP;
	words[helper + LENGTH] = RET;
	read_named(words, ARRAY_SIZE(words), 1);
	assert_int_equal(row_at(8)->kind, UNWIND_SPECIAL);
	assert_int_equal(row_at((CALLS + 1) * 4)->kind, UNWIND_BAD);
}

static void takes_a_return_address_back(void **state)
{
	static const uint32_t words[] = { LR_TO_X4, 0x94000004, NOP, 0xaa0403fe, /* mov x30, x4 */
					  RET,      RET };

	(void)state;
	read_named(words, ARRAY_SIZE(words), 1);
	assert_int_equal(row_at(8)->kind, UNWIND_SPECIAL);
	assert_row(16, IN_LR, 0, SAME);
}

static int clear(void **state)
{
	(void)state;
	rows_done(&rows);
	return 0;
}

/* As V8's prologue of baseline code, which compiles in place of its caller. */
static void goes_on_in_its_callers_place(void **state)
{
	static const uint32_t words[] = { NOP, LDP_16, STP_16, FP_IS_SP, CALL, LDP_16, RET };
	static const uint32_t leaves[] = { NOP, CALL, 0x910003bf, LDP_16, NOP, RET };

	(void)state;
	read_named(words, ARRAY_SIZE(words), 1);
	assert_row(0, IN_LR, 0, SAME);
	assert_row(8, IN_LR, 0, SAME);
	assert_row(16, UNWIND_FP, 2, -2);
	read_named(leaves, ARRAY_SIZE(leaves), 1);
	assert_int_equal(row_at(8)->kind, UNWIND_BAD);
	assert_row(16, IN_LR, 0, SAME);
}

#define ROOM 0xcb256fffu /* sub sp, sp, x5, uxtx #3 */

/* As V8's CallFunction, which makes room for arguments and goes on elsewhere. */
static void needs_no_sp_while_all_else_is_as_at_the_begin(void **state)
{
	static const uint32_t words[] = { NOP, ROOM, NOP, 0xd61f0040 /* br x2 */ };
	static const uint32_t called[] = { NOP, CALL, ROOM, NOP, RET };
	static const uint32_t saved[] = { STP_16, ROOM, NOP, RET };
	const struct unwind_special *special;

	(void)state;
	read_named(words, ARRAY_SIZE(words), 1);
	assert_row(4, IN_LR, 0, SAME);
	assert_row(12, UNWIND_SPECIAL, 0, SAME);
	special = &rows.specials[0];
	assert_int_equal(special->base, UNWIND_BASE_SP);
	assert_int_equal(special->offset, 0);
	assert_int_equal(special->fp_saved, UNWIND_SAVED_NOT);
	assert_int_equal(special->ra_saved, UNWIND_SAVED_NOT);
	assert_true(special->is_low);
	read_named(called, ARRAY_SIZE(called), 1);
	assert_int_equal(row_at(12)->kind, UNWIND_BAD);
	read_named(saved, ARRAY_SIZE(saved), 1);
	assert_int_equal(row_at(8)->kind, UNWIND_BAD);
}

/* The end of a function whose begin is not known, and which looks as if one began there. */
static void an_epilogue_is_no_begin(void **state)
{
	static const uint32_t words[] = { RET, 0xd503245f /* bti c */, NOP, LDP_16, RET };

	(void)state;
	READ(words);
	assert_int_equal(row_at(8)->kind, UNWIND_NONE);
}

/* OCaml's rules say of x30, until the function returns, that it lies where it was saved. */
static void what_lies_below_the_stack_is_in_its_register(void **state)
{
	struct rules rules = { .kind = RULES_FRAME,
			       .cfa = { .kind = RULE_AT, .base = 31, .offset = 16 },
			       .ra = { .kind = RULE_AT, .offset = -8 } };

	(void)state;
	rows_done(&rows);
	rows.machine = unwind_machine_of(EM_AARCH64);
	assert_int_equal(rows_add_rules(&rows, 0, &rules), 0);
	rules.cfa.offset = 0;
	assert_int_equal(rows_add_rules(&rows, 4, &rules), 0);
	assert_row(0, ALONE, 2, -1);
	assert_row(4, IN_LR, 0, SAME);
}

static void keep_target(void *context, uint64_t target)
{
	*(uint64_t *)context = target;
}

static void tells_where_calls_lead(void **state)
{
	static const uint32_t code[] = { NOP, CALL, RET };
	const struct object_part piece = { (const unsigned char *)code, sizeof(code), CODE, true };
	uint64_t target = 0;

	(void)state;
	assert_int_equal(code_of_aarch64.each_call(&piece, 0, keep_target, &target), sizeof(code));
	assert_int_equal(target, CODE + 4 - 0x400);
	assert_int_equal(code_of_aarch64.each_call(&piece, 4, keep_target, &target), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_stubs_of_linkers),
		cmocka_unit_test(knows_stubs_that_are_guarded),
		cmocka_unit_test(knows_init),
		cmocka_unit_test(takes_from_its_register_what_was_popped),
		cmocka_unit_test(counts_from_the_frame_pointer_where_the_stack_grows),
		cmocka_unit_test(takes_the_frame_along_a_branch),
		cmocka_unit_test(says_nothing_where_two_frames_meet),
		cmocka_unit_test(says_that_a_lost_return_address_is_lost),
		cmocka_unit_test(knows_where_a_program_begins),
		cmocka_unit_test(knows_where_a_thread_begins),
		cmocka_unit_test(sees_that_a_call_does_not_return),
		cmocka_unit_test(sees_the_next_function_behind_a_call),
		cmocka_unit_test(no_function_begins_in_the_middle_of_one),
		cmocka_unit_test(knows_an_argument_from_what_is_saved),
		cmocka_unit_test(keeps_vector_registers_apart),
		cmocka_unit_test(knows_the_trampoline_of_signals),
		cmocka_unit_test(finds_a_return_address_in_another_register),
		cmocka_unit_test(believes_no_register_that_may_be_written),
		cmocka_unit_test(knows_registers_that_are_not_named),
		cmocka_unit_test(reads_helpers_only_so_often),
		cmocka_unit_test(takes_a_return_address_back),
		cmocka_unit_test(goes_on_in_its_callers_place),
		cmocka_unit_test(an_epilogue_is_no_begin),
		cmocka_unit_test(needs_no_sp_while_all_else_is_as_at_the_begin),
		cmocka_unit_test(what_lies_below_the_stack_is_in_its_register),
		cmocka_unit_test(tells_where_calls_lead),
	};

	return cmocka_run_group_tests(tests, NULL, clear);
}
