/*
 * Walking on aarch64, where calls push nothing: stacks that are made here, in a space with one
 * module whose table is made here too.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "shared/arch/signal_frame.h"
#include "shared/unwind/goroutine.h"

#include "host/unwind/walk.h"

#define CODE      0x400000u
#define JIT       0x500000u
#define STACK     0x7000u
#define WORDS     160u
#define SIGNATURE ((uint64_t)0x5a << 48)
#define IN_LR     (UNWIND_SP | UNWIND_RA_IN_REGISTER)
#define HELD      (UNWIND_SP | UNWIND_FP_HELD)
#define ROW(at, what, words, where)                                       \
	{                                                                 \
		.pc = (at), .cfa = (words), .fp = (where), .kind = (what) \
	}

static const struct unwind_row rows[] = {
	ROW(0x000, UNWIND_NONE, 0, UNWIND_FP_SAME),
	ROW(0x100, IN_LR, 0, UNWIND_FP_SAME),           /* a leaf */
	ROW(0x200, UNWIND_SP, 4, -4),                   /* fp and ra saved */
	ROW(0x300, UNWIND_SP | UNWIND_RA_ALONE, 4, -2), /* ra only */
	ROW(0x400, HELD, 6, -4),                        /* as 0x200, and keeps fp */
	ROW(0x500, UNWIND_SIGNAL, 0, UNWIND_FP_SAME),
	ROW(0x600, UNWIND_END, 0, UNWIND_FP_SAME),
	ROW(0x700, UNWIND_SPECIAL, 0, UNWIND_FP_SAME),
	ROW(0x800, UNWIND_SP | UNWIND_THROWS, 2, -2),
	ROW(0x900, UNWIND_GO_GOBUF, GO_M_GOROUTINE_OF_SEVEN / 8, UNWIND_FP_SAME),
	ROW(0xa00, UNWIND_GO_CGO, 2 << 8, UNWIND_FP_SAME), /* from a frame of two words */
	ROW(0xb00, UNWIND_GO_PUSHED | UNWIND_RA_IN_REGISTER, 2, UNWIND_FP_SAME),
	ROW(0xc00, UNWIND_SPECIAL, 1, UNWIND_FP_SAME), /* sp is lower than the caller's */
	ROW(0xd00, UNWIND_NONE, 0, UNWIND_FP_SAME),
};
static const uint32_t pages[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 };
static const struct unwind_special specials[] = {
	{ .base = UNWIND_BASE_SP, .ra_saved = UNWIND_SAVED_NOT, .offset = 16 },
	{ .base = UNWIND_BASE_SP, .ra_saved = UNWIND_SAVED_NOT, .is_low = 1 },
};
static const struct unwind_table table = {
	.rows = rows,
	.row_count = ARRAY_SIZE(rows),
	.pages = pages,
	.page_count = ARRAY_SIZE(pages),
	.specials = specials,
	.special_count = ARRAY_SIZE(specials),
};
static const struct module file = { .kind = MODULE_FILE, .is_object = true, .table = &table };
static const struct module jit = { .kind = MODULE_ANONYMOUS };
static struct space_range ranges[] = {
	{ .start = CODE, .end = CODE + 0x1000, .bias = CODE, .module = &file },
	{ .start = JIT, .end = JIT + 0x1000, .module = &jit },
};
static const struct space space = { .ranges = ranges, .count = 2 };

static uint64_t stack[WORDS];
static __u64 frames[SAMPLE_FRAMES_MAX];

static int read_stack(void *context, uint64_t address, void *into, size_t size)
{
	(void)context;
	if (address < STACK || address + size > STACK + sizeof(stack))
		return -EFAULT;
	memcpy(into, (char *)stack + (address - STACK), size);
	return 0;
}

static const struct memory_reader reader = { read_stack, NULL };

static struct walk_result walk_from(uint64_t pc, uint64_t fp, uint64_t lr)
{
	const struct walk_registers registers = { .pc = pc, .sp = STACK, .fp = fp, .lr = lr };

	return stack_walk(&space, &registers, &reader, frames, SAMPLE_FRAMES_MAX);
}

static uint64_t place(unsigned word)
{
	return STACK + word * 8u;
}

static void put_record(unsigned word, uint64_t fp, uint64_t ra)
{
	stack[word] = fp;
	stack[word + 1] = ra;
}

static int clear(void **state)
{
	(void)state;
	memset(stack, 0, sizeof(stack));
	return 0;
}

static void walks_rows_up_to_the_end(void **state)
{
	struct walk_result result;

	(void)state;
	put_record(0, 7, CODE + 0x310); /* the leaf's caller, whose frame is 4 words */
	stack[6] = CODE + 0x605;
	result = walk_from(CODE + 0x100, 1, CODE + 0x210);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 4);
	assert_int_equal(frames[1], CODE + 0x210);
	assert_int_equal(frames[2], CODE + 0x310);
	assert_int_equal(frames[3], CODE + 0x605);
}

static void takes_signatures_out(void **state)
{
	struct walk_result result;

	(void)state;
	put_record(0, 0, SIGNATURE | (CODE + 0x605));
	result = walk_from(CODE + 0x100, 1, SIGNATURE | (CODE + 0x210));
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 3);
	assert_int_equal(frames[1], CODE + 0x210);
	assert_int_equal(frames[2], CODE + 0x605);
}

/* Its call has overwritten x30. */
static void a_caller_has_its_return_address_saved(void **state)
{
	(void)state;
	assert_int_not_equal(walk_from(CODE + 0x100, 0, CODE + 0x110).end, STACK_COMPLETE);
	assert_int_equal(walk_from(CODE + 0x100, 0, CODE + 0x710).end, STACK_NO_RULE);
}

/* It moved sp by what nobody knows: only a caller that keeps x29 is found behind it. */
static void a_stack_pointer_that_is_too_low_leads_to_callers_with_x29(void **state)
{
	struct walk_result result;

	(void)state;
	put_record(8, 0, CODE + 0x605);
	result = walk_from(CODE + 0xc10, place(8), CODE + 0x410);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 3);
	assert_int_equal(frames[1], CODE + 0x410);
	assert_int_equal(walk_from(CODE + 0xc10, place(8), CODE + 0x210).end, STACK_NO_RULE);
}

/* A thread that waits, of which only pc and sp are known. */
static void an_unknown_register_is_no_end(void **state)
{
	struct walk_registers registers = {
		.pc = CODE + 0x100, .sp = STACK, .is_fp_unknown = true, .is_lr_unknown = true
	};

	(void)state;
	assert_int_equal(stack_walk(&space, &registers, &reader, frames, 8).end, STACK_NO_RULE);
	registers.pc = CODE + 0x700;
	assert_int_equal(stack_walk(&space, &registers, &reader, frames, 8).end, STACK_NO_RULE);
}

/* What was interrupted is a leaf: its return address is in the x30 that the kernel laid down. */
static void takes_all_registers_from_a_signal(void **state)
{
	struct walk_result result;

	(void)state;
	put_record(0, 0, CODE + 0x501);
	stack[4 + SIGNAL_FRAME_PC / 8] = CODE + 0x100;
	stack[4 + SIGNAL_FRAME_SP / 8] = place(120);
	stack[4 + SIGNAL_FRAME_FP / 8] = place(122);
	stack[4 + SIGNAL_FRAME_LR / 8] = CODE + 0x210;
	put_record(120, 0, CODE + 0x605);
	result = walk_from(CODE + 0x200, 0, 0);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 5);
	assert_int_equal(frames[1], CODE + 0x502); /* looked up one before, at its first */
	assert_int_equal(frames[2], CODE + 0x101);
	assert_int_equal(frames[3], CODE + 0x210);
	assert_int_equal(frames[4], CODE + 0x605);
}

/* The frame of made code goes on above its record, how far nobody knows. */
static void a_caller_by_its_frame_pointer_has_no_sp(void **state)
{
	struct walk_result result;

	(void)state;
	put_record(2, place(20), CODE + 0x410);
	put_record(20, 0, CODE + 0x605);
	result = walk_from(JIT, place(2), 0);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 3);
	assert_int_equal(frames[1], CODE + 0x410);
	assert_int_equal(frames[2], CODE + 0x605);
	put_record(2, place(20), CODE + 0x210); /* does not say that it keeps fp */
	put_record(4, 0, CODE + 0x605);
	result = walk_from(JIT, place(2), 0);
	assert_int_equal(result.end, STACK_NO_RULE);
	assert_int_equal(result.count, 2);
	put_record(2, place(20), CODE + 0x501); /* nor is the signal's frame there */
	assert_int_equal(walk_from(JIT, place(2), 0).end, STACK_NO_RULE);
}

static void finds_sp_again_behind_a_frame_pointer(void **state)
{
	struct walk_result result;

	(void)state;
	put_record(2, place(20), CODE + 0x410);
	put_record(20, 0, CODE + 0x310); /* its CFA is 4 words above */
	stack[26] = CODE + 0x605;
	result = walk_from(JIT, place(2), 0);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 4);
	assert_int_equal(frames[3], CODE + 0x605);
}

/* Its return address is that of the handler's frame, which lies above; where the frame that called
 * from there ends is tried. */
static void finds_the_handler_of_an_exception(void **state)
{
	struct walk_result result;

	(void)state;
	put_record(0, 1, CODE + 0x310);               /* of the function that throws */
	put_record(2, 0, SIGNATURE | (CODE + 0x310)); /* of who called it: six words */
	stack[10] = CODE + 0x605;
	result = walk_from(CODE + 0x810, 0, 0);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_true(result.is_guessed);
	assert_int_equal(result.count, 3);
	assert_int_equal(frames[1], CODE + 0x310);
	assert_int_equal(frames[2], CODE + 0x605);
	stack[10] = 0x123;
	result = walk_from(CODE + 0x810, 0, 0);
	assert_int_not_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 1);
}

/* 0 may be what a register has: nobody says that a stack begins there. */
static void a_zero_is_no_end(void **state)
{
	(void)state;
	assert_int_equal(walk_from(CODE + 0x200, 0, 0).end, STACK_ZERO);
	put_record(0, 0, CODE + 0x10);
	assert_int_equal(walk_from(CODE + 0x200, 1, 0).end, STACK_ZERO);
	put_record(0, place(4), JIT + 0x10);
	put_record(4, 0, JIT + 0x20);
	assert_int_equal(walk_from(JIT, place(0), 0).end, STACK_GENERATED);
}

#define GOROUTINE 20u /* the word where it lies; then the thread's own, and the thread */
#define OWN       50u
#define THREAD    60u

static struct walk_result walk_go(uint64_t pc, uint64_t lr)
{
	struct walk_registers registers = { .pc = pc, .sp = STACK, .fp = 1, .lr = lr };

	registers.all[GO_REGISTER_G] = place(OWN);
	registers.mask = (uint64_t)1 << GO_REGISTER_G;
	return stack_walk(&space, &registers, &reader, frames, SAMPLE_FRAMES_MAX);
}

static void goes_back_to_the_goroutine(void **state)
{
	unsigned gobuf = GOROUTINE + GO_G_GOBUF / 8;
	struct walk_result result;

	(void)state;
	stack[OWN + GO_G_M / 8] = place(THREAD);
	stack[THREAD] = place(OWN);
	/* The scheduler, or what it was when this was read. */
	assert_int_equal(walk_go(CODE + 0x910, 0).end, STACK_SWITCHED);
	stack[THREAD + GO_M_GOROUTINE_OF_SEVEN / 8] = place(GOROUTINE);
	assert_int_equal(walk_go(CODE + 0x910, 0).end, STACK_SWITCHED); /* it has no registers */
	stack[gobuf + GO_GOBUF_SP] = place(2);
	stack[gobuf + GO_GOBUF_PC] = CODE + 0x100;
	stack[gobuf + GO_GOBUF_LR_OF_SIX + 1] = CODE + 0x605;
	result = walk_go(CODE + 0x910, 0);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 3);
	assert_int_equal(frames[1], CODE + 0x101);
	assert_int_equal(frames[2], CODE + 0x605);
	stack[THREAD] = place(WORDS); /* another thread's */
	assert_int_equal(walk_go(CODE + 0x910, 0).end, STACK_SWITCHED);
	assert_int_equal(walk_from(CODE + 0x910, 0, 0).end, STACK_SWITCHED);
}

static void goes_back_from_c_to_go(void **state)
{
	struct walk_result result;

	(void)state;
	stack[0] = place(GOROUTINE);
	stack[1] = 16; /* so deep was its stack */
	stack[GOROUTINE + GO_G_STACK_END / 8] = place(12);
	put_record(9, 5, CODE + 0x605);
	result = walk_from(CODE + 0xa10, 0, 0);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 2);
	assert_int_equal(frames[1], CODE + 0x605);
	stack[0] = 0; /* called from a thread's own stack */
	stack[1] = place(10);
	assert_int_equal(walk_from(CODE + 0xa10, 0, 0).end, STACK_COMPLETE);
}

/* The leaf that was interrupted returns by what was pushed. */
static void goes_to_where_go_was_interrupted(void **state)
{
	struct walk_result result;

	(void)state;
	stack[0] = CODE + 0x605;
	result = walk_from(CODE + 0xb10, 0, CODE + 0x100);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 3);
	assert_int_equal(frames[1], CODE + 0x101);
	assert_int_equal(frames[2], CODE + 0x605);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(walks_rows_up_to_the_end, clear),
		cmocka_unit_test_setup(takes_signatures_out, clear),
		cmocka_unit_test_setup(a_caller_has_its_return_address_saved, clear),
		cmocka_unit_test_setup(a_stack_pointer_that_is_too_low_leads_to_callers_with_x29,
				       clear),
		cmocka_unit_test_setup(an_unknown_register_is_no_end, clear),
		cmocka_unit_test_setup(takes_all_registers_from_a_signal, clear),
		cmocka_unit_test_setup(a_caller_by_its_frame_pointer_has_no_sp, clear),
		cmocka_unit_test_setup(finds_sp_again_behind_a_frame_pointer, clear),
		cmocka_unit_test_setup(finds_the_handler_of_an_exception, clear),
		cmocka_unit_test_setup(a_zero_is_no_end, clear),
		cmocka_unit_test_setup(goes_back_to_the_goroutine, clear),
		cmocka_unit_test_setup(goes_back_from_c_to_go, clear),
		cmocka_unit_test_setup(goes_to_where_go_was_interrupted, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
