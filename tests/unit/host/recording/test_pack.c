/*
 * Packed records come out as they went in; damaged ones are refused.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "host/recording/pack.h"

#define ROOM 4096

static unsigned char packed[ROOM];
static size_t packed_size;
static struct packer packer;

static int setup(void **state)
{
	(void)state;
	packed_size = 0;
	memset(&packer, 0, sizeof(packer));
	return 0;
}

static void add(const void *record)
{
	packed_size +=
		(size_t)(pack(&packer, record, packed + packed_size) - (packed + packed_size));
	assert_true(packed_size <= ROOM - PACKED_MAX);
}

static struct cursor start(void)
{
	memset(&packer, 0, sizeof(packer));
	return (struct cursor){ packed, packed + packed_size, false };
}

struct call_with_values {
	struct record_call call;
	uint64_t values[RECORD_VALUES_MAX];
};

static struct call_with_values make_call(unsigned count, uint32_t function, uint64_t begin,
					 uint64_t end)
{
	return (struct call_with_values){ .call = { { (uint16_t)record_call_size(count),
						      RECORD_CALL, (uint8_t)count },
						    function,
						    begin,
						    end } };
}

static void expect_same(struct cursor *cursor, const void *expected)
{
	_Alignas(uint64_t) unsigned char record[RECORD_MAX_BYTES];
	const struct record *head = expected;

	assert_int_equal(unpack(&packer, cursor, record), head->size);
	assert_memory_equal(record, expected, head->size);
}

static void counts_come_out_as_they_went_in(void **state)
{
	struct {
		struct record_counts head;
		struct record_count counts[RECORD_COUNTS_MAX];
	} record = { .head = { { sizeof(record), RECORD_COUNTS, RECORD_COUNTS_MAX }, 0 } };
	_Alignas(uint64_t) unsigned char out[RECORD_MAX_BYTES];
	struct cursor cursor;

	(void)state;
	for (unsigned i = 0; i < RECORD_COUNTS_MAX; i++)
		record.counts[i] = (struct record_count){ (uint64_t)i << COUNT_EVENT_SHIFT | i,
							  UINT64_MAX - i };
	assert_int_equal(record_check(&record.head.head, sizeof(record)), 0);
	add(&record);
	cursor = start();
	expect_same(&cursor, &record);
	/* A length that is not that of its counts. */
	packed[1]--;
	cursor = start();
	assert_int_equal(unpack(&packer, &cursor, out), -EPROTO);
}

static void calls_come_out_as_they_went_in(void **state)
{
	struct call_with_values calls[7];
	struct cursor cursor;

	(void)state;
	for (unsigned i = 0; i < 7; i++) {
		calls[i] =
			make_call(i, i % 2 ? 3 : 3 + PACKER_REMEMBERED, 1000 + i * 7, 1003 + i * 9);
		for (unsigned value = 0; value < i; value++)
			calls[i].values[value] = value % 2 ? UINT64_MAX - i : i * 4096;
		add(&calls[i]);
	}
	cursor = start();
	for (unsigned i = 0; i < 7; i++)
		expect_same(&cursor, &calls[i]);
	assert_int_equal(unpack(&packer, &cursor, packed), 0);
}

static void times_may_be_anything(void **state)
{
	static const uint64_t times[] = { 0, UINT64_MAX, 5, 1ull << 63, 3 };
	struct call_with_values call;
	struct cursor cursor;

	(void)state;
	for (unsigned i = 0; i + 1 < ARRAY_SIZE(times); i++) {
		call = make_call(0, UINT32_MAX, times[i], times[i + 1]);
		add(&call);
	}
	cursor = start();
	for (unsigned i = 0; i + 1 < ARRAY_SIZE(times); i++) {
		call = make_call(0, UINT32_MAX, times[i], times[i + 1]);
		expect_same(&cursor, &call);
	}
}

static void stacks_and_texts_come_out_as_they_went_in(void **state)
{
	struct {
		struct record_stack head;
		uint64_t frames[RECORD_FRAMES_MAX];
	} stack = { { { sizeof(stack), RECORD_STACK, RECORD_FRAMES_MAX }, 0 }, { 0 } };
	struct {
		struct record_text head;
		char text[16];
	} text = { { { sizeof(text), RECORD_TEXT, 0 }, 11 }, "hello world" };
	struct cursor cursor;

	(void)state;
	for (unsigned i = 0; i < RECORD_FRAMES_MAX; i++)
		stack.frames[i] = 0x400000 + i * 1717;
	add(&stack);
	add(&text);
	add(&stack);
	assert_true(packed_size < 64 * 5 + 64 * 2 + 24); /* the second stack costs a byte a frame */
	cursor = start();
	expect_same(&cursor, &stack);
	expect_same(&cursor, &text);
	expect_same(&cursor, &stack);
}

static void names_come_out_as_they_went_in(void **state)
{
	struct {
		struct record_name head;
		char text[8];
	} name = { { { sizeof(name), RECORD_NAME, 3 }, 8, NAME_DEVICE, UINT64_MAX }, "gfx906:x" };
	struct cursor cursor;

	(void)state;
	add(&name);
	cursor = start();
	expect_same(&cursor, &name);
}

static void a_call_like_the_last_one_is_small(void **state)
{
	struct call_with_values call = make_call(2, 5, 1000000, 1000040);
	size_t first;

	(void)state;
	call.values[0] = 4096;
	call.values[1] = 0xffff12345678;
	add(&call);
	first = packed_size;
	call.call.begin += 100;
	call.call.end += 100;
	add(&call);
	assert_true(packed_size - first <= 8);
}

static void what_is_cut_or_wrong_is_refused(void **state)
{
	_Alignas(uint64_t) unsigned char record[RECORD_MAX_BYTES];
	struct call_with_values call = make_call(3, 5, 1000000, 1000040);
	struct cursor cursor;
	size_t whole;

	(void)state;
	add(&call);
	whole = packed_size;
	for (packed_size = 1; packed_size < whole; packed_size++) {
		cursor = start();
		assert_int_equal(unpack(&packer, &cursor, record), -EPROTO);
		assert_int_equal(unpack(&packer, &cursor, record), -EPROTO);
	}
	for (unsigned kind = 0; kind < 256; kind++) {
		if (kind == RECORD_TEXT || kind == RECORD_NAME || kind >= RECORD_STACK_NUMBER)
			continue; /* they count nothing */
		packed[0] = (unsigned char)kind;
		packed[1] = 200;
		cursor = start();
		assert_int_equal(unpack(&packer, &cursor, record), -EPROTO);
	}
}

/* What a newer limpet has put between two calls is passed over, and the second is whole. */
static void newer_kinds_are_passed_over(void **state)
{
	_Alignas(uint64_t) unsigned char record[RECORD_MAX_BYTES];
	struct call_with_values call = make_call(3, 5, 1000000, 1000040);
	static const unsigned char newer[] = { 77, 9, 5, 'n', 'e', 'w', 'e', 'r' };
	static const unsigned char name[] = { RECORD_NAME, 0, NAME_SPACES, 1, 2, 'a', 'b' };
	struct cursor cursor;
	size_t first;

	(void)state;
	add(&call);
	first = packed_size;
	memcpy(packed + packed_size, newer, sizeof(newer));
	packed_size += sizeof(newer);
	memcpy(packed + packed_size, name, sizeof(name));
	packed_size += sizeof(name);
	add(&call);
	cursor = start();
	assert_int_equal(unpack(&packer, &cursor, record), call.call.head.size);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(unpack(&packer, &cursor, record), RECORD_ALIGNMENT);
		assert_true(((struct record *)record)->kind >= RECORD_KINDS);
	}
	assert_int_equal(unpack(&packer, &cursor, record), call.call.head.size);
	assert_int_equal(unpack(&packer, &cursor, record), 0);
	/* One that says more than there is. */
	packed_size = first + 4;
	cursor = start();
	assert_int_equal(unpack(&packer, &cursor, record), call.call.head.size);
	assert_int_equal(unpack(&packer, &cursor, record), -EPROTO);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counts_come_out_as_they_went_in),
		TEST(calls_come_out_as_they_went_in),
		TEST(times_may_be_anything),
		TEST(stacks_and_texts_come_out_as_they_went_in),
		TEST(names_come_out_as_they_went_in),
		TEST(a_call_like_the_last_one_is_small),
		TEST(what_is_cut_or_wrong_is_refused),
		TEST(newer_kinds_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
