/*
 * Signals of ours in packets that other threads have, too.  What gives them is private, so its
 * source is part of this test; the runtime is played.
 */
#include "unit.h"

#include "target/amd/hsa/tracing/packets.c"

#define THEIRS 0x9000u

static struct hsa_packet packet;
static uint64_t last_made;
static hsa_on_signal *watching;
static bool is_late; /* another thread rings, and fills its next packet in, before us */

static int create(int64_t value, uint32_t count, const void *consumers, uint64_t *ret)
{
	(void)value, (void)count, (void)consumers;
	*ret = ++last_made;
	if (is_late)
		packet.completion = THEIRS;
	return 0;
}

static int watch(uint64_t signal, uint32_t condition, int64_t value, hsa_on_signal *call,
		 void *data)
{
	(void)signal, (void)condition, (void)value, (void)data;
	watching = call;
	return 0;
}

static void store(uint64_t signal, int64_t value)
{
	if (value < 1)
		watching(value, (void *)signal);
}

static int setup(void **state)
{
	(void)state;
	hsa_calls.signal_create = create;
	hsa_calls.signal_store = store;
	hsa_calls.on_signal = watch;
	hsa_signals_forget();
	packet = (struct hsa_packet){ .header = PACKET_KERNEL };
	last_made = 0;
	return pending_open();
}

static void give_one(void)
{
	struct hsa_command command = { .domain = DOMAIN_KERNEL, .asked = 1, .cause = 1 };

	assert_true(give_signal(&packet, &command));
}

static void a_packet_without_a_signal_has_ours(void **state)
{
	(void)state;
	is_late = false;
	give_one();
	assert_int_equal(packet.completion, 1);
	assert_int_equal(pending_count_of(1), 1);
}

static void a_signal_that_came_too_late_is_used_again(void **state)
{
	(void)state;
	is_late = true;
	give_one();
	assert_int_equal(packet.completion, THEIRS);
	assert_int_equal(pending_count(), 0);
	is_late = false;
	packet.completion = 0;
	give_one();
	assert_int_equal(packet.completion, 1);
	assert_int_equal(last_made, 1);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_packet_without_a_signal_has_ours),
		TEST(a_signal_that_came_too_late_is_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
