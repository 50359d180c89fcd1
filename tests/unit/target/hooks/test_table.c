/*
 * A table of function pointers, as GPU runtimes have them, hooked and put back.
 */
#include "unit.h"

#include "target/hooks/table.h"
#include "target/hooks/writer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

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

/* As in HIP and RCCL: three sizes in two registers; more than registers and the usual window of
 * the stack can hold. */
struct dim3 {
	uint32_t x, y, z;
};
struct unique_id {
	uint64_t words[16];
};

static const struct hook_frame *seen_inside;
static uint64_t seen_stream;

static int64_t launch(const void *function, struct dim3 grid, struct dim3 block, void **arguments,
		      size_t shared, void *stream)
{
	seen_inside = hook_current();
	seen_stream = seen_inside ? hook_argument(seen_inside, 7) : 0;
	return function && !arguments ? grid.x + 10 * grid.y + 100 * grid.z + 1000 * block.x +
						10000 * block.y + 100000 * block.z +
						1000000 * (int64_t)shared + (stream ? 5000000 : 0)
				      : -1;
}

static int64_t join(void *comm, int ranks, struct unique_id id, int rank)
{
	int64_t sum = comm ? 0 : ranks + rank;

	for (unsigned i = 0; i < 16; i++)
		sum = sum * 3 + (int64_t)id.words[i];
	return sum;
}

static const struct traced launching = { "launch", NULL, DOMAIN_FUNCTION, HOOK_ENTERED,
					 .value_count = 0 };
static const struct traced joining = { "join", NULL, DOMAIN_FUNCTION, HOOK_WIDE, .value_count = 0 };

static void structures_by_value_arrive(void **state)
{
	static __typeof__(&launch) launch_slot;
	static __typeof__(&join) join_slot;
	struct dim3 grid = { 1, 2, 3 }, block = { 4, 5, 6 };
	struct unique_id id;

	(void)state;
	for (unsigned i = 0; i < 16; i++)
		id.words[i] = i * i + 1;
	launch_slot = launch;
	join_slot = join;
	assert_int_equal(hook(&launch_slot, &launching), 0);
	assert_int_equal(hook(&join_slot, &joining), 0);
	assert_int_equal(launch_slot(&table, grid, block, NULL, 7, &table), 12654321);
	assert_int_equal(join_slot(NULL, 2, id, 3), join(NULL, 2, id, 3));
}

static void a_call_is_known_while_it_lasts(void **state)
{
	static __typeof__(&launch) slot;
	struct dim3 one = { 1, 1, 1 };
	uint64_t buffer[RECORD_MAX_BYTES / 8];
	struct record_call *call;

	(void)state;
	slot = launch;
	assert_int_equal(hook(&slot, &launching), 0);
	slot(&table, one, one, NULL, 0, &table);
	assert_non_null(seen_inside);
	assert_int_equal(seen_stream, (uint64_t)&table);
	assert_null(hook_current());
	call = read_call(buffer);
	assert_non_null(call);
	launch(&table, one, one, NULL, 0, NULL);
	assert_null(seen_inside);
}

static jmp_buf out;

static int64_t leave(const void *function)
{
	longjmp(out, function ? 2 : 1);
}

static const struct traced leaving = { "leave", NULL, DOMAIN_FUNCTION, HOOK_ENTERED,
				       .value_count = 0 };

/* Where the call was that was left, something else is by now.  A sanitizer would leave a gap beside
 * the array, in which the call could still be seen as it was. */
static __attribute__((noinline, no_sanitize("address"))) const struct hook_frame *
look_from_below(int byte)
{
	volatile char room[16384];
	const struct hook_frame *found;

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = (char)byte;
	found = hook_current();
	return room[0] == (char)byte ? found : NULL;
}

static void a_call_that_was_left_is_not_known(void **state)
{
	static __typeof__(&leave) slot;

	(void)state;
	slot = leave;
	assert_int_equal(hook(&slot, &leaving), 0);
	if (!setjmp(out))
		slot(NULL);
	for (int byte = 0; byte < 256; byte += 15)
		assert_null(look_from_below(byte));
}

static __typeof__(&leave) far_slot;

static void leave_far(void)
{
	far_slot(NULL);
}

/* Its stack lies further up, and is gone. */
static void a_call_on_a_stack_that_is_gone(void **state)
{
	size_t size = 1 << 20;
	char *near = (char *)__builtin_frame_address(0);
	char *stack = mmap(near + (1 << 28), size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ucontext_t context, back;

	(void)state;
	assert_true(stack != MAP_FAILED);
	far_slot = leave;
	assert_int_equal(hook(&far_slot, &leaving), 0);
	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = size;
	context.uc_link = &back;
	makecontext(&context, leave_far, 0);
	if (!setjmp(out))
		swapcontext(&back, &context);
	munmap(stack, size);
	assert_null(hook_current());
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
		cmocka_unit_test_setup_teardown(a_call_is_known_while_it_lasts, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_that_was_left_is_not_known, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_on_a_stack_that_is_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(muted_calls_are_not_written, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
