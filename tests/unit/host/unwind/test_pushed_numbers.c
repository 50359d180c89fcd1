/*
 * Rows between `push NUMBER` and `pop REGISTER`: code and rows are made here.
 */
#include "unit.h"

#include "host/unwind/mend/mend.h"

#define PC   0x100u
#define SAME UNWIND_FP_SAME

static struct rows rows;

static void rows_begin(void)
{
	rows_done(&rows);
	rows.machine = unwind_machine_of(EM_X86_64);
}

static void row(uint32_t at, unsigned kind, unsigned cfa)
{
	const struct unwind_row row = { .kind = (__u8)kind, .cfa = (__u16)cfa, .fp = SAME };

	assert_int_equal(rows_add(&rows, PC + at, row), 0);
}

static void mend_bytes(size_t first, const void *bytes, size_t size)
{
	const struct object_part code = { bytes, size, PC, true };

	assert_int_equal(pushed_numbers_mend(&rows, first, &code, PC), 0);
}

#define MEND(first, code) mend_bytes(first, code, sizeof(code))

static void assert_row(uint32_t at, unsigned kind, unsigned cfa)
{
	size_t number = 0;

	while (number + 1 < rows.count && rows.items[number + 1].pc <= PC + at)
		number++;
	assert_int_equal(rows.items[number].kind, kind);
	assert_int_equal(rows.items[number].cfa, cfa);
}

/* As gcc 14 -Oz calls a function of seven arguments: the seventh is left on the stack. */
static const unsigned char call_of_seven[] = {
	0x6a, 0x07,                   /*  0 push $7 */
	0x6a, 0x05,                   /*  2 push $5 */
	0x89, 0xfe,                   /*  4 mov %edi, %esi */
	0x41, 0x59,                   /*  6 pop %r9 */
	0x6a, 0x04,                   /*  8 push $4 */
	0x41, 0x58,                   /* 10 pop %r8 */
	0xe8, 0x00, 0x10, 0x00, 0x00, /* 12 call elsewhere */
	0x59,                         /* 17 pop %rcx */
	0xc3,                         /* 18 ret */
};

static void knows_a_number_on_the_stack(void **state)
{
	(void)state;
	rows_begin();
	row(0, UNWIND_SP, 1);
	row(2, UNWIND_SP, 2);
	row(18, UNWIND_SP, 1);
	MEND(0, call_of_seven);
	assert_row(0, UNWIND_SP, 1);
	assert_row(2, UNWIND_SP, 2);
	assert_row(4, UNWIND_SP, 3);
	assert_row(6, UNWIND_SP, 3);
	assert_row(8, UNWIND_SP, 2);
	assert_row(10, UNWIND_SP, 3);
	assert_row(12, UNWIND_SP, 2);
	assert_row(17, UNWIND_SP, 2);
	assert_row(18, UNWIND_SP, 1);
}

/* A row that says what the one before the function says is not there twice. */
static void goes_on_with_the_row_before_the_function(void **state)
{
	static const unsigned char code[] = {
		0x6a, 0x05, /* 0 push $5 */
		0x58,       /* 2 pop %rax */
		0xc3,       /* 3 ret */
	};

	(void)state;
	rows_begin();
	row(-16u, UNWIND_SP, 1);
	MEND(1, code);
	assert_row(0, UNWIND_SP, 1);
	assert_row(2, UNWIND_SP, 2);
	assert_row(3, UNWIND_SP, 1);
}

/* Where rules tell of the push, or of the pop, and where the frame is found by rbp. */
static void leaves_rules_that_say_so_alone(void **state)
{
	(void)state;
	rows_begin();
	row(0, UNWIND_FP, 2);
	MEND(0, call_of_seven);
	assert_int_equal(rows.count, 1);
	rows_begin();
	row(0, UNWIND_SP, 1);
	row(2, UNWIND_SP, 2);
	row(4, UNWIND_SP, 3);
	row(8, UNWIND_SP, 2);
	row(10, UNWIND_SP, 3);
	row(12, UNWIND_SP, 2);
	row(18, UNWIND_SP, 1);
	MEND(0, call_of_seven);
	assert_int_equal(rows.count, 7);
}

static void leaves_bytes_within_instructions_alone(void **state)
{
	static const unsigned char code[] = {
		0xb8, 0x6a, 0x05, 0x58, 0x00, /* 0 mov $0x58056a, %eax */
		0x6a, 0x05,                   /* 5 push $5 */
		0x74, 0x01,                   /* 7 je 10 */
		0x58,                         /* 9 pop %rax */
		0x6a,                         /* 10 push of what is not there */
	};

	(void)state;
	rows_begin();
	row(0, UNWIND_SP, 1);
	MEND(0, code);
	assert_int_equal(rows.count, 1);
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
		cmocka_unit_test(knows_a_number_on_the_stack),
		cmocka_unit_test(goes_on_with_the_row_before_the_function),
		cmocka_unit_test(leaves_rules_that_say_so_alone),
		cmocka_unit_test(leaves_bytes_within_instructions_alone),
	};

	return cmocka_run_group_tests(tests, NULL, rows_end);
}
