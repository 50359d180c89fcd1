/*
 * Stacks of launches: lines of text that a recording may hold anything in, and kernels by the line
 * that launched them.
 */
#include "unit.h"

#include <string.h>

#include "host/model/devices/launches.h"

#define STACK 7u

static struct trace_function functions[] = {
	{ "cuLaunchKernel", "libcuda.so.1", DOMAIN_CUDA, 2, { VALUE_RESULT, VALUE_CALL_STACK } },
	{ "kernel", "", DOMAIN_KERNEL, 2, { VALUE_THREAD, VALUE_CAUSE } },
};
static struct model_process process;
static struct model_thread thread = { .process = &process, .tid = 11 };
static const struct model model = { .first = { .ticks = 1 } };
static struct launch_summary summary;

static int setup(void **state)
{
	static const char text[] = "step\t/home/me/train.py\t30\nmain\t/home/me/train.py\t90\n";
	_Alignas(struct record_name) char room[sizeof(struct record_name) + sizeof(text)];
	struct record_name *name = (struct record_name *)room;

	(void)state;
	*name = (struct record_name){ { 0, RECORD_NAME, 0 }, sizeof(text), NAME_CALL_STACK, STACK };
	memcpy(name + 1, text, sizeof(text));
	return names_add(&process.names, name);
}

static int teardown(void **state)
{
	(void)state;
	launch_summary_done(&summary);
	names_done(&process.names);
	memset(&process.names, 0, sizeof(process.names));
	return 0;
}

static void call_take(unsigned function, uint64_t begin, const uint64_t values[2])
{
	struct call call = { .model = &model,
			     .process = &process,
			     .thread = &thread,
			     .function = &functions[function],
			     .begin = begin,
			     .begin_ns = begin,
			     .end_ns = begin + 5,
			     .value_count = 2,
			     .values = values,
			     .text = "" };

	assert_int_equal(launch_summary_add(&summary, &call), 0);
}

static void kernels_are_added_up_by_line(void **state)
{
	(void)state;
	call_take(0, 100, (const uint64_t[]){ 0, STACK });
	call_take(0, 200, (const uint64_t[]){ 0, 0 });
	call_take(1, 210, (const uint64_t[]){ 11, 100 });
	call_take(1, 220, (const uint64_t[]){ 11, 100 });
	call_take(1, 230, (const uint64_t[]){ 11, 200 });
	launch_summary_sort(&summary);
	assert_int_equal(summary.count, 2);
	assert_string_equal(summary.rows[0].place, "step (train.py:30)");
	assert_int_equal(summary.rows[0].count, 2);
	assert_int_equal(summary.rows[0].total_ns, 10);
	assert_string_equal(summary.rows[1].place, "");
}

static void without_any_stack_there_are_no_rows(void **state)
{
	(void)state;
	call_take(0, 100, (const uint64_t[]){ 0, 0 });
	call_take(1, 210, (const uint64_t[]){ 11, 100 });
	launch_summary_sort(&summary);
	assert_int_equal(summary.count, 0);
}

static void lines_of_any_kind_come_to_an_end(void **state)
{
	static const char *const texts[] = { "a",      "a\t",  "a\tb",      "a\tb\t",
					     "\t\t\n", "\n\n", "a\tb\tc\td" };
	char longest[2000];
	struct stack_line line;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *at = texts[i], *end = at + strlen(at);

		while (stack_line_next(&at, &line))
			assert_true(at <= end);
		assert_ptr_equal(at, end);
	}
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	const char *at = longest;

	assert_true(stack_line_next(&at, &line));
	assert_int_equal(strlen(line.function), sizeof(line.function) - 1);
	assert_false(stack_line_next(&at, &line));
}

static void a_stack_is_cut_to_its_room(void **state)
{
	char text[40];

	(void)state;
	stack_lines_print("step\t/train.py\t30\nmain\t/train.py\t90\n", text, sizeof(text));
	assert_string_equal(text, "step (/train.py:30);main (/train.py:90)");
	stack_lines_print("step\t/train.py\t30\nmain\t/train.py\t90\n", text, 10);
	assert_int_equal(strlen(text), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kernels_are_added_up_by_line, setup, teardown),
		cmocka_unit_test_setup_teardown(without_any_stack_there_are_no_rows, setup,
						teardown),
		cmocka_unit_test(lines_of_any_kind_come_to_an_end),
		cmocka_unit_test(a_stack_is_cut_to_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
