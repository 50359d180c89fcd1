/*
 * Sets of ranks, and lists of hosts.
 */
#include "unit.h"

#include "host/core/cleanup.h"
#include "host/fleet/hosts.h"
#include "host/fleet/rank.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *parsed(const char *text, char *ret, size_t room)
{
	CLEANUP(rank_set_done) struct rank_set set = { 0 };
	struct err err = { 0 };

	if (rank_set_parse(&set, text, &err)) {
		assert_int_equal(err.exit, EXIT_USAGE);
		return "refused";
	}
	return rank_set_describe(&set, ret, room);
}

static void reads_lists_and_joins_ranges(void **state)
{
	char text[64];

	(void)state;
	assert_string_equal(parsed("0,7,8-15", text, sizeof(text)), "0,7-15");
	assert_string_equal(parsed("8-15,3,0-4", text, sizeof(text)), "0-4,8-15");
	assert_string_equal(parsed("5,3,4", text, sizeof(text)), "3-5");
	assert_string_equal(parsed("1-3,2-9,0", text, sizeof(text)), "0-9");
}

static void refuses_what_is_no_list(void **state)
{
	static const char *const wrong[] = { "",
					     ",",
					     "1,",
					     "-1",
					     "3-1",
					     "1-",
					     "all",
					     "1 ,2",
					     "1--2",
					     "16777216",
					     "99999999999999999999" };
	char text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_string_equal(parsed(wrong[i], text, sizeof(text)), "refused");
}

/* Beside the plainest set there is. */
static void has_what_was_added(void **state)
{
	CLEANUP(rank_set_done) struct rank_set set = { 0 };
	bool plain[200] = { false };
	uint64_t count = 0;

	(void)state;
	srand(7);
	for (unsigned i = 0; i < 400; i++) {
		uint32_t first = (uint32_t)rand() % 197, last = first + (uint32_t)rand() % 4;

		assert_int_equal(rank_set_add_range(&set, (struct rank_range){ first, last }), 0);
		for (uint32_t k = first; k <= last; k++)
			plain[k] = true;
		for (uint32_t k = 0; k < 200; k++)
			assert_int_equal(rank_set_has(&set, k), plain[k]);
	}
	for (uint32_t k = 0; k < 200; k++)
		count += plain[k];
	assert_int_equal(rank_set_size(&set), count);
	for (size_t i = 1; i < set.count; i++)
		assert_true(set.items[i].first > set.items[i - 1].last + 1);
}

static void describes_as_much_as_has_room(void **state)
{
	CLEANUP(rank_set_done) struct rank_set set = { 0 };
	char text[16];

	(void)state;
	for (uint32_t i = 0; i < 100; i += 2)
		assert_int_equal(rank_set_add(&set, i), 0);
	assert_string_equal(rank_set_describe(&set, text, sizeof(text)), "0,2,4,6,8,...");
}

static int hosts_count(const char *text, struct hosts *ret)
{
	struct err err = { 0 };
	int r = hosts_parse(ret, text, &err);

	return r ? r : (int)ret->count;
}

static void expands_hosts(void **state)
{
	CLEANUP(hosts_done) struct hosts hosts = { 0 };

	(void)state;
	assert_int_equal(hosts_count("n[1-3,07],gpu-[009-010].x,alice@login,n2", &hosts), 7);
	assert_string_equal(hosts.names[0], "n1");
	assert_string_equal(hosts.names[3], "n07");
	assert_string_equal(hosts.names[4], "gpu-009.x");
	assert_string_equal(hosts.names[5], "gpu-010.x");
	assert_string_equal(hosts.names[6], "alice@login");
}

/* Nothing that a shell or ssh would take for something else. */
static void refuses_hosts_that_are_none(void **state)
{
	static const char *const wrong[] = {
		"",     ",",       "a,",  "-oProxyCommand=x", "a b",      "a;b",         "$(x)",
		"n[1-", "n[1-2]]", "n[]", "n[2-1]",           "n[1-2-3]", "n[1-999999]", "a'b",
		"a\nb"
	};
	struct hosts hosts = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_true(hosts_count(wrong[i], &hosts) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_lists_and_joins_ranges),
		cmocka_unit_test(refuses_what_is_no_list),
		cmocka_unit_test(has_what_was_added),
		cmocka_unit_test(describes_as_much_as_has_room),
		cmocka_unit_test(expands_hosts),
		cmocka_unit_test(refuses_hosts_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
