/*
 * Our function in HIP: the loader, HIP and the tools are played here.
 */
#include "unit.h"

#include "target/amd/hip/activity.h"
#include "target/amd/hip/registration.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"

#include <string.h>

struct agent_page agent_page;

static uint32_t tools; /* bits: that want reports */
static unsigned held;  /* how often HIP is held */
static bool is_gone;   /* the program has closed HIP */
static bool has_moved; /* and loaded it elsewhere */
static void *given;    /* to HIP */
static const struct agent_table *learned;
static void (*meanwhile)(void); /* while one waits for the loader, once */

static const char places[2]; /* where its tables are */

static void hip_register(void *function)
{
	assert_int_equal(held, 1);
	given = function;
}

static void hip_register_elsewhere(void *function)
{
	assert_true(has_moved);
	hip_register(function);
}

void *libc_hold(const void *address)
{
	void (*act)(void) = meanwhile;

	assert_true(!has_moved || address == &places[1] ||
		    address == (const void *)hip_register_elsewhere);
	meanwhile = NULL;
	if (act)
		act();
	held += !is_gone;
	return is_gone ? NULL : &held;
}

int libc_close(void *handle)
{
	(void)handle;
	held--;
	return 0;
}

void *libc_symbol(void *scope, const char *name)
{
	(void)scope, (void)name;
	return has_moved ? (void *)hip_register_elsewhere : (void *)hip_register;
}

bool libc_can_iterate(void)
{
	return true;
}

bool libc_are_of_one(const void *a, const void *b)
{
	assert_ptr_equal(a, b);
	return !is_gone && (!has_moved || (a != (const void *)hip_register && a != &places[0]));
}

bool hip_open(const struct agent_table *hip)
{
	learned = hip;
	return true;
}

void hip_close(void)
{
	learned = NULL;
}

bool hip_is_needed(void)
{
	return tools;
}

int hip_on_activity(uint32_t domain, uint32_t command, void *data)
{
	(void)domain, (void)command, (void)data;
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(agent_page.tables[0].name, "hip");
	strcpy(agent_page.tables[1].name, "hip");
	agent_page.tables[0].parts[0] = (uint64_t)&places[0];
	agent_page.tables[1].parts[0] = (uint64_t)&places[1];
	agent_page.table_count = 1;
	is_gone = has_moved = false;
	meanwhile = NULL;
	tools = 0;
	hip_follow();
	return held || given || hip_is_registered();
}

static void tools_leave(void)
{
	assert_true(hip_is_registered());
	tools = 0;
	hip_follow();
}

static void it_comes_and_goes_with_tools(void **state)
{
	(void)state;
	tools = 1;
	hip_follow();
	assert_ptr_equal(given, hip_on_activity);
	assert_true(hip_is_registered());
	tools = 0;
	hip_follow();
	assert_null(given);
	assert_false(hip_is_registered());
	assert_int_equal(held, 0);
}

/* A thread that was given up goes on when the loader is free. */
static void tools_leave_while_one_waits_for_the_loader(void **state)
{
	(void)state;
	tools = 1;
	meanwhile = tools_leave;
	hip_follow();
	assert_null(given);
	assert_false(hip_is_registered());
	assert_int_equal(held, 0);
}

static void hip_goes_while_one_waits_for_the_loader(void **state)
{
	(void)state;
	is_gone = true;
	tools = 1;
	hip_follow();
	assert_null(given);
	assert_false(hip_is_registered());
}

static void it_goes_with_hip(void **state)
{
	(void)state;
	tools = 1;
	hip_follow();
	is_gone = true;
	given = NULL;
	tools = 0;
	hip_follow();
	assert_false(hip_is_registered());
}

/* What was known of the first leads nowhere. */
static void hip_is_loaded_elsewhere(void **state)
{
	(void)state;
	tools = 1;
	hip_follow();
	assert_ptr_equal(learned, &agent_page.tables[0]);
	given = NULL;
	has_moved = true;
	agent_page.table_count = 2;
	hip_follow();
	assert_ptr_equal(given, hip_on_activity);
	assert_ptr_equal(learned, &agent_page.tables[1]);
	tools = 0;
	hip_follow();
	assert_null(given);
	assert_false(hip_is_registered());
	assert_int_equal(held, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(it_comes_and_goes_with_tools, set_up),
		cmocka_unit_test_setup(tools_leave_while_one_waits_for_the_loader, set_up),
		cmocka_unit_test_setup(hip_goes_while_one_waits_for_the_loader, set_up),
		cmocka_unit_test_setup(it_goes_with_hip, set_up),
		cmocka_unit_test_setup(hip_is_loaded_elsewhere, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
