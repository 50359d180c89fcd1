/*
 * What CUDA's domain keeps between CUPTI's callbacks: causes by number, buffers, and which releases
 * it knows.
 */
#include "unit.h"

#include "target/domains/cuda/cuda.h"

#include <string.h>

#define SLOTS       (1u << 20) /* of causes */
#define BUFFERS_MAX 1000u

static void knows_releases_by_their_numbers(void **state)
{
	static const struct {
		uint32_t version;
		bool is_known;
	} cases[] = {
		{ 12, false },    { 13, true },     { 28, true },      { 99, false },
		{ 130000, true }, { 139999, true }, { 140000, false },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(layout_is_known(cases[i].version), cases[i].is_known);
}

static void takes_care_by_the_version(void **state)
{
	const uint32_t always = CARE_STAY | CARE_HOLD | CARE_CUT_GRAPHS | CARE_RENEW;
	const uint32_t all = always | CARE_CHECK_GRAPHS;
	const struct {
		uint32_t version, care;
		bool is_known;
	} cases[] = {
		{ 13, all, true },
		{ 28, all, true },
		{ 130000, all | CARE_REFUSE, true },
		{ 130001, all, true },
		{ 130100, all, true },
		{ 130101, always, true },
		{ 130401, always, true },
		{ 130402, all, false },
		{ 139999, all, false },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(hazards_care(cases[i].version), cases[i].care);
		assert_int_equal(hazards_are_known(cases[i].version), cases[i].is_known);
	}
}

static void renews_a_subscription_that_is_worn(void **state)
{
	struct cuda_wear fresh = { CUDA_RECORDS_MAX - 1, CUDA_TIMELESS_MAX - 1 };
	struct cuda_wear by_records = { CUDA_RECORDS_MAX, 0 }, by_times = { 0, CUDA_TIMELESS_MAX };

	(void)state;
	assert_false(hazards_want_renewal(CARE_RENEW, &fresh));
	assert_true(hazards_want_renewal(CARE_RENEW, &by_records));
	assert_true(hazards_want_renewal(CARE_RENEW, &by_times));
	assert_false(hazards_want_renewal(CARE_STAY, &by_times));
}

static void finds_a_cause_until_another_takes_its_slot(void **state)
{
	struct cuda_cause found = { 0 };

	(void)state;
	assert_int_equal(causes_open(), 0);
	assert_false(cause_find(7, &found));
	cause_note(7, &(struct cuda_cause){ 1000, 42, true });
	assert_true(cause_find(7, &found));
	assert_int_equal(found.begin, 1000);
	assert_int_equal(found.thread, 42);
	assert_true(found.is_graph);
	cause_note(7 + SLOTS, &(struct cuda_cause){ 2000, 43, false });
	assert_false(cause_find(7, &found));
	assert_true(cause_find(7 + SLOTS, &found));
	assert_int_equal(found.begin, 2000);
}

static void has_no_cause_with_number_0_or_of_an_earlier_session(void **state)
{
	struct cuda_cause found;

	(void)state;
	assert_int_equal(causes_open(), 0);
	cause_note(0, &(struct cuda_cause){ 1, 1, false });
	assert_false(cause_find(0, &found));
	cause_note(9, &(struct cuda_cause){ 1, 1, false });
	causes_close();
	assert_int_equal(causes_open(), 0);
	assert_false(cause_find(9, &found));
}

static void gives_buffers_that_are_empty_until_none_is_left(void **state)
{
	static uint8_t *given[BUFFERS_MAX];
	size_t size = 0, most = 1, count = 0;
	uint8_t *more;

	(void)state;
	assert_int_equal(buffers_open(), 0);
	for (buffer_provide(&more, &size, &most); more; buffer_provide(&more, &size, &most)) {
		assert_true(count < BUFFERS_MAX && size >= 65536 && !most);
		assert_int_equal((uintptr_t)more % 8, 0);
		assert_int_equal(more[100], 0);
		memset(more, 0xff, 200);
		given[count++] = more;
	}
	assert_int_equal(size, 0);
	assert_int_equal(buffers_in_use(), count);
	buffer_recycle(given[3], 200);
	assert_int_equal(buffers_in_use(), count - 1);
	buffer_provide(&more, &size, &most);
	assert_ptr_equal(more, given[3]);
	assert_int_equal(more[100], 0);
	buffer_recycle(given[5], 50);
	buffers_close();
	assert_int_equal(buffers_in_use(), count - 1);
	assert_int_equal(given[5][100], 0);
	assert_int_equal(given[6][100], 0xff);
	for (size_t i = 0; i < count; i++)
		buffer_recycle(given[i], 200);
	assert_int_equal(buffers_in_use(), 0);
}

static void leaves_memory_alone_that_is_not_its_own(void **state)
{
	uint64_t other[4] = { 1, 2, 3, 4 };

	(void)state;
	assert_int_equal(buffers_open(), 0);
	buffer_recycle((uint8_t *)other, sizeof(other));
	assert_int_equal(other[3], 4);
}

static void reads_a_call_that_has_no_result_yet(void **state)
{
	int32_t result = 700;
	union {
		uint64_t words[9];
		uint32_t halves[18];
	} data = { { 0 } };
	struct cupti_call call;

	(void)state;
	data.halves[16] = 5;
	layout_call(&data, &call);
	assert_false(call.is_exit);
	assert_int_equal(call.correlation, 5);
	data.halves[0] = 1;
	data.words[3] = (uint64_t)(uintptr_t)&result;
	layout_call(&data, &call);
	assert_true(call.is_exit);
	assert_int_equal(call.result, 700);
}

#define STRAY_BYTES 64u

static int next_stray(uint8_t *buffer, size_t valid, const uint8_t **record)
{
	const uint8_t *next = *record ? *record + STRAY_BYTES : buffer;

	if (next + STRAY_BYTES > buffer + valid)
		return 21;
	*record = next;
	return 0;
}

static void counts_what_no_ring_is_free_for(void **state)
{
	static uint8_t buffer[4 * STRAY_BYTES];
	struct cupti cupti = { .next_record = next_stray };

	(void)state;
	activities_use(&cupti, false);
	activities_convert(NULL, 0, buffer, sizeof(buffer), 3 * STRAY_BYTES);
	activities_convert(NULL, 0, buffer, sizeof(buffer), 0);
	assert_int_equal(activities_tally().unwritten, 3);
	assert_int_equal(activities_tally().dropped, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_releases_by_their_numbers),
		cmocka_unit_test(takes_care_by_the_version),
		cmocka_unit_test(renews_a_subscription_that_is_worn),
		cmocka_unit_test(finds_a_cause_until_another_takes_its_slot),
		cmocka_unit_test(has_no_cause_with_number_0_or_of_an_earlier_session),
		cmocka_unit_test(gives_buffers_that_are_empty_until_none_is_left),
		cmocka_unit_test(leaves_memory_alone_that_is_not_its_own),
		cmocka_unit_test(reads_a_call_that_has_no_result_yet),
		cmocka_unit_test(counts_what_no_ring_is_free_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
