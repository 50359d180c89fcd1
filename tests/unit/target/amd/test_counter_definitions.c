/*
 * Definitions that a tool brings, until the host has fetched them.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/sinks/sdk/counters/definitions.h"
#include "target/amd/sinks/sdk/counters/store.h"
#include "target/runtime/page.h"

#define APPEND  2
#define REPLACE 0

int rocprofiler_load_counter_definition(const char *yaml, size_t size, int flags);

struct agent_page agent_page = { .control_tid = 1 };
static bool were_told, are_hidden;

bool page_is_own(void)
{
	return true;
}

int contexts_configuring(void)
{
	return 0;
}

bool counters_enter(void)
{
	return true;
}

void counters_leave(void)
{
}

bool counters_hide(void)
{
	are_hidden |= !were_told;
	return !were_told;
}

bool counters_are_hidden(void)
{
	return are_hidden;
}

int counters_learn(int fd, uint64_t size)
{
	(void)fd, (void)size;
	are_hidden = false;
	return 0;
}

static int load(const char *text, int flags)
{
	return rocprofiler_load_counter_definition(text, strlen(text), flags);
}

static int fetch(uint32_t flags, int fd, uint32_t *ret)
{
	struct control_counters order = { .bytes = COUNTERS_TEXT_MAX };

	order.header.flags = CONTROL_DEFINITIONS | flags;
	return counters_obey(&order, fd, ret);
}

static int begin(void **state)
{
	(void)state;
	were_told = are_hidden = false;
	definitions_forget();
	definitions_begin();
	return 0;
}

/* Nobody would read it, and tools would find nothing for ever. */
static void takes_none_that_nobody_fetches(void **state)
{
	uint32_t value = 0;

	(void)state;
	assert_int_equal(load("a", APPEND), SDK_NOT_AVAILABLE);
	assert_false(are_hidden);
	assert_int_equal(fetch(CONTROL_AGAIN, -1, &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(load("", APPEND), SDK_SUCCESS);
	assert_int_equal(fetch(0, -1, &value), 0);
	assert_int_equal(load("a", APPEND), SDK_NOT_AVAILABLE);
	assert_int_equal(fetch(CONTROL_AGAIN, -1, &value), 0);
	definitions_begin();
	assert_int_equal(load("a", APPEND), SDK_NOT_AVAILABLE);
	assert_false(are_hidden);
}

/* AMD's own tool ends the program where it is an error. */
static void takes_the_same_again(void **state)
{
	uint32_t value = 0;

	(void)state;
	assert_int_equal(fetch(CONTROL_AGAIN, -1, &value), 0);
	assert_int_equal(load("text", APPEND), SDK_SUCCESS);
	assert_true(are_hidden);
	are_hidden = false;
	were_told = true;
	assert_int_equal(load("text", APPEND), SDK_SUCCESS);
	assert_int_equal(load("text", REPLACE), SDK_ERROR);
	assert_int_equal(load("tex", APPEND), SDK_ERROR);
	assert_int_equal(load("test", APPEND), SDK_ERROR);
	assert_int_equal(load("", APPEND), SDK_ERROR);
	assert_false(are_hidden);
}

/* A page that the machine has no memory for would be the program's end. */
static void writes_only_where_memory_is(void **state)
{
	int fd = memfd_create("text", MFD_CLOEXEC);
	char text[8] = "";
	uint32_t value = 0;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fetch(CONTROL_AGAIN, -1, &value), 0);
	assert_int_equal(load("text", REPLACE), SDK_SUCCESS);
	assert_int_equal(fetch(CONTROL_AGAIN, -1, &value), -EBADF);
	assert_int_equal(fetch(CONTROL_AGAIN, fd, &value), -E2BIG);
	assert_int_equal(ftruncate(fd, 4), 0);
	assert_int_equal(fetch(CONTROL_AGAIN, fd, &value), -ENOSPC);
	assert_int_equal(fallocate(fd, 0, 0, 4), 0);
	assert_int_equal(fetch(CONTROL_AGAIN, fd, &value), 0);
	assert_int_equal(value, 4u | COUNTERS_REPLACE | COUNTERS_WAIT);
	assert_int_equal(pread(fd, text, sizeof(text), 0), 4);
	assert_string_equal(text, "text");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(takes_none_that_nobody_fetches, begin),
		cmocka_unit_test_setup(takes_the_same_again, begin),
		cmocka_unit_test_setup(writes_only_where_memory_is, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
