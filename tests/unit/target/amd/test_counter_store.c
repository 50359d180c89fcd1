/*
 * The catalog that the host tells while tools of an earlier attach add to the one before.
 */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/counters/amd/catalog.h"
#include "target/amd/sinks/sdk/counters/configs.h"
#include "target/amd/sinks/sdk/counters/definitions.h"
#include "target/amd/sinks/sdk/counters/info.h"
#include "target/amd/sinks/sdk/counters/store.h"
#include "target/amd/sinks/sdk/devices/agents.h"

#define PAUSE_US 100000

static int fd;
static size_t size;

void configs_forget(void)
{
}

void definitions_forget(void)
{
}

void info_forget(void)
{
}

struct sdk_handle agent_of_number(uint64_t number)
{
	(void)number;
	return (struct sdk_handle){ 0 };
}

static int catalog_open(void **state)
{
	struct err err = { 0 };
	void *bytes;

	(void)state;
	setenv("HSA_MODEL_TOPOLOGY", getenv("TOPOLOGY"), 1);
	if (counter_catalog_make(&(struct catalog_origin){ .folder = getenv("DEFINITIONS") },
				 &bytes, &size, &err))
		return -1;
	fd = memfd_create("catalog", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		return -1;
	free(bytes);
	return 0;
}

static int catalog_close(void **state)
{
	(void)state;
	counters_close();
	return close(fd);
}

static void *learn(void *ret)
{
	*(int *)ret = counters_learn(fd, size);
	return NULL;
}

static void waits_for_who_adds_to_the_one_before(void **state)
{
	pthread_t thread;
	int r;

	(void)state;
	do {
		assert_true(counters_enter());
		assert_int_equal(pthread_create(&thread, NULL, learn, &r), 0);
		usleep(PAUSE_US);
		assert_null(counters_catalog());
		counters_leave();
		assert_int_equal(pthread_join(thread, NULL), 0);
	} while (r == -EBUSY); /* a busy machine: it waits for a while only */
	assert_int_equal(r, 0);
}

/* Who has seen it may have ids. */
static void is_hidden_from_who_has_not_seen_it(void **state)
{
	(void)state;
	assert_false(counters_are_hidden());
	assert_true(counters_hide());
	assert_true(counters_are_hidden());
	assert_null(counters_catalog());
	assert_int_equal(counters_learn(fd, size), 0);
	assert_non_null(counters_catalog());
	assert_false(counters_hide());
	assert_non_null(counters_catalog());
	counters_release();
	assert_true(counters_hide());
	assert_int_equal(counters_learn(fd, size), 0);
}

/* What a tool has added is there again when the same comes again. */
static void knows_what_was_added(void **state)
{
	const struct catalog *told = counters_catalog();
	struct catalog *own;

	(void)state;
	assert_true(counters_enter());
	own = counters_own_catalog();
	assert_non_null(own);
	assert_non_null(counters_grow(own, CATALOG_TEXTS, 5));
	assert_null(counters_grow(own, CATALOG_COUNTERS, 1));
	counters_leave();
	assert_true(own != told && counters_catalog() == own);
	assert_int_equal(counters_learn(fd, size), 0);
	assert_true(counters_catalog() == own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_who_adds_to_the_one_before),
		cmocka_unit_test(is_hidden_from_who_has_not_seen_it),
		cmocka_unit_test(knows_what_was_added),
	};

	return cmocka_run_group_tests(tests, catalog_open, catalog_close);
}
