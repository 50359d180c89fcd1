/*
 * May memory be tried?  As the host says, for the session that it says it in.
 */
#include "unit.h"

#include "shared/wire/ring.h"
#include "target/hooks/probe.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t there = 1;
static uint32_t first, second;
static void *held_back; /* a page: who reads it is held up */
static size_t page_bytes;

static bool can_read(const void *at)
{
	return probe_can_read((uint64_t)(uintptr_t)at);
}

static void expect(uint32_t said, bool is_decided, bool is_allowed)
{
	first = said;
	probe_use(&first);
	assert_false(can_read(&there));
	assert_int_equal(probe_is_decided(), is_decided);
	assert_int_equal(can_read(&there), is_allowed);
	assert_false(can_read(NULL));
	probe_use(NULL);
	assert_false(can_read(&there));
	assert_false(probe_is_decided());
}

static void memory_is_tried_where_the_host_says_so(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		expect(RINGS_PROBES_UNKNOWN, false, false);
		expect(RINGS_PROBES_ALLOWED, true, true);
		expect(RINGS_PROBES_DENIED, true, false);
	}
}

/* Meanwhile that session ends, and the next one's host says something else. */
static void on_fault(int number)
{
	(void)number;
	probe_use(NULL);
	probe_use(&second);
	if (mprotect(held_back, page_bytes, PROT_READ | PROT_WRITE))
		_exit(1);
	*(uint32_t *)held_back = RINGS_PROBES_ALLOWED;
}

static void hold_back(void)
{
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	held_back = mmap(NULL, page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(held_back, MAP_FAILED);
}

static void a_writer_that_was_held_up_decides_nothing(void **state)
{
	struct sigaction action = { .sa_handler = on_fault }, before;

	(void)state;
	hold_back();
	assert_false(sigaction(SIGSEGV, &action, &before));
	second = RINGS_PROBES_DENIED;
	probe_use(held_back);
	assert_false(probe_is_decided());
	assert_false(sigaction(SIGSEGV, &before, NULL));
	assert_false(can_read(&there));
	assert_true(probe_is_decided());
	assert_false(can_read(&there));
	probe_use(NULL);
	munmap(held_back, page_bytes);
}

static void nothing_is_tried_after_a_denial(void **state)
{
	(void)state;
	first = RINGS_PROBES_UNKNOWN;
	probe_use(&first);
	probe_deny();
	first = RINGS_PROBES_ALLOWED;
	assert_true(probe_is_decided());
	assert_false(can_read(&there));
	probe_use(&first);
	assert_true(probe_is_decided());
	assert_true(can_read(&there));
	probe_deny();
	assert_true(probe_is_decided());
	assert_false(can_read(&there));
	probe_use(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_tried_where_the_host_says_so),
		cmocka_unit_test(a_writer_that_was_held_up_decides_nothing),
		cmocka_unit_test(nothing_is_tried_after_a_denial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
