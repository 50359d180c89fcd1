/*
 * Names of traced stacks, in a session whose modules come and go: this very program is one.
 */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "host/model/calls/call_names.h"

#define BASE 0x7f0000000000u

static struct recorded_module module = { .base = BASE, .size = 0x100000 };
static struct model_process process = { .number = 1, .modules = &module, .module_count = 1 };
static struct model_process *processes[] = { &process };
static struct model model = { .processes = processes, .process_count = 1 };

static const char *module_at(struct call_names *names, uint64_t address)
{
	const struct call_name *name;

	call_names_follow(names, &model);
	name = call_names_find(names, &process, address, /* is_live */ true);
	assert_non_null(name);
	return name->module;
}

static void forgets_names_when_modules_change(void **state)
{
	struct call_names names = { 0 };

	(void)state;
	process.pid = getpid();
	module.path = "/nowhere/first.so";
	assert_string_equal(module_at(&names, BASE + 0x1234), "first.so");
	module.path = "/nowhere/second.so";
	assert_string_equal(module_at(&names, BASE + 0x1234), "second.so");
	call_names_done(&names);
}

/* Else each look at the session would read all files again. */
static void keeps_names_while_they_stay(void **state)
{
	struct call_names names = { 0 };
	const char *first;

	(void)state;
	process.pid = getpid();
	module.path = "/nowhere/first.so";
	first = module_at(&names, BASE + 0x1234);
	assert_ptr_equal(module_at(&names, BASE + 0x1234), first);
	call_names_done(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forgets_names_when_modules_change),
		cmocka_unit_test(keeps_names_while_they_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
