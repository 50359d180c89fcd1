/*
 * Stacks of many nodes in one tree, classes of ranks, what moved, and who is missing.
 */
#include "unit.h"

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/fleet/merge/class_tree.h"
#include "host/fleet/node/frame_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One node with its own numbers of functions. */
struct told {
	struct frame_list frames;
	struct fleet_dump *dump;
	struct fleet *fleet;
	uint32_t node;
};

static void deliver(struct told *told, struct bytes *message)
{
	struct cursor cursor = { message->data, message->data + message->size, false };
	uint32_t kind = message_kind(&cursor);

	assert_int_not_equal(kind, 0);
	assert_int_equal(fleet_dump_take(told->dump, told->node, kind, &cursor), 0);
}

static void tell_rank(struct told *told, uint32_t pid, uint32_t rank, uint32_t size)
{
	const struct rank_message message = { .pid = pid,
					      .process = pid,
					      .rank = rank,
					      .size = size,
					      .variable = "RANK",
					      .program = "app",
					      .command = "",
					      .user = "",
					      .through = "",
					      .process_state = 'S',
					      .sampler = "",
					      .sampler_reasons = "",
					      .refusal = "" };

	assert_int_equal(fleet_take_rank(told->fleet, told->node, &message), 0);
}

/* A thread in the innermost call of a stack that was told. */
static void tell_leaf(struct told *told, uint32_t pid, uint32_t round, uint32_t leaf,
		      uint64_t turns)
{
	struct bytes stacks = { 0 };
	struct stacks_thread thread = { .tid = pid,
					.flags = THREAD_IS_MAIN | THREAD_HAS_STACK,
					.state = 'S',
					.leaf = leaf,
					.turns = turns,
					.name = "app",
					.call = "futex",
					.object = "" };

	stacks_put(&stacks,
		   &(struct stacks_message){
			   .pid = pid, .process = pid, .round = round, .thread_count = 1 });
	stacks_put_thread(&stacks, &thread);
	deliver(told, &stacks);
	bytes_done(&stacks);
}

/* "wait", "wait:31", of a library: "wait@libmpi.so". */
static void call_add(struct told *told, const char *text, uint32_t *leaf)
{
	char function[64], module[64] = "app";
	struct frame_call call = { .function = function, .module = module, .file = "" };

	if (sscanf(text, "%63[^:@]:%u", function, &call.line) == 2)
		call.file = "app.c";
	if (sscanf(text, "%*[^@]@%63s", module) == 1)
		call.kind = FRAME_LIBRARY;
	assert_int_equal(frame_list_find(&told->frames, *leaf, &call, leaf), 0);
}

/* A stack, outermost first, as "main>loop:12>wait". */
static void tell_stack(struct told *told, uint32_t pid, uint32_t round, const char *calls,
		       uint64_t turns)
{
	struct bytes frames = { 0 };
	char *copy = strdup(calls), *rest = copy, *name;
	uint32_t leaf = FRAME_ROOT;

	while ((name = strsep(&rest, ">")))
		call_add(told, name, &leaf);
	if (frame_list_put(&told->frames, &frames))
		deliver(told, &frames);
	tell_leaf(told, pid, round, leaf, turns);
	bytes_done(&frames);
	free(copy);
}

static void tell_state(struct told *told, uint32_t pid, enum rank_state state)
{
	assert_int_equal(fleet_take_state(told->fleet, told->node,
					  &(struct state_message){ pid, state, "" }),
			 0);
}

static struct told node_of(struct fleet *fleet, struct fleet_dump *dump, const char *name)
{
	struct told told = { .dump = dump, .fleet = fleet, .node = fleet_add_node(fleet, name) };

	fleet->nodes[told.node].phase = NODE_ENDED;
	return told;
}

static uint32_t child_called(const struct class_tree *tree, uint32_t first, const char *name)
{
	for (; first != PATH_NONE; first = tree->calls.nodes[first].next)
		if (!strcmp(call_path_function(tree->paths, first), name))
			return first;
	fail_msg("no %s", name);
	return PATH_NONE;
}

static const char *ranks_at(const struct class_tree *tree, uint32_t node, char ret[64])
{
	return rank_set_describe(&tree->nodes[node].ranks, ret, 64);
}

static void ranks_of_two_nodes_fall_into_classes(void **state)
{
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	CLEANUP(fleet_dump_done) struct fleet_dump dump = { 0 };
	CLEANUP(class_tree_done) struct class_tree tree = { 0 };
	struct told one, other;
	uint32_t at;
	char text[64];

	(void)state;
	one = node_of(&fleet, &dump, "n1");
	other = node_of(&fleet, &dump, "n2");
	for (uint32_t i = 0; i < 8; i++) {
		struct told *told = i < 4 ? &one : &other;

		tell_rank(told, 100 + i, i, 8);
		tell_stack(told, 100 + i, 0,
			   i == 5 ? "start>main>stuck_on_lock>pause" : "start>main>reduce>wait", 1);
		tell_state(told, 100 + i, RANK_DONE);
	}
	assert_int_equal(fleet_settle(&fleet, NULL), 0);
	assert_int_equal(fleet_dump_settle(&dump, &fleet), 0);
	assert_int_equal(class_tree_build(&tree, &dump, 0, CLASS_MAIN), 0);
	at = child_called(&tree, class_tree_first(&tree), "start");
	assert_string_equal(ranks_at(&tree, at, text), "0-7");
	assert_string_equal(call_path_function(tree.paths, class_tree_chain(&tree, at)), "main");
	at = tree.calls.nodes[class_tree_chain(&tree, at)].first;
	assert_string_equal(call_path_function(tree.paths, at),
			    "reduce"); /* the larger one first */
	assert_string_equal(ranks_at(&tree, at, text), "0-4,6-7");
	at = child_called(&tree, at, "stuck_on_lock");
	assert_string_equal(ranks_at(&tree, at, text), "5");
	assert_int_equal(tree.nodes[class_tree_chain(&tree, at)].ends, 1);
	frame_list_done(&one.frames);
	frame_list_done(&other.frames);
}

static void ranks_at_different_lines_are_in_different_classes(void **state)
{
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	CLEANUP(fleet_dump_done) struct fleet_dump dump = { 0 };
	CLEANUP(class_tree_done) struct class_tree tree = { 0 };
	struct told told = node_of(&fleet, &dump, "n1");
	const struct class_node *node;
	uint32_t at;
	char text[64];

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		tell_rank(&told, 100 + i, i, 4);
		tell_stack(&told, 100 + i, 0, i == 2 ? "main>step:12>wait" : "main>step:9>wait", 1);
		tell_state(&told, 100 + i, RANK_DONE);
	}
	assert_int_equal(fleet_settle(&fleet, NULL), 0);
	assert_int_equal(fleet_dump_settle(&dump, &fleet), 0);
	assert_int_equal(class_tree_build(&tree, &dump, 0, CLASS_MAIN), 0);
	at = tree.calls.nodes[class_tree_first(&tree)].first;
	assert_string_equal(ranks_at(&tree, at, text), "0-1,3");
	assert_int_equal(call_path_frame(tree.paths, at)->line, 9);
	at = tree.calls.nodes[at].next;
	assert_string_equal(ranks_at(&tree, at, text), "2");
	assert_int_equal(call_path_frame(tree.paths, at)->line, 12);
	assert_string_equal(call_path_file(tree.paths, at), "app.c");
	node = &tree.nodes[class_tree_chain(&tree, at)];
	assert_int_equal(node->ends, 1);
	assert_int_equal(tree.ends[node->first_end]->process, 102);
	frame_list_done(&told.frames);
}

static void what_moved_is_told_from_what_did_not(void **state)
{
	static const char *const stacks[][3] = {
		{ "main:5>wait:7", "main:5>wait:7", "main:5>wait:7" },
		{ "main:5>wait:7", "main:5>wait:7", "main:5>wait:7" }, /* ran meanwhile */
		{ "main:5>wait:7", "main:6>wait:7", "main:5>wait:7" }, /* another call site */
		{ "main:5>wait:7", "main:5>wait:7", NULL },            /* was not seen again */
		/* A library does one thing and the other, below one call of the program. */
		{ "main:5>all@mpi.so", "main:5>all@mpi.so>poll@mpi.so", "main:5>b@mpi.so" },
		{ "main:5>spin", "main:5>spin:9>now@libc.so", "main:5>spin" },
	};
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	CLEANUP(fleet_dump_done) struct fleet_dump dump = { 0 };
	struct told told = node_of(&fleet, &dump, "n1");
	static const enum motion wanted[] = { MOTION_WAITED,  MOTION_WOKE, MOTION_MOVED,
					      MOTION_UNKNOWN, MOTION_WOKE, MOTION_WOKE };
	struct motions motions;

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		tell_rank(&told, 10 + i, i, ARRAY_SIZE(wanted));
		for (uint32_t round = 0; round < 3; round++)
			if (stacks[i][round])
				tell_stack(&told, 10 + i, round, stacks[i][round],
					   wanted[i] == MOTION_WOKE ? round : 7);
		tell_state(&told, 10 + i, RANK_DONE);
	}
	assert_int_equal(fleet_settle(&fleet, NULL), 0);
	assert_int_equal(fleet_dump_settle(&dump, &fleet), 0);
	assert_int_equal(motions_find(&motions, &dump), 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_true(rank_set_has(&motions.ranks[wanted[i]], i));
	motions_done(&motions);
	frame_list_done(&told.frames);
}

static void a_lost_message_costs_the_stacks_that_need_it(void **state)
{
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	CLEANUP(fleet_dump_done) struct fleet_dump dump = { 0 };
	struct told told = node_of(&fleet, &dump, "n1");
	struct bytes lost = { 0 };
	uint32_t node;

	(void)state;
	tell_rank(&told, 1, 0, 2);
	tell_rank(&told, 2, 1, 2);
	tell_stack(&told, 1, 0, "main>wait", 1);
	node = FRAME_ROOT;
	call_add(&told, "gone", &node);
	assert_true(frame_list_put(&told.frames, &lost)); /* and never comes */
	tell_stack(&told, 2, 0, "gone>inner", 1);
	assert_int_equal(fleet_settle(&fleet, NULL), 0);
	assert_int_equal(fleet_dump_settle(&dump, &fleet), 0);
	assert_int_equal(dump.count, 2);
	assert_int_not_equal(dump.threads[0].path, PATH_NONE);
	assert_int_equal(dump.threads[1].path, PATH_NONE);
	bytes_done(&lost);
	frame_list_done(&told.frames);
}

static void each_rank_ends_in_a_state(void **state)
{
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	CLEANUP(rank_set_done) struct rank_set silent = { 0 };
	struct fleet_dump dump = { 0 };
	struct told one = node_of(&fleet, &dump, "n1"), other = node_of(&fleet, &dump, "n2");
	struct err err = { 0 };
	char text[64];

	(void)state;
	assert_int_equal(text_set(&fleet.title, "job"), 0);
	fleet.nodes[other.node].phase = NODE_SILENT;
	tell_rank(&one, 1, 0, 6);
	tell_state(&one, 1, RANK_DONE);
	tell_rank(&one, 2, 1, 6); /* its state was lost on the way */
	tell_rank(&one, 3, 2, 6);
	tell_state(&one, 3, RANK_REFUSED);
	assert_int_equal(fleet_settle(&fleet, NULL), 0);
	assert_int_equal(fleet.rank_count, 6);
	assert_int_equal(fleet_count(&fleet, RANK_DONE), 1);
	assert_int_equal(fleet_count(&fleet, RANK_CUT), 1);
	assert_int_equal(fleet_count(&fleet, RANK_REFUSED), 1);
	assert_int_equal(fleet_ranks_in(&fleet, RANK_NO_ANSWER, &silent), 0);
	assert_string_equal(rank_set_describe(&silent, text, sizeof(text)), "3-5");
	assert_non_null(strstr(fleet.ranks[4].reason, "n2"));
	assert_true(fleet_judge(&fleet, &err) < 0);
	assert_int_equal(err.exit, EXIT_PARTLY);
}

static void ranks_without_numbers_get_them_by_node_and_process(void **state)
{
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	struct fleet_dump dump = { 0 };
	struct told one = node_of(&fleet, &dump, "n1"), other = node_of(&fleet, &dump, "n2");

	(void)state;
	tell_rank(&other, 5, RANK_NONE, 0);
	tell_rank(&one, 9, RANK_NONE, 0);
	tell_rank(&one, 7, 1, 0);
	tell_rank(&one, 8, RANK_NONE, 0);
	assert_int_equal(fleet_settle(&fleet, NULL), 0);
	assert_int_equal(fleet.rank_count, 4);
	assert_int_equal(fleet_find_rank(&fleet, one.node, 8)->number, 0);
	assert_int_equal(fleet_find_rank(&fleet, one.node, 7)->number, 1);
	assert_int_equal(fleet_find_rank(&fleet, one.node, 9)->number, 2);
	assert_int_equal(fleet_find_rank(&fleet, other.node, 5)->number, 3);
}

/* A node may tell of deep stacks, and of ranks whose numbers make no ranges: each call would have a
 * list of all of them. */
static void a_flood_of_classes_is_refused(void **state)
{
	enum { DEPTH = 4096, RANKS = 4200 };
	CLEANUP(fleet_done) struct fleet fleet = { 0 };
	CLEANUP(fleet_dump_done) struct fleet_dump dump = { 0 };
	CLEANUP(class_tree_done) struct class_tree tree = { 0 };
	struct told told;
	char calls[2 * DEPTH];

	(void)state;
	for (unsigned i = 0; i < sizeof(calls); i++)
		calls[i] = i % 2 ? '>' : 'f';
	calls[sizeof(calls) - 1] = '\0';
	told = node_of(&fleet, &dump, "n1");
	for (uint32_t i = 0; i < RANKS; i++) {
		tell_rank(&told, 100 + i, 2 * i, 2 * RANKS);
		if (i)
			tell_leaf(&told, 100 + i, 0, DEPTH - 1, 1);
		else
			tell_stack(&told, 100, 0, calls, 1);
	}
	assert_int_equal(fleet_settle(&fleet, NULL), 0);
	assert_int_equal(fleet_dump_settle(&dump, &fleet), 0);
	assert_int_equal(class_tree_build(&tree, &dump, 0, CLASS_MAIN), -E2BIG);
	frame_list_done(&told.frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_of_two_nodes_fall_into_classes),
		cmocka_unit_test(ranks_at_different_lines_are_in_different_classes),
		cmocka_unit_test(what_moved_is_told_from_what_did_not),
		cmocka_unit_test(a_lost_message_costs_the_stacks_that_need_it),
		cmocka_unit_test(each_rank_ends_in_a_state),
		cmocka_unit_test(ranks_without_numbers_get_them_by_node_and_process),
		cmocka_unit_test(a_flood_of_classes_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
