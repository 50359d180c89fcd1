/*
 * The program's exit() at the worst moments of ours: libc's list of what exit() calls is played
 * here, a thread of the test's is the one that ends the program.
 */
#include "unit.h"

#include "target/runtime/libc_calls.h"
#include "target/tool/ending.h"

#include <pthread.h>
#include <stdbool.h>

static void (*entry)(void *); /* NULL: exit() has taken it, or nobody has registered it */
static bool exits_at_once;    /* exit() is under way, and calls what comes */
static int farewells;         /* while it was open */

static void *program_exit(void *taken)
{
	((void (*)(void *))taken)(NULL);
	return NULL;
}

static void exit_call(void (*taken)(void *))
{
	pthread_t thread;

	assert_false(pthread_create(&thread, NULL, program_exit, (void *)taken));
	pthread_join(thread, NULL);
}

int libc_at_exit(void (*function)(void *), void *argument, void *dso_handle)
{
	(void)argument, (void)dso_handle;
	if (exits_at_once)
		exit_call(function);
	else
		entry = function;
	return 0;
}

void libc_finalize(void *dso_handle)
{
	void (*taken)(void *) = entry;

	(void)dso_handle;
	entry = NULL;
	if (taken)
		taken(NULL);
}

static int set_up(void **state)
{
	(void)state;
	entry = NULL;
	exits_at_once = false;
	ending_adopt();
	return 0;
}

static bool is_open(void)
{
	bool is_in = ending_enter();

	if (is_in)
		ending_leave();
	return is_in;
}

static void farewell(void)
{
	farewells += is_open();
}

static void an_exit_shuts(void **state)
{
	(void)state;
	farewells = 0;
	ending_use(farewell, NULL);
	ending_watch();
	ending_watch();
	assert_int_equal(farewells, 0);
	assert_true(is_open());
	exit_call(entry);
	assert_false(is_open());
	assert_int_equal(farewells, 1);
}

static void our_own_change_of_the_list_shuts_nothing(void **state)
{
	(void)state;
	ending_watch();
	ending_watch();
	assert_true(is_open());
	ending_forget();
	assert_true(is_open());
	assert_null(entry);
}

static void an_exit_that_calls_as_soon_as_we_are_in_the_list_shuts(void **state)
{
	(void)state;
	exits_at_once = true;
	ending_watch();
	assert_false(is_open());
}

static void an_exit_that_took_our_entry_before_we_could_shuts(void **state)
{
	void (*taken)(void *);

	(void)state;
	ending_watch();
	taken = entry;
	entry = NULL;
	ending_forget();
	exit_call(taken);
	assert_false(is_open());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_exit_shuts, set_up),
		cmocka_unit_test_setup(our_own_change_of_the_list_shuts_nothing, set_up),
		cmocka_unit_test_setup(an_exit_that_calls_as_soon_as_we_are_in_the_list_shuts,
				       set_up),
		cmocka_unit_test_setup(an_exit_that_took_our_entry_before_we_could_shuts, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
