/*
 * A table of function pointers, as GPU runtimes have them, hooked and put back.
 */
#include "unit.h"

#include "target/hooks/table.h"
#include "target/hooks/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS     4
#define RING_SIZE 8192

struct api {
	uint64_t size;
	int64_t (*add)(int64_t, int64_t);
	double (*scale)(double, int64_t);
	void (*absent)(void);
};

static const struct traced adding = { "add",
				      NULL,
				      DOMAIN_FUNCTION,
				      HOOK_REGISTERS,
				      NULL,
				      NULL,
				      2,
				      { { VALUE_SIZE, CAPTURE_ARG1 },
					{ VALUE_RESULT, CAPTURE_RESULT } } };
static const struct traced scaling = { "scale", NULL, DOMAIN_FUNCTION, HOOK_ANY, .value_count = 0 };

static int64_t add(int64_t a, int64_t b)
{
	return a + b;
}

static double scale(double a, int64_t b)
{
	return a * (double)b;
}

static int64_t other_add(int64_t a, int64_t b)
{
	return a - b;
}

static struct api table;
static struct rings *rings;

static int setup(void **state)
{
	struct rings layout;
	size_t size = rings_layout(SLOTS, RING_SIZE, 16, &layout);

	(void)state;
	rings = aligned_alloc(65536, size);
	if (!rings)
		return -1;
	memset(rings, 0, size);
	*rings = layout;
	table = (struct api){ sizeof(table), add, scale, NULL };
	return words_open() || writers_open(rings, NULL);
}

static int teardown(void **state)
{
	(void)state;
	hooks_off();
	words_close();
	if (!writers_close())
		return -1;
	free(rings);
	return 0;
}

static int hook(void *entry, const struct traced *traced)
{
	return table_hook(entry, traced, traced->symbol, "stand-in");
}

/* The only record in the ring of this thread. */
static struct record_call *read_call(void *buffer)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (ring_read(rings_slot(rings, i), rings_data(rings, i), RING_SIZE, buffer,
			      RECORD_MAX_BYTES) > 0)
			return buffer;
	return NULL;
}

static void calls_through_the_table_are_written(void **state)
{
	uint64_t buffer[RECORD_MAX_BYTES / 8];
	struct record_call *call;

	(void)state;
	assert_int_equal(hook(&table.add, &adding), 0);
	assert_int_equal(table.add(40, 2), 42);
	call = read_call(buffer);
	assert_non_null(call);
	assert_true(call->end >= call->begin);
	assert_int_equal(buffer[3], 2);
	assert_int_equal(buffer[4], 42);
	assert_string_equal(rings_functions(rings)[call->function].name, "add");
	assert_null(read_call(buffer));
}

static void results_in_vector_registers_pass(void **state)
{
	(void)state;
	assert_int_equal(hook(&table.scale, &scaling), 0);
	assert_true(table.scale(1.5, 4) == 6.0);
}

static void every_entry_is_put_back(void **state)
{
	struct words_left left = { 0 };

	(void)state;
	assert_int_equal(hook(&table.add, &adding), 0);
	assert_int_equal(hook(&table.scale, &scaling), 0);
	assert_ptr_not_equal(table.add, add);
	table_restore(&left);
	assert_ptr_equal(table.add, add);
	assert_ptr_equal(table.scale, scale);
	assert_int_equal(left.restored, 2);
	assert_int_equal(left.foreign, 0);
}

static void what_another_has_stored_stays(void **state)
{
	struct words_left left = { 0 };

	(void)state;
	assert_int_equal(hook(&table.add, &adding), 0);
	table.add = other_add;
	table_restore(&left);
	assert_ptr_equal(table.add, other_add);
	assert_int_equal(left.foreign, 1);
}

static void a_kept_pointer_works_after_the_end(void **state)
{
	int64_t (*kept)(int64_t, int64_t);
	uint64_t buffer[RECORD_MAX_BYTES / 8];
	struct words_left left = { 0 };

	(void)state;
	assert_int_equal(hook(&table.add, &adding), 0);
	kept = table.add;
	table_restore(&left);
	hooks_off();
	assert_int_equal(kept(1, 2), 3);
	assert_null(read_call(buffer));
}

/* As when a library has gone, and another has come to its place. */
static void another_name_is_another_function(void **state)
{
	uint64_t buffer[RECORD_MAX_BYTES / 8];
	struct words_left left = { 0 };
	struct record_call *call;

	(void)state;
	assert_int_equal(table_hook((uint64_t *)&table.add, &adding, "add", "gone"), 0);
	table_restore(&left);
	assert_int_equal(table_hook((uint64_t *)&table.add, &adding, "sum", "come"), 0);
	assert_int_equal(table.add(40, 2), 42);
	call = read_call(buffer);
	assert_non_null(call);
	assert_string_equal(rings_functions(rings)[call->function].name, "sum");
	assert_string_equal(rings_functions(rings)[call->function].library, "come");
}

static void what_cannot_be_hooked_is_refused(void **state)
{
	struct api *constant =
		mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	*constant = table;
	mprotect(constant, 65536, PROT_READ);
	assert_int_equal(hook(&table.absent, &adding), -ENOENT);
	assert_int_equal(hook(&constant->add, &adding), -EACCES);
	assert_int_equal(hook(&table.add, &adding), 0);
	assert_int_equal(hook(&table.add, &adding), -EEXIST);
	munmap(constant, 65536);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_through_the_table_are_written, setup,
						teardown),
		cmocka_unit_test_setup_teardown(results_in_vector_registers_pass, setup, teardown),
		cmocka_unit_test_setup_teardown(every_entry_is_put_back, setup, teardown),
		cmocka_unit_test_setup_teardown(what_another_has_stored_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(a_kept_pointer_works_after_the_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(another_name_is_another_function, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_hooked_is_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
