/*
 * Contexts: when they may be made, whose they are, and what detach and attach do to them.
 */
#include "unit.h"

#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/status.h"

static int teardown(void **state)
{
	(void)state;
	contexts_open_for(-1);
	for (int tool = 0; tool < 2; tool++)
		contexts_forget(tool);
	return 0;
}

static struct limpet_context make(int tool)
{
	struct limpet_context context = { 0 };

	contexts_open_for(tool);
	assert_int_equal(rocprofiler_create_context(&context), SDK_SUCCESS);
	assert_int_not_equal(context.handle, 0);
	return context;
}

static int active(struct limpet_context context)
{
	int is_active = -1;

	assert_int_equal(rocprofiler_context_is_active(context, &is_active), SDK_SUCCESS);
	return is_active;
}

static void are_made_during_configuration_only(void **state)
{
	struct limpet_context context = { 0 };

	(void)state;
	assert_int_equal(rocprofiler_create_context(&context), SDK_CONFIGURATION_LOCKED);
	contexts_open_for(0);
	context.handle = 5;
	assert_int_equal(rocprofiler_create_context(&context), SDK_CONTEXT_ID_NOT_ZERO);
	assert_int_equal(rocprofiler_create_context(NULL), SDK_INVALID_ARGUMENT);
}

static void belong_to_one_tool(void **state)
{
	struct limpet_context mine = make(0), other = make(1), list[4];

	(void)state;
	assert_int_equal(contexts_list(0, list, 4), 1);
	assert_int_equal(list[0].handle, mine.handle);
	assert_int_equal(contexts_list(1, list, 4), 1);
	assert_int_equal(list[0].handle, other.handle);
}

static void are_not_made_by_a_tool_that_comes_late(void **state)
{
	struct limpet_context context = { 0 };

	(void)state;
	contexts_enter(0);
	contexts_open_for(1);
	assert_int_equal(rocprofiler_create_context(&context), SDK_CONFIGURATION_LOCKED);
	contexts_open_for(0);
	assert_int_equal(rocprofiler_create_context(&context), SDK_SUCCESS);
	contexts_enter(-1);
	contexts_open_for(1);
	context.handle = 0;
	assert_int_equal(rocprofiler_create_context(&context), SDK_SUCCESS);
}

static void start_and_stop(void **state)
{
	struct limpet_context context = make(0);

	(void)state;
	assert_int_equal(active(context), 0);
	assert_int_equal(rocprofiler_start_context(context), SDK_SUCCESS);
	assert_int_equal(active(context), 1);
	assert_int_equal(rocprofiler_stop_context(context), SDK_SUCCESS);
	assert_int_equal(active(context), 0);
}

static void rest_while_detached(void **state)
{
	struct limpet_context running = make(0), idle = make(0);

	(void)state;
	rocprofiler_start_context(running);
	contexts_pause(0);
	assert_int_equal(active(running), 0);
	contexts_resume(0);
	assert_int_equal(active(running), 1);
	assert_int_equal(active(idle), 0);
}

static void are_unknown_when_gone(void **state)
{
	struct limpet_context context = make(0), nonsense = { 123456 };
	int is_valid = -1;

	(void)state;
	assert_int_equal(rocprofiler_context_is_valid(context, &is_valid), SDK_SUCCESS);
	assert_int_equal(is_valid, 1);
	contexts_forget(0);
	assert_int_equal(rocprofiler_start_context(context), SDK_CONTEXT_NOT_FOUND);
	assert_int_equal(rocprofiler_stop_context(nonsense), SDK_CONTEXT_NOT_FOUND);
	assert_int_equal(rocprofiler_context_is_valid(context, &is_valid), SDK_CONTEXT_NOT_FOUND);
	assert_int_equal(is_valid, 0);
}

static void have_an_end(void **state)
{
	struct limpet_context context;

	(void)state;
	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		make(0);
	context.handle = 0;
	assert_int_equal(rocprofiler_create_context(&context), SDK_CONTEXT_ERROR);
	assert_int_equal(context.handle, 0);
}

/* Its parent was in the middle of a tool's configuration. */
static void are_not_made_in_a_forked_child(void **state)
{
	(void)state;
	contexts_open_for(0);
	contexts_enter(1);
	contexts_adopt();
	assert_int_equal(contexts_configuring(), -1);
	contexts_open_for(0);
	assert_int_equal(contexts_configuring(), 0); /* nobody is late in another tool */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(are_made_during_configuration_only, teardown),
		cmocka_unit_test_teardown(are_not_made_in_a_forked_child, teardown),
		cmocka_unit_test_teardown(belong_to_one_tool, teardown),
		cmocka_unit_test_teardown(are_not_made_by_a_tool_that_comes_late, teardown),
		cmocka_unit_test_teardown(start_and_stop, teardown),
		cmocka_unit_test_teardown(rest_while_detached, teardown),
		cmocka_unit_test_teardown(are_unknown_when_gone, teardown),
		cmocka_unit_test_teardown(have_an_end, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
