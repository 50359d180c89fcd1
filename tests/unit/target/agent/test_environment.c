/*
 * The agent's environment for tools, in this process: first with a variable and a lock that are
 * played here, so that the application can be made to interfere at each step, then with libc's own.
 */
#include "unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/agent/agent.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"

/* The application's side. */
static char a_one[] = "A=one", b_two[] = "B=two", c_three[] = "C=three", own[] = "A=own";
static char **variable;
static char *array[4];
static void (*on_lock)(void); /* what the application does just before it lets the lock go */
static unsigned locks;

static int played_unsetenv(const char *name)
{
	assert_null(strchr(name, '='));
	locks++;
	if (on_lock)
		on_lock();
	return 0;
}

static void *played_dlsym(void *handle, const char *name)
{
	assert_ptr_equal(handle, RTLD_DEFAULT);
	if (!strcmp(name, "environ"))
		return &variable;
	return NULL; /* its unsetenv may be the program's own, without a lock */
}

/* libc's functions, or those of one that is played here. */
static void use(void *(*find)(void *, const char *), int (*unset)(const char *))
{
	struct boot_libc libc = { .dlsym = (uintptr_t)find, .unsetenv = (uintptr_t)unset };

	libc_calls_use(&libc, /* shared */ NULL);
}

static union {
	struct control_environ list;
	char bytes[1024];
} message;

#define PAIRS(pairs, count) make(pairs, sizeof(pairs), count)

static void make(const char *pairs, size_t bytes, uint32_t count)
{
	control_header_init(&message.list.header, CONTROL_ENVIRON, sizeof(message.list) + bytes);
	message.list.count = count;
	message.list.bytes = (uint32_t)bytes;
	memcpy(message.bytes + sizeof(message.list), pairs, bytes);
	assert_int_equal(control_check(&message, sizeof(message.list) + bytes), 0);
}

/* A=one B=two C=three, and two variables of ours of which one replaces B. */
static int begin(void **state)
{
	(void)state;
	array[0] = a_one, array[1] = b_two, array[2] = c_three, array[3] = NULL;
	variable = array;
	on_lock = NULL;
	locks = 0;
	use(played_dlsym, played_unsetenv);
	agent_page.environment_changed = 0;
	PAIRS("B\0ours\0NEW\0x=y", 2);
	return 0;
}

static int end(void **state)
{
	(void)state;
	on_lock = NULL;
	environment_restore();
	return 0;
}

static const char *lookup(const char *name)
{
	size_t length = strlen(name);

	for (char **at = variable; at && *at; at++)
		if (!strncmp(*at, name, length) && (*at)[length] == '=')
			return *at + length + 1;
	return NULL;
}

static size_t count(void)
{
	char **all = variable;
	size_t n = 0;

	if (!all)
		return 0;
	while (all[n])
		n++;
	return n;
}

static void assert_value(const char *name, const char *value)
{
	const char *found = lookup(name);

	if (!value)
		assert_null(found);
	else if (found)
		assert_string_equal(found, value);
	else
		fail_msg("%s is not there", name);
}

static void publish(void)
{
	assert_int_equal(environment_publish(&message.list), 0);
	assert_int_equal(agent_page.environment_changed, 1);
}

static void publishes_and_takes_back(void **state)
{
	(void)state;
	publish();
	assert_ptr_not_equal(variable, array);
	assert_int_equal(count(), 4);
	assert_value("A", "one");
	assert_value("B", "ours");
	assert_value("C", "three");
	assert_value("NEW", "x=y");
	assert_ptr_equal(array[1], b_two); /* nothing of the application's was written */
	environment_restore();
	assert_ptr_equal(variable, array);
	assert_int_equal(agent_page.environment_changed, 0);
	assert_true(locks > 0);
}

static void publishes_anew_over_what_was_published(void **state)
{
	(void)state;
	publish();
	PAIRS("A\0again", 1);
	publish();
	assert_value("A", "again");
	assert_value("B", "two");
	assert_value("NEW", NULL);
	assert_int_equal(count(), 3);
	environment_restore();
	assert_ptr_equal(variable, array);
}

static void publishes_where_there_is_no_environment(void **state)
{
	(void)state;
	variable = NULL;
	publish();
	assert_int_equal(count(), 2);
	assert_value("B", "ours");
	environment_restore();
	assert_null(variable);
}

static void publishes_nothing(void **state)
{
	(void)state;
	make("", 0, 0);
	publish();
	assert_int_equal(count(), 3);
	environment_restore();
	assert_ptr_equal(variable, array);
}

static char **find_entry(const char *name)
{
	char **at = variable;

	while (*at && (strncmp(*at, name, strlen(name)) || (*at)[strlen(name)] != '='))
		at++;
	assert_non_null(*at);
	return at;
}

static void remove_entry(const char *name)
{
	for (char **at = find_entry(name); *at; at++)
		at[0] = at[1];
}

static void keeps_what_the_application_changed(void **state)
{
	(void)state;
	publish();
	*find_entry("A") = own;
	environment_restore();
	assert_int_equal(count(), 3);
	assert_value("A", "own");
	assert_value("B", "two"); /* hidden by ours, back again */
	assert_value("C", "three");
	assert_value("NEW", NULL);
}

static void keeps_what_the_application_removed(void **state)
{
	(void)state;
	publish();
	remove_entry("A");
	environment_restore();
	assert_int_equal(count(), 2);
	assert_value("A", NULL);
	assert_value("B", "two");
}

static void keeps_a_variable_of_ours_that_the_application_took(void **state)
{
	static char taken[] = "B=taken";

	(void)state;
	publish();
	*find_entry("B") = taken;
	environment_restore();
	assert_int_equal(count(), 3);
	assert_value("B", "taken");

	begin(NULL);
	publish();
	remove_entry("B"); /* what it meant to remove is not there again */
	environment_restore();
	assert_int_equal(count(), 2);
	assert_value("B", NULL);
}

/* As setenv does with a new name: a larger array, with our strings in it. */
static void leaves_nothing_in_an_array_of_the_applications(void **state)
{
	static char *theirs[8], d_four[] = "D=four";

	(void)state;
	publish();
	memcpy(theirs, variable, count() * sizeof(char *));
	theirs[count()] = d_four;
	theirs[count() + 1] = NULL;
	variable = theirs;
	environment_restore();
	assert_int_equal(count(), 4);
	assert_value("A", "one");
	assert_value("B", "two");
	assert_value("D", "four");
	assert_value("NEW", NULL);
}

static void leaves_a_cleared_environment_cleared(void **state)
{
	(void)state;
	publish();
	variable = NULL;
	environment_restore();
	assert_null(variable);
	assert_int_equal(agent_page.environment_changed, 0);
}

/* A setenv that had read the pointer before we changed it, and writes into the old array. */
static void write_late(void)
{
	if (variable != array)
		array[0] = own;
}

static void carries_a_late_change_over(void **state)
{
	(void)state;
	on_lock = write_late;
	publish();
	assert_value("A", "own");
	assert_value("B", "ours");
	assert_int_equal(count(), 4);
	on_lock = NULL;
	environment_restore();
	assert_value("A", "own");
	assert_value("B", "two");
	assert_int_equal(count(), 3);
}

static void remove_late(void)
{
	if (variable == array || array[0] != a_one)
		return;
	for (char **at = array; *at; at++)
		at[0] = at[1];
}

static void carries_a_late_removal_over(void **state)
{
	(void)state;
	on_lock = remove_late;
	publish();
	assert_value("A", NULL);
	assert_value("B", "ours");
	assert_value("C", "three");
	assert_int_equal(count(), 3);
	on_lock = NULL;
	environment_restore();
	assert_value("A", NULL);
	assert_value("B", "two");
	assert_int_equal(count(), 2);
}

static char **ours_then;

/* ...and the same while we take ours back. */
static void write_into_ours_late(void)
{
	for (char **at = ours_then; variable == array && *at; at++)
		if (*at == a_one)
			*at = own;
}

static void carries_a_change_over_that_came_while_leaving(void **state)
{
	(void)state;
	publish();
	ours_then = variable;
	on_lock = write_into_ours_late;
	environment_restore();
	assert_value("A", "own");
	assert_value("B", "two");
	assert_value("NEW", NULL);
	assert_int_equal(count(), 3);
	assert_int_equal(agent_page.environment_changed, 0);
}

static char c_four[] = "C=four";

/* The next setenv is quicker than we are: it finds what we have put back. */
static void write_into_both(void)
{
	if (variable == array && array[2] == c_three) {
		write_into_ours_late();
		array[2] = c_four;
	}
}

static void carries_two_changes_over_that_came_while_leaving(void **state)
{
	(void)state;
	publish();
	ours_then = variable;
	on_lock = write_into_both;
	environment_restore();
	assert_value("A", "own");
	assert_value("B", "two");
	assert_value("C", "four");
	assert_value("NEW", NULL);
	assert_int_equal(count(), 3);
	assert_int_equal(agent_page.environment_changed, 0);
}

static void remove_from_ours_late(void)
{
	char **at = ours_then;

	while (variable == array && *at && *at != a_one)
		at++;
	for (; variable == array && *at; at++)
		at[0] = at[1];
}

static void carries_a_removal_over_that_came_while_leaving(void **state)
{
	(void)state;
	publish();
	ours_then = variable;
	on_lock = remove_from_ours_late;
	environment_restore();
	assert_value("A", NULL);
	assert_value("B", "two");
	assert_value("C", "three");
	assert_int_equal(count(), 2);
}

static char d_added[] = "D=added";
static char *half[16];
static size_t counted;

/* A setenv that adds D, and counted the entries before the exchange. */
static void add_torn(void)
{
	bool is_put = ours_then ? variable == array : variable != array;

	if (!is_put || variable == half || half[counted])
		return;
	for (size_t i = 0; i < counted && variable[i]; i++)
		half[i] = variable[i];
	half[counted] = d_added;
	variable = half;
}

static void mends_an_addition_that_lost_others(void **state)
{
	(void)state;
	memset(half, 0, sizeof(half));
	ours_then = NULL;
	counted = 3;
	on_lock = add_torn;
	publish();
	on_lock = NULL;
	assert_value("A", "one");
	assert_value("B", "ours");
	assert_value("C", "three");
	assert_value("D", "added");
	assert_int_equal(count(), 5);
	environment_restore();
	assert_value("B", "two");
	assert_value("D", "added");
	assert_int_equal(count(), 4);
}

static void mends_an_addition_behind_the_end(void **state)
{
	(void)state;
	publish();
	memset(half, 0, sizeof(half));
	ours_then = variable;
	counted = (size_t)count();
	assert_int_equal(counted, 4);
	on_lock = add_torn;
	environment_restore();
	assert_value("A", "one");
	assert_value("B", "two");
	assert_value("C", "three");
	assert_value("D", "added");
	assert_value("NEW", NULL);
	assert_int_equal(count(), 4);
}

static void change_each_time(void)
{
	array[0] = array[0] == own ? a_one : own;
}

static void gives_up_when_it_never_stands_still(void **state)
{
	(void)state;
	on_lock = change_each_time;
	assert_int_equal(environment_publish(&message.list), -EBUSY);
	assert_ptr_equal(variable, array);
	assert_int_equal(agent_page.environment_changed, 0);
	assert_true(locks > 10);
}

/* The application freed the array and its memory is gone. */
static void survives_an_array_that_cannot_be_read(void **state)
{
	char **gone =
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, /* fd */ -1, /* at */ 0);

	(void)state;
	assert_ptr_not_equal(gone, MAP_FAILED);
	variable = gone;
	assert_true(environment_publish(&message.list) < 0);
	assert_ptr_equal(variable, gone);
	munmap(gone, 4096);
	variable = array;
}

static void *lacking_dlsym(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return NULL;
}

static void needs_libcs_functions(void **state)
{
	(void)state;
	use(lacking_dlsym, played_unsetenv);
	assert_int_equal(environment_publish(&message.list), -ENOENT);
}

/* With libc itself as the application. */
static void lives_with_setenv_unsetenv_and_putenv(void **state)
{
	static char put[] = "LIMPET_PUT=put";
	char **first;

	(void)state;
	use(dlsym, unsetenv);
	setenv("LIMPET_HIDDEN", "before", 1);
	setenv("LIMPET_GONE", "x", 1);
	setenv("LIMPET_CHANGED", "x", 1);
	PAIRS("LIMPET_HIDDEN\0ours\0LIMPET_NEW\0y\0LIMPET_TAKEN\0z", 3);
	first = environ;
	publish();
	assert_string_equal(getenv("LIMPET_HIDDEN"), "ours");
	environment_restore();
	assert_ptr_equal(environ, first);
	publish();
	unsetenv("LIMPET_GONE");
	setenv("LIMPET_CHANGED", "changed", 1);
	setenv("LIMPET_TAKEN", "theirs", 1);
	putenv(put);
	setenv("LIMPET_ADDED", "added", 1);
	assert_string_equal(getenv("LIMPET_NEW"), "y");
	environment_restore();
	assert_null(getenv("LIMPET_GONE"));
	assert_null(getenv("LIMPET_NEW"));
	assert_string_equal(getenv("LIMPET_HIDDEN"), "before");
	assert_string_equal(getenv("LIMPET_CHANGED"), "changed");
	assert_string_equal(getenv("LIMPET_TAKEN"), "theirs");
	assert_string_equal(getenv("LIMPET_PUT"), "put");
	assert_string_equal(getenv("LIMPET_ADDED"), "added");
	publish();
	clearenv();
	environment_restore();
	assert_null(getenv("LIMPET_NEW"));
	assert_null(getenv("LIMPET_HIDDEN"));
}

#define READERS 16
#define SWAPS   2000 /* ./dev stress environment makes 10,000 */

static atomic_bool readers_stop;
static atomic_ulong reads, torn;
static atomic_uint readers_begun;

/* A value is the application's own or ours, whole; one that nobody touches is always there. */
static void *read_environment(void *unused)
{
	readers_begun++;
	while (!readers_stop) {
		const char *hidden = getenv("LIMPET_HIDDEN"), *fresh = getenv("LIMPET_NEW"),
			   *still = getenv("LIMPET_STILL");

		torn += !hidden || (strcmp(hidden, "before") && strcmp(hidden, "ours")) ||
			(fresh && strcmp(fresh, "x")) || !still || strcmp(still, "still");
		reads++;
	}
	return unused;
}

static size_t mapped_kib(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

static void stands_thousands_of_swaps_under_sixteen_readers(void **state)
{
	pthread_t threads[READERS];
	char **before;
	size_t size;

	(void)state;
	use(dlsym, unsetenv);
	setenv("LIMPET_HIDDEN", "before", 1);
	setenv("LIMPET_STILL", "still", 1);
	PAIRS("LIMPET_HIDDEN\0ours\0LIMPET_NEW\0x", 2);
	before = environ;
	readers_stop = false;
	readers_begun = 0;
	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_environment, NULL), 0);
	/* Sanitizers map memory for each thread when it begins. */
	while (readers_begun < READERS)
		sched_yield();
	publish();
	environment_restore();
	size = mapped_kib();
	for (unsigned i = 0; i < SWAPS; i++) {
		publish();
		environment_restore();
	}
	assert_in_range(mapped_kib(), 0, size + SWAPS); /* the block was used again */
	readers_stop = true;
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(torn, 0);
	assert_true(reads > SWAPS);
	assert_ptr_equal(environ, before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(publishes_and_takes_back),
		TEST(publishes_anew_over_what_was_published),
		TEST(publishes_where_there_is_no_environment),
		TEST(publishes_nothing),
		TEST(keeps_what_the_application_changed),
		TEST(keeps_what_the_application_removed),
		TEST(keeps_a_variable_of_ours_that_the_application_took),
		TEST(leaves_nothing_in_an_array_of_the_applications),
		TEST(leaves_a_cleared_environment_cleared),
		TEST(carries_a_late_change_over),
		TEST(carries_a_late_removal_over),
		TEST(carries_a_change_over_that_came_while_leaving),
		TEST(carries_two_changes_over_that_came_while_leaving),
		TEST(carries_a_removal_over_that_came_while_leaving),
		TEST(mends_an_addition_that_lost_others),
		TEST(mends_an_addition_behind_the_end),
		TEST(gives_up_when_it_never_stands_still),
		TEST(survives_an_array_that_cannot_be_read),
		TEST(needs_libcs_functions),
		TEST(stands_thousands_of_swaps_under_sixteen_readers),
		TEST(lives_with_setenv_unsetenv_and_putenv),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
