/*
 * Stacks that kernel programs sent as they were, and what lies above the pages that were sent: it
 * is read from the process, which is this one.
 */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "host/sampling/bpf/sent_stack.h"
#include "host/unwind/walk.h"

#define CODE  0x400000u
#define CALL  (CODE + 0x110) /* a return address of a function with frames of four words */
#define BASE  (CODE + 0x210) /* one of the outermost */
#define DEPTH 16u
#define FRAME 4u
#define SENT  24u /* words of the stack */
#if defined(__x86_64__)
#define REGISTERS 21u
#define PC        16u
#define SP        19u
#else
#define REGISTERS 34u
#define PC        32u
#define SP        31u
#endif
#define ROW(at, what, words, where)                                       \
	{                                                                 \
		.pc = (at), .cfa = (words), .fp = (where), .kind = (what) \
	}

static const struct unwind_row rows[] = {
	ROW(0x000, UNWIND_NONE, 0, UNWIND_FP_SAME),
	ROW(0x100, UNWIND_SP, FRAME, -2),
	ROW(0x200, UNWIND_END, 0, UNWIND_FP_SAME),
	ROW(0x300, UNWIND_NONE, 0, UNWIND_FP_SAME),
};
static const uint32_t pages[] = { 0, 1, 2, 3 };
static const struct unwind_table table = {
	.rows = rows,
	.row_count = ARRAY_SIZE(rows),
	.pages = pages,
	.page_count = ARRAY_SIZE(pages),
};
static const struct module file = { .kind = MODULE_FILE, .is_object = true, .table = &table };
static struct space_range ranges[] = {
	{ .start = CODE, .end = CODE + 0x1000, .bias = CODE, .module = &file },
};
static const struct space space = { .ranges = ranges, .count = 1 };

static uint64_t live[DEPTH * FRAME]; /* the stack as it is now */
static union whole_sample sent, walked;

static void send_stack(void)
{
	__u64 *words = sent.sample.frames;

	for (unsigned i = 0; i < ARRAY_SIZE(live); i++)
		live[i] = i % FRAME == FRAME - 1 ? CALL : 0;
	live[ARRAY_SIZE(live) - 1] = BASE;
	memset(words, 0, REGISTERS * sizeof(*words));
	words[PC] = CODE + 0x120;
	words[SP] = (uint64_t)(uintptr_t)live;
	memcpy(words + REGISTERS, live, SENT * sizeof(*words));
	sent.sample = (struct sample){ .pid = (__u32)getpid(),
				       .user_count = REGISTERS + SENT,
				       .flags = KERNEL_RAW };
}

static void walk(void)
{
	raw_stack_walk(&sent.sample, &space, &walked.sample);
	assert_int_equal(walked.sample.flags & KERNEL_RAW, 0);
}

/* As far as what was sent goes, and no farther. */
static void check_cut(void)
{
	assert_int_equal(walked.sample.end, STACK_UNREADABLE);
	assert_int_equal(walked.sample.user_count, 1 + SENT / FRAME);
	assert_int_equal(walked.sample.flags & SAMPLE_GUESSED, 0);
}

static void goes_on_above_what_was_sent(void **state)
{
	(void)state;
	send_stack();
	walk();
	assert_int_equal(walked.sample.end, STACK_COMPLETE);
	assert_int_equal(walked.sample.user_count, 1 + DEPTH);
	assert_int_equal(walked.sample.flags & SAMPLE_GUESSED, SAMPLE_GUESSED);
}

static void a_thread_that_has_returned_since_is_not_followed(void **state)
{
	(void)state;
	send_stack();
	live[SENT - 1] = CALL + 4;
	walk();
	check_cut();
}

/* All of it would be another moment's. */
static void where_nothing_was_sent_nothing_is_read(void **state)
{
	(void)state;
	send_stack();
	sent.sample.user_count = REGISTERS;
	walk();
	assert_int_equal(walked.sample.end, STACK_UNREADABLE);
	assert_int_equal(walked.sample.flags & SAMPLE_GUESSED, 0);
}

static void what_leads_to_no_end_is_not_kept(void **state)
{
	(void)state;
	send_stack();
	live[SENT + 2 * FRAME - 1] = 0x1234;
	walk();
	check_cut();
}

static void a_process_that_is_gone_has_what_was_sent(void **state)
{
	(void)state;
	send_stack();
	sent.sample.pid = 0x7fffffff;
	walk();
	check_cut();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_on_above_what_was_sent),
		cmocka_unit_test(a_thread_that_has_returned_since_is_not_followed),
		cmocka_unit_test(where_nothing_was_sent_nothing_is_read),
		cmocka_unit_test(what_leads_to_no_end_is_not_kept),
		cmocka_unit_test(a_process_that_is_gone_has_what_was_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
