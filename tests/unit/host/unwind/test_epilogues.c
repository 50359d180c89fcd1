/*
 * Rows of functions whose rules leave their epilogues out, mended by their instructions: code and
 * rows are made here, of both machines.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "host/unwind/mend/mend.h"

#define PC    0x100u
#define SAME  UNWIND_FP_SAME
#define IN_LR (UNWIND_SP | UNWIND_RA_IN_REGISTER)
#define ALONE (UNWIND_SP | UNWIND_RA_ALONE)

static struct rows rows;

static void rows_begin(unsigned elf_machine)
{
	rows_done(&rows);
	rows.machine = unwind_machine_of(elf_machine);
}

static void row(uint32_t at, unsigned kind, unsigned cfa, int fp)
{
	const struct unwind_row row = { .kind = (__u8)kind, .cfa = (__u16)cfa, .fp = (__s8)fp };

	assert_int_equal(rows_add(&rows, PC + at, row), 0);
}

static void mend_bytes(const void *bytes, size_t size)
{
	const struct object_part code = { bytes, size, PC, true };

	assert_int_equal(epilogues_mend(&rows, 0, &code, PC), 0);
}

#define MEND(code) mend_bytes(code, sizeof(code))

static void assert_row(uint32_t at, unsigned kind, unsigned cfa, int fp)
{
	size_t number = 0;

	while (number + 1 < rows.count && rows.items[number + 1].pc <= PC + at)
		number++;
	assert_int_equal(rows.items[number].kind, kind);
	assert_int_equal(rows.items[number].cfa, cfa);
	assert_int_equal(rows.items[number].fp, fp);
}

static void takes_a_frame_down_pop_by_pop(void **state)
{
	static const unsigned char code[] = {
		0x55,                         /*  0 push %rbp */
		0x53,                         /*  1 push %rbx */
		0x48, 0x83, 0xec, 0x18,       /*  2 sub $24, %rsp */
		0xe8, 0x00, 0x10, 0x00, 0x00, /*  6 call elsewhere */
		0x48, 0x83, 0xc4, 0x18,       /* 11 add $24, %rsp */
		0x5b,                         /* 15 pop %rbx */
		0x5d,                         /* 16 pop %rbp */
		0xc3,                         /* 17 ret */
	};

	(void)state;
	rows_begin(EM_X86_64);
	row(0, UNWIND_SP, 1, SAME);
	row(1, UNWIND_SP, 2, -2);
	row(2, UNWIND_SP, 3, -2);
	row(6, UNWIND_SP, 6, -2);
	MEND(code);
	assert_row(1, UNWIND_SP, 2, -2);
	assert_row(11, UNWIND_SP, 6, -2);
	assert_row(15, UNWIND_SP, 3, -2);
	assert_row(16, UNWIND_SP, 2, -2);
	assert_row(17, UNWIND_SP, 1, SAME);
	assert_int_equal(rows.count, 7);
}

static void takes_down_what_the_frame_pointer_leads_to(void **state)
{
	static const unsigned char code[] = {
		0x55,                         /*  0 push %rbp */
		0x48, 0x89, 0xe5,             /*  1 mov %rsp, %rbp */
		0x53,                         /*  4 push %rbx */
		0x48, 0x83, 0xec, 0x18,       /*  5 sub $24, %rsp */
		0xe8, 0x00, 0x10, 0x00, 0x00, /*  9 call elsewhere */
		0x48, 0x8d, 0x65, 0xf8,       /* 14 lea -8(%rbp), %rsp */
		0x5b,                         /* 18 pop %rbx */
		0x5d,                         /* 19 pop %rbp */
		0xf3, 0xc3,                   /* 20 rep ret */
		0xe8, 0x00, 0x10, 0x00, 0x00, /* 22 call elsewhere */
		0xc9,                         /* 27 leave */
		0xe9, 0x00, 0x10, 0x00, 0x00, /* 28 jmp elsewhere */
	};

	(void)state;
	rows_begin(EM_X86_64);
	row(0, UNWIND_SP, 1, SAME);
	row(1, UNWIND_SP, 2, -2);
	row(4, UNWIND_FP, 2, -2);
	MEND(code);
	assert_row(19, UNWIND_FP, 2, -2);
	assert_row(20, UNWIND_SP, 1, SAME);
	assert_row(22, UNWIND_FP, 2, -2);
	assert_row(27, UNWIND_FP, 2, -2);
	assert_row(28, UNWIND_SP, 1, SAME);
}

/* Neither is an exit: a case of a switch, and a part of the function that lies elsewhere. */
static void leaves_jumps_with_a_frame_alone(void **state)
{
	static const unsigned char code[] = {
		0x55,                         /*  0 push %rbp */
		0x48, 0x89, 0xe5,             /*  1 mov %rsp, %rbp */
		0xff, 0xe0,                   /*  4 jmp *%rax */
		0x48, 0x83, 0xec, 0x18,       /*  6 sub $24, %rsp */
		0xe9, 0x00, 0x10, 0x00, 0x00, /* 10 jmp elsewhere */
	};

	(void)state;
	rows_begin(EM_X86_64);
	row(0, UNWIND_SP, 1, SAME);
	row(1, UNWIND_SP, 2, -2);
	row(4, UNWIND_FP, 2, -2);
	MEND(code);
	assert_int_equal(rows.count, 3);
	assert_row(10, UNWIND_FP, 2, -2);
}

/* LuaJIT: one rule for all of it. */
static void leaves_code_that_begins_with_a_frame_alone(void **state)
{
	static const unsigned char code[] = {
		0x48, 0x83, 0xc4, 0x48, /* 0 add $72, %rsp */
		0xc3,                   /* 4 ret */
	};

	(void)state;
	rows_begin(EM_X86_64);
	row(0, UNWIND_SP, 10, -2);
	MEND(code);
	assert_int_equal(rows.count, 1);
}

/* A return to where the function has pushed: no function has called from there. */
static void leaves_a_pushed_address_alone(void **state)
{
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x18, /* 0 sub $24, %rsp */
		0x50,                   /* 4 push %rax */
		0xc3,                   /* 5 ret */
	};

	(void)state;
	rows_begin(EM_X86_64);
	row(0, UNWIND_SP, 1, SAME);
	row(4, UNWIND_SP, 4, SAME);
	row(5, UNWIND_SP, 5, SAME);
	MEND(code);
	assert_int_equal(rows.count, 3);
}

static void leaves_rules_that_tell_of_epilogues_alone(void **state)
{
	static const unsigned char code[] = {
		0x53,       /* 0 push %rbx */
		0x5b,       /* 1 pop %rbx */
		0xc3,       /* 2 ret */
		0x90, 0xc3, /* 3 nop, ret */
	};

	(void)state;
	rows_begin(EM_X86_64);
	row(0, UNWIND_SP, 1, SAME);
	row(1, UNWIND_SP, 2, SAME);
	row(2, UNWIND_SP, 1, SAME);
	row(3, UNWIND_SP, 2, SAME);
	MEND(code);
	assert_int_equal(rows.count, 4);
}

/* gcc says that the caller's rbp lies where rbp points to, also behind `leave`. */
static void has_rbp_back_behind_leave_of_an_aligned_stack(void **state)
{
	static const unsigned char code[] = {
		0x4c, 0x8b, 0x55, 0xf8, /* 0 mov -8(%rbp), %r10 */
		0xc9,                   /* 4 leave */
		0x49, 0x8d, 0x62, 0xf8, /* 5 lea -8(%r10), %rsp */
		0xc3,                   /* 9 ret */
	};
	struct unwind_special special = { .base = UNWIND_BASE_REGISTER + 10,
					  .fp_saved = UNWIND_SAVED_AT_BASE,
					  .ra_saved = UNWIND_SAVED_AT_CFA,
					  .ra_offset = -8 };

	(void)state;
	rows_begin(EM_X86_64);
	assert_int_equal(rows_add_special(&rows, PC, &special), 0);
	special.base = UNWIND_BASE_SP;
	special.offset = 8;
	assert_int_equal(rows_add_special(&rows, PC + 9, &special), 0);
	MEND(code);
	assert_row(4, UNWIND_SPECIAL, 0, SAME);
	assert_row(5, UNWIND_SPECIAL, 2, SAME);
	assert_int_equal(rows.specials[2].fp_saved, UNWIND_SAVED_NOT);
	assert_row(9, UNWIND_SP, 1, SAME);
}

/* gcc before 11 says so one instruction early. */
static void has_rbp_still_before_it_points_to_an_aligned_frame(void **state)
{
	static const unsigned char code[] = {
		0x4c, 0x8d, 0x54, 0x24, 0x08, /*  0 lea 8(%rsp), %r10 */
		0x48, 0x83, 0xe4, 0xc0,       /*  5 and $-64, %rsp */
		0x41, 0xff, 0x72, 0xf8,       /*  9 push -8(%r10) */
		0x55,                         /* 13 push %rbp */
		0x48, 0x89, 0xe5,             /* 14 mov %rsp, %rbp */
		0x41, 0x52,                   /* 17 push %r10 */
		0x90,                         /* 19 nop */
	};
	struct unwind_special special = { .base = UNWIND_BASE_REGISTER + 10,
					  .ra_saved = UNWIND_SAVED_AT_CFA,
					  .ra_offset = -8 };

	(void)state;
	rows_begin(EM_X86_64);
	row(0, UNWIND_SP, 1, SAME);
	assert_int_equal(rows_add_special(&rows, PC + 5, &special), 0);
	special.fp_saved = UNWIND_SAVED_AT_BASE;
	assert_int_equal(rows_add_special(&rows, PC + 14, &special), 0);
	special.base = UNWIND_BASE_FP;
	special.offset = -8;
	special.is_dereferenced = 1;
	assert_int_equal(rows_add_special(&rows, PC + 19, &special), 0);
	MEND(code);
	assert_row(5, UNWIND_SPECIAL, 0, SAME);
	assert_row(14, UNWIND_SPECIAL, 0, SAME);
	assert_row(17, UNWIND_SPECIAL, 1, SAME);
	assert_row(19, UNWIND_SPECIAL, 2, SAME);
}

/* clang before 15: all rules stand behind the prologue. */
static void mends_both_ends_of_a_record(void **state)
{
	static const uint32_t code[] = {
		0xd503233f, /*  0 paciasp */
		0xa9be7bfd, /*  4 stp x29, x30, [sp, #-32]! */
		0xf9000bf3, /*  8 str x19, [sp, #16] */
		0x910003fd, /* 12 mov x29, sp */
		0xd503201f, /* 16 nop: what follows has a rule */
		0x94000400, /* 20 bl elsewhere */
		0xf9400bf3, /* 24 ldr x19, [sp, #16] */
		0xa8c27bfd, /* 28 ldp x29, x30, [sp], #32 */
		0xd50323bf, /* 32 autiasp */
		0xd65f03c0, /* 36 ret */
	};

	(void)state;
	rows_begin(EM_AARCH64);
	row(0, IN_LR, 0, SAME);
	row(20, UNWIND_FP, 4, -4);
	MEND(code);
	assert_row(4, IN_LR, 0, SAME);
	assert_row(8, UNWIND_SP, 4, -4);
	assert_row(12, UNWIND_SP, 4, -4);
	assert_row(16, UNWIND_FP, 4, -4);
	assert_row(28, UNWIND_FP, 4, -4);
	assert_row(32, IN_LR, 0, SAME);
	assert_row(36, IN_LR, 0, SAME);
}

static void mends_both_ends_of_a_frame_without_pointer(void **state)
{
	static const uint32_t code[] = {
		0xd10083ff, /*  0 sub sp, sp, #32 */
		0xa9014ffe, /*  4 stp x30, x19, [sp, #16] */
		0x94000400, /*  8 bl elsewhere */
		0xa9414ffe, /* 12 ldp x30, x19, [sp, #16] */
		0x910083ff, /* 16 add sp, sp, #32 */
		0xd65f0bff, /* 20 retaa */
		0xa9414ffe, /* 24 ldp x30, x19, [sp, #16] */
		0x910083ff, /* 28 add sp, sp, #32 */
		0x14000400, /* 32 b elsewhere */
	};

	(void)state;
	rows_begin(EM_AARCH64);
	row(0, IN_LR, 0, SAME);
	row(8, ALONE, 4, -2);
	MEND(code);
	assert_row(0, IN_LR, 0, SAME);
	assert_row(4, IN_LR, 4, SAME);
	assert_row(16, ALONE, 4, -2);
	assert_row(20, IN_LR, 0, SAME);
	assert_row(24, ALONE, 4, -2);
	assert_row(32, IN_LR, 0, SAME);
}

/* The rule says at once that x30 is saved, which the body does. */
static void knows_what_is_saved_later_than_said(void **state)
{
	static const uint32_t code[] = {
		0xd10083ff, /*  0 sub sp, sp, #32 */
		0xd2800000, /*  4 mov x0, #0 */
		0xf9000bfe, /*  8 str x30, [sp, #16] */
		0x94000400, /* 12 bl elsewhere */
		0xf9400bfe, /* 16 ldr x30, [sp, #16] */
		0x910083ff, /* 20 add sp, sp, #32 */
		0xd65f03c0, /* 24 ret */
	};

	(void)state;
	rows_begin(EM_AARCH64);
	row(0, IN_LR, 0, SAME);
	row(4, ALONE, 4, -2);
	MEND(code);
	assert_row(0, IN_LR, 0, SAME);
	assert_row(4, IN_LR, 4, SAME);
	assert_row(8, IN_LR, 4, SAME);
	assert_row(12, ALONE, 4, -2);
	assert_row(24, IN_LR, 0, SAME);
}

/* Code that is entered without a frame, behind a return. */
static void knows_a_return_without_a_frame(void **state)
{
	static const uint32_t code[] = {
		0xb4000080, /*  0 cbz x0, 16 */
		0xa9bf7bfd, /*  4 stp x29, x30, [sp, #-16]! */
		0x910003fd, /*  8 mov x29, sp */
		0xd4200020, /* 12 brk #1 */
		0xd2800000, /* 16 mov x0, #0 */
		0xd65f03c0, /* 20 ret */
	};

	(void)state;
	rows_begin(EM_AARCH64);
	row(0, IN_LR, 0, SAME);
	row(12, UNWIND_FP, 2, -2);
	MEND(code);
	assert_row(4, IN_LR, 0, SAME);
	assert_row(8, UNWIND_SP, 2, -2);
	assert_row(12, UNWIND_FP, 2, -2);
	assert_row(16, IN_LR, 0, SAME);
	assert_row(20, IN_LR, 0, SAME);
}

static int rows_end(void **state)
{
	(void)state;
	rows_done(&rows);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_a_frame_down_pop_by_pop),
		cmocka_unit_test(takes_down_what_the_frame_pointer_leads_to),
		cmocka_unit_test(leaves_jumps_with_a_frame_alone),
		cmocka_unit_test(leaves_code_that_begins_with_a_frame_alone),
		cmocka_unit_test(leaves_a_pushed_address_alone),
		cmocka_unit_test(leaves_rules_that_tell_of_epilogues_alone),
		cmocka_unit_test(has_rbp_back_behind_leave_of_an_aligned_stack),
		cmocka_unit_test(has_rbp_still_before_it_points_to_an_aligned_frame),
		cmocka_unit_test(mends_both_ends_of_a_record),
		cmocka_unit_test(mends_both_ends_of_a_frame_without_pointer),
		cmocka_unit_test(knows_what_is_saved_later_than_said),
		cmocka_unit_test(knows_a_return_without_a_frame),
	};

	return cmocka_run_group_tests(tests, NULL, rows_end);
}
