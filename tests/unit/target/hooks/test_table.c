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
#define PIECE     65536

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
	return patches_open() || writers_open(rings, NULL);
}

static int teardown(void **state)
{
	(void)state;
	hooks_off();
	patches_close();
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
	struct patches_left left = { 0 };

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
	struct patches_left left = { 0 };

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
	struct patches_left left = { 0 };

	(void)state;
	assert_int_equal(hook(&table.add, &adding), 0);
	kept = table.add;
	table_restore(&left);
	hooks_off();
	assert_int_equal(kept(1, 2), 3);
	assert_null(read_call(buffer));
}

/* As when a library has gone, and another has come to its address. */
static void another_name_is_another_function(void **state)
{
	uint64_t buffer[RECORD_MAX_BYTES / 8];
	struct patches_left left = { 0 };
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

/* A copy of the table in memory of its own. */
static struct api *copy_table(int protection)
{
	struct api *copy =
		mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(copy, MAP_FAILED);
	*copy = table;
	assert_int_equal(mprotect(copy, PIECE, protection), 0);
	return copy;
}

static void a_table_of_constants_is_one_again(void **state)
{
	struct api *constant = copy_table(PROT_READ);
	struct patches_left left = { 0 };

	(void)state;
	assert_int_equal(hook(&constant->add, &adding), 0);
	assert_false(word_is_writable((uint64_t *)&constant->add));
	assert_ptr_not_equal(constant->add, add);
	assert_int_equal(constant->add(1, 2), 3);
	table_restore(&left);
	assert_int_equal(left.restored, 1);
	assert_ptr_equal(constant->add, add);
	assert_false(word_is_writable((uint64_t *)&constant->add));
	munmap(constant, PIECE);
}

static void a_table_that_is_gone_is_left(void **state)
{
	struct api *gone = copy_table(PROT_READ | PROT_WRITE);
	struct patches_left left = { 0 };

	(void)state;
	assert_int_equal(hook(&gone->add, &adding), 0);
	munmap(gone, PIECE);
	table_restore(&left);
	assert_int_equal(left.foreign, 1);
}

static void what_cannot_be_hooked_is_refused(void **state)
{
	struct api *code = copy_table(PROT_READ | PROT_EXEC);

	(void)state;
	assert_int_equal(hook(&table.absent, &adding), -ENOENT);
	assert_int_equal(hook(&code->add, &adding), -EACCES);
	assert_int_equal(hook(&table.add, &adding), 0);
	assert_int_equal(hook(&table.add, &adding), -EEXIST);
	munmap(code, PIECE);
}

/* As in RCCL: more than registers and the usual window of the stack can hold. */
struct unique_id {
	uint64_t words[16];
};

static int64_t join(void *comm, int ranks, struct unique_id id, int rank)
{
	int64_t sum = comm ? 0 : ranks + rank;

	for (unsigned i = 0; i < 16; i++)
		sum = sum * 3 + (int64_t)id.words[i];
	return sum;
}

static const struct traced joining = { "join", NULL, DOMAIN_FUNCTION, HOOK_WIDE, .value_count = 0 };

static void structures_by_value_arrive(void **state)
{
	static __typeof__(&join) join_slot;
	struct unique_id id;

	(void)state;
	for (unsigned i = 0; i < 16; i++)
		id.words[i] = i * i + 1;
	join_slot = join;
	assert_int_equal(hook(&join_slot, &joining), 0);
	assert_int_equal(join_slot(NULL, 2, id, 3), join(NULL, 2, id, 3));
}

/* What imports led to before the table was known is not written twice. */
static void muted_calls_are_not_written(void **state)
{
	uint64_t buffer[RECORD_MAX_BYTES / 8];
	struct function_name name = { "add", "stand-in" };
	struct hook *import = hook_get((uint64_t)other_add, &adding, &name);
	int64_t (*stub)(int64_t, int64_t);

	(void)state;
	stub = (int64_t(*)(int64_t, int64_t))(uintptr_t)hook_stub(import);
	assert_true(hook_announce(import, &name));
	hooks_mute(DOMAIN_FUNCTION, (uint64_t)other_add, 1);
	assert_int_equal(stub(3, 1), 2);
	assert_null(read_call(buffer));
	assert_true(hook_announce(import, &name));
	assert_int_equal(stub(3, 1), 2);
	assert_null(read_call(buffer));
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
		cmocka_unit_test_setup_teardown(a_table_of_constants_is_one_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_table_that_is_gone_is_left, setup, teardown),
		cmocka_unit_test_setup_teardown(structures_by_value_arrive, setup, teardown),
		cmocka_unit_test_setup_teardown(muted_calls_are_not_written, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
