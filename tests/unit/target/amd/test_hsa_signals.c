/*
 * Signals of ours: however many come and go, the runtime has no more of them than there may be.
 */
#include "unit.h"

#include "target/amd/hsa/signals.h"

#define MOST   16384u /* as hsa_signals.c has it */
#define ROUNDS 4u

static uint64_t last_made, live;
static uint64_t taken[MOST + 1];

static int create(int64_t value, uint32_t count, const void *consumers, uint64_t *ret)
{
	(void)value, (void)count, (void)consumers;
	live++;
	*ret = ++last_made;
	return 0;
}

static int destroy(uint64_t signal)
{
	(void)signal;
	live--;
	return 0;
}

static void store(uint64_t signal, int64_t value)
{
	(void)signal, (void)value;
}

static int watch(uint64_t signal, uint32_t condition, int64_t value, hsa_on_signal *call,
		 void *data)
{
	(void)signal, (void)condition, (void)value, (void)call, (void)data;
	return 0;
}

static int setup(void **state)
{
	(void)state;
	hsa_calls.signal_create = create;
	hsa_calls.signal_destroy = destroy;
	hsa_calls.signal_store = store;
	hsa_calls.on_signal = watch;
	hsa_signals_forget();
	live = 0;
	return 0;
}

static unsigned take_all(void)
{
	unsigned count = 0;

	while (count <= MOST && (taken[count] = hsa_signal_acquire(NULL, NULL)))
		count++;
	return count;
}

static void floods_leave_no_more_than_there_may_be(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		assert_int_equal(take_all(), MOST);
		for (unsigned j = 0; j < MOST; j++)
			hsa_signal_give_back(taken[j]);
	}
	assert_int_equal(live, MOST);
	hsa_signals_free();
	assert_int_equal(live, 0);
}

/* Only every other one comes back: those that are there lie apart. */
static void all_that_came_back_are_found_again(void **state)
{
	(void)state;
	assert_int_equal(take_all(), MOST);
	for (unsigned i = 0; i < MOST; i += 2)
		hsa_signal_give_back(taken[i]);
	assert_int_equal(take_all(), MOST / 2);
	assert_int_equal(live, MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(floods_leave_no_more_than_there_may_be, setup),
		cmocka_unit_test_setup(all_that_came_back_are_found_again, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
