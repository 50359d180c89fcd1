/*
 * Files by descriptor: as the calls of the io domain tell of them.
 */
#include "unit.h"

#include <string.h>

#include "host/model/calls/descriptors.h"

static struct trace_function functions[] = {
	{ "open", "", DOMAIN_IO, 1, { VALUE_RESULT } },
	{ "read", "", DOMAIN_IO, 3, { VALUE_DESCRIPTOR, VALUE_SIZE, VALUE_RESULT } },
	{ "writev", "", DOMAIN_IO, 2, { VALUE_DESCRIPTOR, VALUE_RESULT } },
	{ "close", "", DOMAIN_IO, 2, { VALUE_DESCRIPTOR, VALUE_RESULT } },
	{ "accept4", "", DOMAIN_IO, 2, { VALUE_DESCRIPTOR, VALUE_RESULT } },
	{ "fopen", "", DOMAIN_IO, 2, { VALUE_OBJECT, VALUE_DESCRIPTOR } },
	{ "fclose", "", DOMAIN_IO, 2, { VALUE_OBJECT, VALUE_RESULT } },
	{ "fgets", "", DOMAIN_IO, 3, { VALUE_DESCRIPTOR, VALUE_SIZE, VALUE_RESULT } },
	{ "mmap", "", DOMAIN_ALLOC, 1, { VALUE_DESCRIPTOR } },
};

enum { OPEN, READ, WRITEV, CLOSE, ACCEPT, FOPEN, FCLOSE, FGETS, MMAP };

static struct recorded_file at_start[] = { { 0, "/dev/tty" }, { 5, "/never/used" } };
static struct model_process process = { .files = at_start, .file_count = 2 };
static struct model_process *processes[] = { &process };
static const struct model model = { .processes = processes, .process_count = 1 };
static struct descriptors descriptors;

static int setup(void **state)
{
	(void)state;
	return descriptors_init(&descriptors, &model);
}

static int teardown(void **state)
{
	(void)state;
	descriptors_done(&descriptors);
	return 0;
}

static void take(unsigned function, const uint64_t *values, const char *text)
{
	struct call call = { .process = &process,
			     .function = &functions[function],
			     .begin_ns = 10,
			     .end_ns = 15,
			     .value_count = functions[function].value_count,
			     .values = values,
			     .text = text };

	assert_int_equal(descriptors_add(&descriptors, &call), 0);
}

#define VALUES(...) ((const uint64_t[]){ __VA_ARGS__ })

static const struct descriptor_row *find(int descriptor, const char *name)
{
	for (uint32_t i = 0; i < descriptors.count; i++)
		if (descriptors.rows[i].descriptor == descriptor &&
		    !strcmp(descriptors.rows[i].name, name))
			return &descriptors.rows[i];
	fail_msg("no row %d %s", descriptor, name);
	return &descriptors.rows[0];
}

static void a_descriptor_is_called_what_was_opened(void **state)
{
	(void)state;
	take(OPEN, VALUES(7), "/a");
	take(READ, VALUES(7, 100, 60), "");
	take(WRITEV, VALUES(7, 33), "");
	take(READ, VALUES(7, 100, (uint64_t)-1), "");
	take(CLOSE, VALUES(7, 0), "");
	take(OPEN, VALUES(7), "/b");
	take(READ, VALUES(7, 100, 5), "");
	take(OPEN, VALUES((uint64_t)-1), "/missing");
	take(MMAP, VALUES(7), "");
	descriptors_sort(&descriptors);
	assert_int_equal(descriptors.count, 2);
	assert_int_equal(find(7, "/a")->read_bytes, 60);
	assert_int_equal(find(7, "/a")->written_bytes, 33);
	assert_int_equal(find(7, "/a")->statistics.calls, 5);
	assert_int_equal(find(7, "/a")->statistics.total_ns, 25);
	assert_int_equal(find(7, "/b")->read_bytes, 5);
}

static void what_was_open_before_has_its_name(void **state)
{
	(void)state;
	take(READ, VALUES(0, 100, 1), "");
	take(READ, VALUES(9, 100, 2), "");
	descriptors_sort(&descriptors);
	assert_int_equal(descriptors.count, 2);
	assert_int_equal(find(0, "/dev/tty")->read_bytes, 1);
	assert_int_equal(find(9, "")->read_bytes, 2);
}

static void accepting_names_the_new_one(void **state)
{
	(void)state;
	take(ACCEPT, VALUES(3, 8), "127.0.0.1:99");
	take(READ, VALUES(8, 10, 10), "");
	take(ACCEPT, VALUES(3, (uint64_t)-1), "");
	descriptors_sort(&descriptors);
	assert_int_equal(find(8, "127.0.0.1:99")->read_bytes, 10);
	assert_int_equal(find(3, "")->statistics.calls, 2);
	assert_int_equal(find(3, "")->read_bytes, 0);
}

static void streams_stand_for_descriptors(void **state)
{
	(void)state;
	take(FOPEN, VALUES(0xf00, 4), "/stream");
	take(FGETS, VALUES(4, 80, 0xffff1234), ""); /* a pointer is no number of bytes */
	take(FCLOSE, VALUES(0xf00, 0), "");
	take(READ, VALUES(4, 1, 1), "");
	take(FCLOSE, VALUES(0xbad, 0), "");
	descriptors_sort(&descriptors);
	assert_int_equal(find(4, "/stream")->statistics.calls, 3);
	assert_int_equal(find(4, "/stream")->read_bytes, 0);
	assert_int_equal(find(4, "")->read_bytes, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_descriptor_is_called_what_was_opened),
		TEST(what_was_open_before_has_its_name),
		TEST(accepting_names_the_new_one),
		TEST(streams_stand_for_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
