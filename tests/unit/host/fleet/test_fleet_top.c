/*
 * What nodes tell once a second, and what it comes to over all ranks.
 */
#include "unit.h"

#include "host/fleet/top/fleet_top.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000ull

/* Two nodes with two ranks each: 0 and 1, 2 and 3. */
static void fleet_fill(struct fleet *fleet)
{
	for (uint32_t node = 0; node < 2; node++) {
		assert_int_equal(fleet_add_node(fleet, node ? "n2" : "n1"), node);
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(
				fleet_expect_rank(fleet, node, 2 * node + i, (pid_t)(10 + i)), 0);
	}
}

/* One function in both ranks of a node, and another one in its second. */
static void message_fill(struct bytes *message, uint64_t window_ns, uint64_t first_ns,
			 uint64_t second_ns)
{
	top_message_put(message, &(struct top_message){ .window_ns = window_ns,
							.samples = 3,
							.hz = 49,
							.own_ns = 2 * MS,
							.own_for_ns = 1000 * MS,
							.sampler = "bpf",
							.rank_count = 2,
							.function_count = 2 });
	top_message_put_rank(message, &(struct top_rank){ 10, first_ns, 1, "work" });
	top_message_put_rank(message, &(struct top_rank){ 11, second_ns + MS, 2, "work" });
	top_message_put_function(message,
				 &(struct top_function){ "work", "prog", first_ns + second_ns,
							 first_ns + second_ns, 2, 2, second_ns,
							 first_ns, 11, 10 });
	top_message_put_function(
		message, &(struct top_function){ "alone", "prog", MS, MS, 1, 1, MS, MS, 11, 11 });
}

static int message_hand(struct fleet_top *top, uint32_t node, const struct bytes *message,
			size_t size)
{
	struct cursor cursor = { message->data, message->data + size, false };

	return fleet_top_take(top, node, message_kind(&cursor), &cursor);
}

static void functions_are_spread_over_the_ranks_of_all_nodes(void **state)
{
	struct fleet fleet = { 0 };
	struct fleet_top top = { 0 };
	struct top_view view;
	struct bytes message = { 0 };
	const struct spread *work;

	(void)state;
	fleet_fill(&fleet);
	message_fill(&message, 1000 * MS, 100 * MS, 300 * MS);
	assert_int_equal(message_hand(&top, 0, &message, message.size), 0);
	/* A window of two seconds: half as much in each. */
	message_fill(&message, 2000 * MS, 40 * MS, 1600 * MS);
	assert_int_equal(message_hand(&top, 1, &message, message.size), 0);
	assert_int_equal(top_view_make(&view, &top, &fleet), 0);
	assert_int_equal(view.rank_count, 4);
	assert_int_equal(view.heard_count, 2);
	assert_int_equal(view.window_ns, 2000 * MS);
	assert_int_equal(view.functions.count, 2);
	work = &view.functions.items[0];
	assert_string_equal(pool_text(&view.functions.texts, work->name), "work");
	assert_int_equal(work->ranks, 4);
	assert_int_equal(spread_mean(work, view.rank_count), (100 + 300 + 20 + 800) * MS / 4);
	assert_int_equal(work->most_ns, 800 * MS);
	assert_int_equal(fleet.ranks[work->most_rank].number, 3);
	assert_int_equal(work->least_ns, 20 * MS);
	assert_int_equal(fleet.ranks[work->least_rank].number, 2);
	assert_int_equal(view.functions.items[1].ranks, 2);
	assert_int_equal(fleet.ranks[view.ranks[0].rank].number, 3);
	top_view_done(&view);
	fleet_top_done(&top);
	fleet_done(&fleet);
	bytes_done(&message);
}

static void only_the_newest_of_a_node_counts(void **state)
{
	struct fleet fleet = { 0 };
	struct fleet_top top = { 0 };
	struct top_view view;
	struct bytes message = { 0 };

	(void)state;
	fleet_fill(&fleet);
	for (uint64_t i = 1; i <= 3; i++) {
		message_fill(&message, 1000 * MS, i * MS, i * MS);
		assert_int_equal(message_hand(&top, 0, &message, message.size), 0);
	}
	assert_int_equal(top_view_make(&view, &top, &fleet), 0);
	assert_int_equal(view.rank_count, 2);
	assert_int_equal(view.functions.items[0].sum_ns, 6 * MS);
	top_view_done(&view);
	/* A node that says no more is not shown for ever. */
	top.nodes[0].heard_ns = 1;
	assert_int_equal(top_view_make(&view, &top, &fleet), 0);
	assert_int_equal(view.rank_count + view.functions.count, 0);
	top_view_done(&view);
	fleet_top_done(&top);
	fleet_done(&fleet);
	bytes_done(&message);
}

static void what_makes_no_sense_is_left_out(void **state)
{
	struct fleet fleet = { 0 };
	struct fleet_top top = { 0 };
	struct top_view view;
	struct bytes message = { 0 };

	(void)state;
	fleet_fill(&fleet);
	message_fill(&message, 0, UINT64_MAX, UINT64_MAX);
	for (size_t size = 4; size < message.size; size++)
		assert_int_equal(message_hand(&top, 0, &message, size), 0);
	assert_int_equal(top.count, 0);
	/* Times that cannot be, of ranks that are not there. */
	assert_int_equal(message_hand(&top, 0, &message, message.size), 0);
	top_message_put(&message, &(struct top_message){ .sampler = "", .function_count = 1 });
	top_message_put_function(&message,
				 &(struct top_function){ "f", "m", 1, 1, 1, 1, 1, 1, 77, 78 });
	assert_int_equal(message_hand(&top, 1, &message, message.size), 0);
	assert_int_equal(top_view_make(&view, &top, &fleet), 0);
	assert_int_equal(view.rank_count, 2);
	assert_int_equal(view.functions.count, 2);
	assert_true(view.ranks[0].running_ns <= 1000000000000000u);
	top_view_done(&view);
	fleet_top_done(&top);
	fleet_done(&fleet);
	bytes_done(&message);
}

static void ranks_are_shown_once_however_often_they_are_named(void **state)
{
	struct fleet fleet = { 0 };
	struct fleet_top top = { 0 };
	struct top_view view;
	struct bytes message = { 0 };

	(void)state;
	fleet_fill(&fleet);
	top_message_put(&message, &(struct top_message){ .sampler = "", .rank_count = 4 });
	for (uint32_t i = 0; i < 4; i++)
		top_message_put_rank(&message, &(struct top_rank){ 10 + i % 2, i * MS, 1, "work" });
	assert_int_equal(message_hand(&top, 1, &message, message.size), 0);
	assert_int_equal(top_view_make(&view, &top, &fleet), 0);
	assert_int_equal(view.rank_count, 2);
	assert_int_not_equal(view.ranks[0].rank, view.ranks[1].rank);
	assert_false(view.is_heard[0]);
	assert_true(view.is_heard[1]);
	top_view_done(&view);
	fleet_top_done(&top);
	fleet_done(&fleet);
	bytes_done(&message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_spread_over_the_ranks_of_all_nodes),
		cmocka_unit_test(only_the_newest_of_a_node_counts),
		cmocka_unit_test(what_makes_no_sense_is_left_out),
		cmocka_unit_test(ranks_are_shown_once_however_often_they_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
