/*
 * What tools get of what a device counted: each expression on values whose results are known, and
 * what must not be shown at all.
 */
#include "unit.h"

#include <string.h>

#include "target/amd/sinks/sdk/counters/evaluate.h"
#include "target/amd/sinks/sdk/counters/extents.h"
#include "target/amd/sinks/sdk/counters/record_id.h"

#define XCC      1u
#define ENGINE   4u
#define INSTANCE 32u
#define NODES    8u

enum { HITS = 0, MISSES = 1, NOTHING = 2 };

const uint8_t dimension_ids[CATALOG_DIMENSIONS] = { 1, 2, 3, 5, 6, 7 };

/* One counter, and its nodes. */
static struct {
	struct catalog head;
	struct catalog_counter counter;
	struct catalog_node nodes[NODES];
	struct catalog_choice choice;
} made;
static struct counter_config config;
static struct counted_values counted;
static struct counter_record items[16];
static struct counter_records records;
static char memory[EVALUATION_BYTES];

const struct catalog_counter *counters_find(const struct catalog *catalog, uint64_t id)
{
	(void)catalog, (void)id;
	return &made.counter;
}

static uint64_t place_at(unsigned xcc, unsigned engine, unsigned instance)
{
	return place_of(DIMENSION_XCC, xcc) | place_of(DIMENSION_SHADER_ENGINE, engine) |
	       place_of(DIMENSION_INSTANCE, instance);
}

static void count(uint32_t event, uint64_t place, uint64_t value)
{
	counted.items[counted.count++] = (struct counted_value){ place, value, event };
}

/* Two XCCs with two engines each; misses are half of the hits. */
static int values_set(void **state)
{
	(void)state;
	memset(&made, 0, sizeof(made));
	made.head.lists[CATALOG_NODES].at = offsetof(__typeof__(made), nodes);
	made.head.lists[CATALOG_CHOICES].at = offsetof(__typeof__(made), choice);
	config = (struct counter_config){
		.catalog = &made.head, .agent = { 257 }, .counter_count = 1, .counters = { 9 }
	};
	counted.count = 0;
	for (unsigned i = 0; i < 4; i++) {
		count(HITS, place_at(i / 2, i % 2, 0), 10 * (i + 1));
		count(MISSES, place_at(i / 2, i % 2, 0), 5 * (i + 1));
	}
	records = (struct counter_records){ items, 0, sizeof(items) / sizeof(items[0]) };
	return 0;
}

static void node_add(struct catalog_node node)
{
	made.nodes[made.counter.count++] = node;
}

static bool evaluate(void)
{
	return counters_evaluate(&config, &counted, memory, &records);
}

static void check_values(const double *expected, size_t length)
{
	assert_true(evaluate());
	assert_int_equal(records.count, length);
	for (size_t i = 0; i < length; i++)
		assert_true(items[i].value == expected[i]);
}
#define CHECK(...)                                    \
	check_values((const double[]){ __VA_ARGS__ }, \
		     sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

static void an_event_has_a_record_for_each_place(void **state)
{
	(void)state;
	node_add((struct catalog_node){ .kind = CATALOG_EVENT, .what = HITS });
	CHECK(10, 20, 30, 40);
	assert_int_equal(items[3].id, record_id(9) | record_id_place(1, 1) | record_id_place(3, 1));
	assert_int_equal(items[3].agent.handle, 257);
}

static void reduce(unsigned what, unsigned dimensions)
{
	values_set(NULL);
	node_add((struct catalog_node){ .kind = CATALOG_EVENT, .what = HITS });
	node_add((struct catalog_node){
		.kind = CATALOG_REDUCE, .what = what, .dimensions = (uint16_t)dimensions });
}

static void many_places_become_one(void **state)
{
	(void)state;
	reduce(CATALOG_SUM, 0);
	CHECK(100);
	reduce(CATALOG_MAX, 0);
	CHECK(40);
	reduce(CATALOG_MIN, 0);
	CHECK(10);
	reduce(CATALOG_AVERAGE, 0);
	CHECK(25);
}

static void only_these_dimensions_are_reduced(void **state)
{
	(void)state;
	reduce(CATALOG_SUM, ENGINE);
	CHECK(30, 70);
	assert_int_equal(items[1].id, record_id(9) | record_id_place(1, 1));
	reduce(CATALOG_AVERAGE, XCC);
	CHECK(20, 30);
	reduce(CATALOG_SUM, INSTANCE);
	CHECK(10, 20, 30, 40);
}

static void a_selection_leaves_the_others_out(void **state)
{
	(void)state;
	node_add((struct catalog_node){ .kind = CATALOG_EVENT, .what = HITS });
	node_add((struct catalog_node){ .kind = CATALOG_SELECT, .dimensions = XCC });
	made.choice.numbers[0] = 2;
	CHECK(30, 40);
	assert_int_equal(items[1].id, record_id(9) | record_id_place(3, 1));
}

/* Ids of what is chosen of several numbers differ by them. */
static void a_selection_of_several_keeps_its_dimension(void **state)
{
	(void)state;
	node_add((struct catalog_node){ .kind = CATALOG_EVENT, .what = HITS });
	node_add((struct catalog_node){ .kind = CATALOG_SELECT, .dimensions = XCC });
	made.choice.numbers[0] = 3;
	CHECK(10, 20, 30, 40);
	assert_int_equal(items[2].id, record_id(9) | record_id_place(1, 1));
}

static void both(uint16_t kind)
{
	values_set(NULL);
	node_add((struct catalog_node){ .kind = CATALOG_EVENT, .what = HITS });
	node_add((struct catalog_node){ .kind = CATALOG_EVENT, .what = MISSES });
	node_add((struct catalog_node){ .kind = kind, .left = 0, .right = 1 });
}

static void sides_go_place_by_place(void **state)
{
	(void)state;
	both(CATALOG_ADD);
	CHECK(15, 30, 45, 60);
	both(CATALOG_SUBTRACT);
	CHECK(5, 10, 15, 20);
	both(CATALOG_MULTIPLY);
	CHECK(50, 200, 450, 800);
	both(CATALOG_DIVIDE);
	CHECK(2, 2, 2, 2);
}

/* aqlprofile visits them in any order. */
static void places_find_each_other(void **state)
{
	struct counted_value first;

	(void)state;
	both(CATALOG_DIVIDE);
	first = counted.items[1];
	counted.items[1] = counted.items[7];
	counted.items[7] = first;
	CHECK(2, 2, 2, 2);
}

/* As many, but elsewhere: AMD's refuses dimensions that differ. */
static void other_places_are_no_result(void **state)
{
	(void)state;
	both(CATALOG_ADD);
	for (unsigned i = 1; i < 8; i += 2)
		counted.items[i].place = place_at(0, 0, i);
	assert_false(evaluate());
}

/* AMD's exchanges the sides where the left one has fewer values. */
static void one_number_goes_with_each_and_sides_stay(void **state)
{
	(void)state;
	node_add((struct catalog_node){ .kind = CATALOG_NUMBER, .number = 100.5 });
	node_add((struct catalog_node){ .kind = CATALOG_EVENT, .what = HITS });
	node_add((struct catalog_node){ .kind = CATALOG_SUBTRACT, .left = 0, .right = 1 });
	CHECK(90.5, 80.5, 70.5, 60.5);
}

static void by_nothing_is_nothing(void **state)
{
	(void)state;
	node_add((struct catalog_node){ .kind = CATALOG_EVENT, .what = HITS });
	node_add((struct catalog_node){ .kind = CATALOG_NUMBER, .number = 0 });
	node_add((struct catalog_node){ .kind = CATALOG_DIVIDE, .left = 0, .right = 1 });
	CHECK(0, 0, 0, 0);
}

static void what_was_not_counted_is_no_zero(void **state)
{
	(void)state;
	node_add((struct catalog_node){ .kind = CATALOG_EVENT, .what = NOTHING });
	assert_false(evaluate());
	values_set(NULL);
	node_add((struct catalog_node){ .kind = CATALOG_EVENT, .what = HITS });
	node_add((struct catalog_node){ .kind = CATALOG_SELECT, .dimensions = XCC });
	assert_false(evaluate());
}

static void sides_of_other_lengths_are_no_result(void **state)
{
	(void)state;
	both(CATALOG_ADD);
	counted.count--;
	assert_false(evaluate());
}

static void what_has_no_room_is_not_shown_in_part(void **state)
{
	(void)state;
	node_add((struct catalog_node){ .kind = CATALOG_EVENT, .what = HITS });
	records.room = 3;
	assert_false(evaluate());
	values_set(NULL);
	node_add((struct catalog_node){ .kind = CATALOG_EVENT, .what = HITS });
	count(HITS, place_at(0, 0, 64), 1); /* ids have six bits for it */
	assert_false(evaluate());
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, values_set)
	const struct CMUnitTest tests[] = {
		TEST(an_event_has_a_record_for_each_place),
		TEST(many_places_become_one),
		TEST(only_these_dimensions_are_reduced),
		TEST(a_selection_leaves_the_others_out),
		TEST(a_selection_of_several_keeps_its_dimension),
		TEST(sides_go_place_by_place),
		TEST(places_find_each_other),
		TEST(other_places_are_no_result),
		TEST(one_number_goes_with_each_and_sides_stay),
		TEST(by_nothing_is_nothing),
		TEST(what_was_not_counted_is_no_zero),
		TEST(sides_of_other_lengths_are_no_result),
		TEST(what_has_no_room_is_not_shown_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
