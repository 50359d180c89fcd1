/*
 * Walking: stacks that are made here, in a space with one module whose table is made here too.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "shared/arch/elf.h"
#include "shared/arch/signal_frame.h"
#include "shared/unwind/luajit.h"

#include "host/unwind/walk.h"
#include "shared/unwind/goroutine.h"

#define CODE  0x400000u
#define JIT   0x500000u
#define STACK 0x7000u
#define WORDS 64u
#define ROW(at, what, words, where)                                       \
	{                                                                 \
		.pc = (at), .cfa = (words), .fp = (where), .kind = (what) \
	}

static const struct unwind_row rows[] = {
	ROW(0x000, UNWIND_NONE, 0, UNWIND_FP_SAME),
	ROW(0x100, UNWIND_SP, 1, UNWIND_FP_SAME), /* a leaf */
	ROW(0x200, UNWIND_SP, 4, -2),             /* saved fp */
	ROW(0x300, UNWIND_FP, 2, -2),             /* keeps fp */
	ROW(0x400, UNWIND_PLT, 11, UNWIND_FP_SAME),
	ROW(0x500, UNWIND_SIGNAL, 0, UNWIND_FP_SAME),
	ROW(0x600, UNWIND_END, 0, UNWIND_FP_SAME),
	ROW(0x700, UNWIND_SPECIAL, 0, UNWIND_FP_SAME),
	ROW(0x800, UNWIND_BAD, 0, UNWIND_FP_SAME),
	ROW(0x900, UNWIND_SPECIAL, 1, UNWIND_FP_SAME),
	ROW(0xa00, UNWIND_FP | UNWIND_THROWS, 2, -2),
	ROW(0xb00, UNWIND_SPECIAL | UNWIND_THROWS, 2, UNWIND_FP_SAME),
	ROW(0xc00, UNWIND_SPECIAL, 3, UNWIND_FP_SAME),
	ROW(0xd00, UNWIND_GO_PUSHED, 5, UNWIND_FP_SAME),
	ROW(0xd40, UNWIND_GO_CALLED_BACK, 5, -2),
	ROW(0xd80, UNWIND_SPECIAL, 4, UNWIND_FP_SAME),
	ROW(0xdc0, UNWIND_SPECIAL, 5, UNWIND_FP_SAME),
	ROW(0xe00, UNWIND_LUAJIT, LUAJIT_WORDS_X86_64, LUAJIT_FP),
	ROW(0xf00, UNWIND_LUAJIT, LUAJIT_WORDS_X86_64 | LUAJIT_ASSEMBLY, LUAJIT_FP),
	ROW(0x1000, UNWIND_NONE, 0, UNWIND_FP_SAME),
};
static const uint32_t pages[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 17, 18, 19 };
static const struct unwind_special specials[] = {
	/* A realigned stack. */
	{ .base = UNWIND_BASE_FP,
	  .is_dereferenced = 1,
	  .fp_saved = UNWIND_SAVED_AT_BASE,
	  .ra_saved = UNWIND_SAVED_AT_CFA,
	  .offset = -8,
	  .ra_offset = -8 },
	/* CFA = r10 + 0. */
	{ .base = UNWIND_BASE_REGISTER + 10, .ra_saved = UNWIND_SAVED_AT_CFA, .ra_offset = -8 },
	/* CFA = sp, ra in register 2. */
	{ .base = UNWIND_BASE_SP, .ra_saved = UNWIND_SAVED_IN, .ra_offset = 2 },
	/* CFA = [sp - 8] + 8. */
	{ .base = UNWIND_BASE_SP,
	  .is_dereferenced = 1,
	  .ra_saved = UNWIND_SAVED_AT_CFA,
	  .offset = -8,
	  .addition = 8,
	  .ra_offset = -8 },
	/* CFA = r10 + 8, which whom it calls leaves alone. */
	{ .base = UNWIND_BASE_REGISTER + 10,
	  .ra_saved = UNWIND_SAVED_AT_CFA,
	  .offset = 8,
	  .ra_offset = -8,
	  .is_kept = 1 },
	/* CFA = [sp - 24] + 16, saved by whom it calls. */
	{ .base = UNWIND_BASE_SP,
	  .is_dereferenced = 1,
	  .ra_saved = UNWIND_SAVED_AT_CFA,
	  .offset = -24,
	  .addition = 16,
	  .ra_offset = -8 },
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

static int read_stack(void *context, uint64_t address, void *into, size_t size)
{
	(void)context;
	if (address < STACK || address + size > STACK + sizeof(stack))
		return -EFAULT;
	memcpy(into, (char *)stack + (address - STACK), size);
	return 0;
}

static const struct memory_reader reader = { read_stack, NULL };
static __u64 frames[SAMPLE_FRAMES_MAX];

#ifdef __x86_64__

static struct walk_result walk_from(uint64_t pc, uint64_t fp)
{
	const struct walk_registers registers = { .pc = pc, .sp = STACK, .fp = fp };

	return stack_walk(&space, &registers, &reader, frames, SAMPLE_FRAMES_MAX);
}

static void put(unsigned word, uint64_t value)
{
	stack[word] = value;
}

static uint64_t place(unsigned word)
{
	return STACK + word * 8u;
}

#endif

static int clear(void **state)
{
	(void)state;
	memset(stack, 0, sizeof(stack));
	return 0;
}

#ifdef __x86_64__

static void walks_rows_up_to_the_end(void **state)
{
	struct walk_result result;

	(void)state;
	put(0, CODE + 0x210); /* the leaf's caller, whose frame is 4 words */
	put(3, place(9));     /* its saved fp */
	put(4, CODE + 0x310); /* ... called by one that keeps fp */
	put(9, 7);
	put(10, CODE + 0x605);
	result = walk_from(CODE + 0x100, 1);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 4);
	assert_int_equal(frames[0], CODE + 0x100);
	assert_int_equal(frames[1], CODE + 0x210);
	assert_int_equal(frames[2], CODE + 0x310);
	assert_int_equal(frames[3], CODE + 0x605);
}

/* The frame lies some words up, and leads to a state that leads back to it. */
static void finds_the_frame_of_luajit(void **state)
{
	struct walk_result result;

	(void)state;
	put(1, place(40)); /* a frame that has been left */
	put(5, place(40));
	put(50, place(3) | 1);
	put(12, CODE + 0x605);
	result = walk_from(CODE + 0xe10, 1);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 2);
	put(50, place(2));
	result = walk_from(CODE + 0xe10, 1);
	assert_int_equal(result.end, STACK_GENERATED);
	assert_int_equal(result.count, 1);
}

/* Where it calls C its frame is whole, whatever the state runs by now. */
static void knows_the_frame_of_the_assembly_of_luajit(void **state)
{
	struct walk_result result;

	(void)state;
	put(0, CODE + 0xf10);
	put(3, place(40));
	put(41, LUAJIT_KIND_STATE << 8);
	put(10, CODE + 0x605);
	result = walk_from(CODE + 0x100, 1);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 3);
	result = walk_from(CODE + 0xf10, 1);
	assert_int_equal(result.end, STACK_GENERATED);
}

/* Below the stack pointer nothing can be read here, as in copies. */
static void finds_a_stack_pointer_that_was_kept_below(void **state)
{
	struct walk_result result;

	(void)state;
	put(1, place(3)); /* points to a pointer to a function */
	put(2, place(6)); /* the caller's stack pointer, saved */
	put(3, CODE + 0x101);
	put(6, CODE + 0x210);
	put(10, CODE + 0x605);
	result = walk_from(CODE + 0xc10, 1);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_true(result.is_guessed);
	assert_int_equal(result.count, 3);
	assert_int_equal(frames[1], CODE + 0x210);
	put(2, 0);
	result = walk_from(CODE + 0xc10, 1);
	assert_int_equal(result.end, STACK_UNREADABLE);
	assert_false(result.is_guessed);
}

static void goes_on_where_another_had_to_stop(void **state)
{
	const struct walk_registers registers = { .pc = CODE + 0x310,
						  .sp = place(5),
						  .fp = place(9) };
	struct walk_result result;

	(void)state;
	put(9, 7);
	put(10, CODE + 0x605);
	frames[0] = CODE + 0x100;
	frames[1] = CODE + 0x210;
	result = stack_walk_on(&space, &registers, /* is_exact */ false, &reader, frames, 3,
			       SAMPLE_FRAMES_MAX);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 4);
	assert_int_equal(frames[1], CODE + 0x210);
	assert_int_equal(frames[2], CODE + 0x310);
	assert_int_equal(frames[3], CODE + 0x605);
}

/* Its return address is that of the handler's frame, which lies above. */
static void finds_the_handler_of_an_exception(void **state)
{
	struct walk_result result;

	(void)state;
	put(4, 1); /* the frame of the function that throws */
	put(5, CODE + 0x210);
	put(8, 0x123); /* where the next return address would lie: no code */
	put(20, CODE + 0x210);
	put(24, CODE + 0x605);
	result = walk_from(CODE + 0xa10, place(4));
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_true(result.is_guessed);
	assert_int_equal(result.count, 3);
	assert_int_equal(frames[1], CODE + 0x210);
	assert_int_equal(frames[2], CODE + 0x605);
}

static void a_handler_that_is_nowhere(void **state)
{
	struct walk_result result;

	(void)state;
	put(4, 1);
	put(5, CODE + 0x210);
	put(9, 0x123);
	result = walk_from(CODE + 0xa10, place(4));
	assert_int_not_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 1);
}

/* Not a return address: the row of the address itself holds. */
static void goes_to_the_handler_by_a_register(void **state)
{
	struct walk_registers registers = { .pc = CODE + 0xb10, .sp = STACK, .mask = 1 << 2 };
	struct walk_result result;

	(void)state;
	registers.all[2] = CODE + 0x600; /* the byte before has another rule */
	result = stack_walk(&space, &registers, &reader, frames, SAMPLE_FRAMES_MAX);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 2);
	assert_int_equal(frames[1], CODE + 0x601); /* looked up one before */
	registers.mask = 0;
	result = stack_walk(&space, &registers, &reader, frames, SAMPLE_FRAMES_MAX);
	assert_int_not_equal(result.end, STACK_COMPLETE);
}

/* The row of the call, not of what lies behind it: a call may be the last thing in a function. */
static void looks_a_return_address_up_one_byte_before(void **state)
{
	(void)state;
	put(0, CODE + 0x700); /* the end of UNWIND_END */
	assert_int_equal(walk_from(CODE + 0x100, 0).end, STACK_COMPLETE);
}

/* A goroutine, its m, g0, and where runtime.cgocallback left the thread's own stack: by words of
 * the stack. */
enum { G = 20, M = 30, G0 = 34, CALLBACK = 10, OUTER_CALLBACK = 46 };

static struct walk_result walk_called_back(uint64_t g)
{
	struct walk_registers registers = { .pc = CODE + 0xd40, .sp = STACK + 8 };

	registers.mask = UINT64_C(1) << GO_REGISTER_G;
	registers.all[GO_REGISTER_G] = g;
	put(G + GO_G_M / 8, place(M));
	put(M + GO_M_G0 / 8, place(G0));
	put(G0 + GO_G_GOBUF / 8 + GO_GOBUF_SP, place(CALLBACK));
	put(CALLBACK, place(OUTER_CALLBACK));
	put(CALLBACK + 4, CODE + 0x110); /* C that called Go */
	put(CALLBACK + 5, CODE + 0xd44); /* which Go has called that C has called back, too */
	put(OUTER_CALLBACK + 4, CODE + 0x120);
	put(OUTER_CALLBACK + 5, CODE + 0x610);
	return stack_walk(&space, &registers, &reader, frames, SAMPLE_FRAMES_MAX);
}

static void go_that_c_has_called_returns_to_that_c(void **state)
{
	static const __u64 expected[] = { CODE + 0xd40, CODE + 0x110, CODE + 0xd44, CODE + 0x120,
					  CODE + 0x610 };
	struct walk_result result = walk_called_back(place(G));

	(void)state;
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, ARRAY_SIZE(expected));
	assert_memory_equal(frames, expected, sizeof(expected));
	/* Without a goroutine nothing tells which C it was. */
	result = walk_called_back(0);
	assert_int_equal(result.end, STACK_SWITCHED);
	assert_int_equal(result.count, 1);
}

/* The first byte of a leaf, where nobody has called: what lies before it is another function. */
static void looks_up_where_nobody_has_called(void **state)
{
	struct walk_result result;

	(void)state;
	put(4, CODE + 0x100);
	put(5, CODE + 0x605);
	result = walk_from(CODE + 0xd00, 0);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 3);
	assert_int_equal(frames[1], CODE + 0x101);
	assert_int_equal(frames[2], CODE + 0x605);
}

static void knows_both_halves_of_a_stub(void **state)
{
	(void)state;
	put(0, CODE + 0x601);
	assert_int_equal(walk_from(CODE + 0x400, 0).end, STACK_COMPLETE);
	put(0, 5); /* the number that the stub pushed */
	put(1, CODE + 0x601);
	assert_int_equal(walk_from(CODE + 0x40b, 0).end, STACK_COMPLETE);
	assert_int_equal(frames[1], CODE + 0x601);
}

/* The interrupted pc is exact: it may be the first of its function. */
static void steps_over_a_signal(void **state)
{
	struct walk_result result;

	(void)state;
	put(0, CODE + 0x501);
	put((8 + SIGNAL_FRAME_PC) / 8, CODE + 0x100);
	put((8 + SIGNAL_FRAME_SP) / 8, place(50));
	put((8 + SIGNAL_FRAME_FP) / 8, 0);
	put(50, CODE + 0x601);
	result = walk_from(CODE + 0x100, 0);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 4);
	assert_int_equal(frames[2], CODE + 0x101); /* looked up one byte before, at its first */
}

static void finds_the_caller_of_a_realigned_stack(void **state)
{
	(void)state;
	put(4, place(20)); /* saved fp, at fp */
	put(3, place(12)); /* CFA, at fp - 8 */
	put(11, CODE + 0x301);
	put(20, 0);
	put(21, CODE + 0x601);
	assert_int_equal(walk_from(CODE + 0x700, place(4)).end, STACK_COMPLETE);
	assert_int_equal(frames[1], CODE + 0x301);
	assert_int_equal(frames[2], CODE + 0x601);
}

static void uses_other_registers_only_while_they_are_known(void **state)
{
	struct walk_registers registers = { .pc = CODE + 0x900, .sp = STACK };

	(void)state;
	put(5, CODE + 0x601);
	registers.all[10] = place(6);
	assert_int_equal(stack_walk(&space, &registers, &reader, frames, 8).end, STACK_NO_RULE);
	registers.mask = 1u << 10;
	assert_int_equal(stack_walk(&space, &registers, &reader, frames, 8).end, STACK_COMPLETE);
}

static void uses_a_register_that_was_left_alone(void **state)
{
	struct walk_registers registers = {
		.pc = CODE + 0x100, .sp = STACK, .mask = 1 << 10, .all = { [10] = place(6) }
	};
	struct walk_result result;

	(void)state;
	put(0, CODE + 0xd85);
	put(6, CODE + 0x605);
	result = stack_walk(&space, &registers, &reader, frames, 8);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 3);
	put(0, CODE + 0x210); /* with another one in between nobody knows */
	put(4, CODE + 0xd85);
	assert_int_equal(stack_walk(&space, &registers, &reader, frames, 8).end, STACK_NO_RULE);
}

/* The callee of four words has saved it in its third; the leaf has not yet, or not any more. */
static void reads_what_whom_it_called_has_saved(void **state)
{
	struct walk_result result;

	(void)state;
	put(1, place(8));
	put(3, CODE + 0xdc5);
	put(9, CODE + 0x605);
	result = walk_from(CODE + 0x200, 0);
	assert_int_equal(result.end, STACK_COMPLETE);
	assert_int_equal(result.count, 3);
	assert_int_equal(frames[2], CODE + 0x605);
	put(0, CODE + 0xdc5);
	assert_int_equal(walk_from(CODE + 0x100, 0).end, STACK_NO_RULE);
}

static void follows_frame_pointers_through_code_without_rules(void **state)
{
	(void)state;
	put(2, place(6));
	put(3, JIT + 0x20);
	put(6, 0);
	put(7, CODE + 0x601);
	assert_int_equal(walk_from(JIT + 0x10, place(2)).end, STACK_COMPLETE);
	assert_int_equal(frames[1], JIT + 0x20);
	assert_int_equal(frames[2], CODE + 0x601);
}

/* No frame is made up. */
static void ends_with_a_reason(void **state)
{
	struct walk_result result;

	(void)state;
	assert_int_equal(walk_from(0x123, 0).end, STACK_NO_MAP);
	assert_int_equal(walk_from(CODE + 0x800, 0).end, STACK_NO_RULE);
	assert_int_equal(walk_from(JIT, 3).end, STACK_NO_TABLE);
	assert_int_equal(walk_from(CODE + 0x300, place(WORDS)).end, STACK_UNREADABLE);
	assert_int_equal(walk_from(CODE + 0x300, STACK - 16).end, STACK_UNREADABLE);
	put(0, 0x123);
	result = walk_from(CODE + 0x100, 0);
	assert_int_equal(result.end, STACK_NO_MAP);
	assert_int_equal(result.count, 1);
	put(2, place(6));
	put(3, 0x123);
	result = walk_from(JIT, place(2));
	assert_int_equal(result.end, STACK_NO_TABLE);
	assert_int_equal(result.count, 1);
}

/* 0 may be what a register has: nobody says that a stack begins there. */
static void a_zero_is_no_end(void **state)
{
	(void)state;
	assert_int_equal(walk_from(CODE + 0x100, 0).end, STACK_ZERO);
	assert_int_equal(walk_from(CODE + 0x100, 8).end, STACK_NO_MAP);
	put(2, place(6));
	put(3, JIT + 0x20);
	assert_int_equal(walk_from(JIT + 0x10, place(2)).end, STACK_GENERATED);
}

static void never_goes_in_circles(void **state)
{
	(void)state;
	put(2, STACK - 8); /* a frame pointer that leads back, out of the copy */
	put(3, CODE + 0x301);
	assert_int_equal(walk_from(CODE + 0x300, place(2)).end,
			 ARCH_RETURN_ON_STACK ? STACK_CIRCULAR : STACK_UNREADABLE);
	put(2, place(2));
	assert_int_equal(walk_from(CODE + 0x300, place(2)).end, STACK_CIRCULAR);
}

static void says_that_it_needs_the_frame_pointer(void **state)
{
	struct walk_registers registers = { .pc = CODE + 0x300,
					    .sp = STACK,
					    .is_fp_unknown = true };
	struct walk_result result = stack_walk(&space, &registers, &reader, frames, 8);

	(void)state;
	assert_true(result.needs_fp);
	assert_int_equal(result.end, STACK_NO_RULE);
	registers.pc = CODE + 0x200; /* says where it was saved */
	put(2, place(9));
	put(3, CODE + 0x301);
	put(10, CODE + 0x601);
	result = stack_walk(&space, &registers, &reader, frames, 8);
	assert_false(result.needs_fp);
	assert_int_equal(result.end, STACK_COMPLETE);
}

#endif

static void cuts_what_is_too_deep(void **state)
{
	struct walk_registers registers = { .pc = CODE + 0x600, .sp = STACK };

	(void)state;
	assert_int_equal(stack_walk(&space, &registers, &reader, frames, 1).end, STACK_COMPLETE);
	assert_int_equal(stack_walk(&space, &registers, &reader, frames, 0).end, STACK_CUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef __x86_64__
		cmocka_unit_test_setup(go_that_c_has_called_returns_to_that_c, clear),
		cmocka_unit_test_setup(walks_rows_up_to_the_end, clear),
		cmocka_unit_test_setup(finds_the_frame_of_luajit, clear),
		cmocka_unit_test_setup(knows_the_frame_of_the_assembly_of_luajit, clear),
		cmocka_unit_test_setup(finds_a_stack_pointer_that_was_kept_below, clear),
		cmocka_unit_test_setup(goes_on_where_another_had_to_stop, clear),
		cmocka_unit_test_setup(finds_the_handler_of_an_exception, clear),
		cmocka_unit_test_setup(a_handler_that_is_nowhere, clear),
		cmocka_unit_test_setup(goes_to_the_handler_by_a_register, clear),
		cmocka_unit_test_setup(looks_a_return_address_up_one_byte_before, clear),
		cmocka_unit_test_setup(looks_up_where_nobody_has_called, clear),
		cmocka_unit_test_setup(knows_both_halves_of_a_stub, clear),
		cmocka_unit_test_setup(steps_over_a_signal, clear),
		cmocka_unit_test_setup(finds_the_caller_of_a_realigned_stack, clear),
		cmocka_unit_test_setup(uses_other_registers_only_while_they_are_known, clear),
		cmocka_unit_test_setup(uses_a_register_that_was_left_alone, clear),
		cmocka_unit_test_setup(reads_what_whom_it_called_has_saved, clear),
		cmocka_unit_test_setup(follows_frame_pointers_through_code_without_rules, clear),
		cmocka_unit_test_setup(ends_with_a_reason, clear),
		cmocka_unit_test_setup(a_zero_is_no_end, clear),
		cmocka_unit_test_setup(never_goes_in_circles, clear),
		cmocka_unit_test_setup(says_that_it_needs_the_frame_pointer, clear),
#endif
		cmocka_unit_test_setup(cuts_what_is_too_deep, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
