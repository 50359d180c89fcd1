/*
 * Recordings of ranks: what they are called, what a fleet.json says, and how times are spread.
 */
#include "unit.h"

#include "host/core/text/json_reader.h"
#include "host/fleet/folder/fleet_folder.h"
#include "host/fleet/folder/received.h"
#include "host/fleet/node/rank_recorder.h"
#include "host/fleet/rank.h"
#include "host/fleet/report/spreads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void names_of_nodes_lead_nowhere(void **state)
{
	char name[RECORDING_NAME_MAX], longest[400];

	(void)state;
	assert_string_equal(recording_name(5, "n2.site", 4711, name),
			    "rank-00005-n2.site-4711.limpet");
	assert_string_equal(recording_name(RANK_NONE, "../../etc", 1, name), "-.-..-etc-1.limpet");
	assert_string_equal(recording_name(RANK_NONE, "", 1, name), "node-1.limpet");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	recording_name(RANK_MAX, longest, INT32_MAX, name);
	assert_string_equal(name + strlen(name) - 18, "-2147483647.limpet");
}

static void values_are_read_one_by_one(void **state)
{
	static const char text[] =
		" {\"a\" : [1, 2 ,{\"x\":null}], \"b\":\"\\u00e9\\n\\\"\",\"c\":true,"
		"\"d\":18446744073709551615} ";
	struct json_reader reader = json_reader_of(text, strlen(text));
	char key[8], value[8];

	(void)state;
	assert_true(json_read_object(&reader));
	assert_true(json_read_member(&reader, key, sizeof(key)));
	json_read_past(&reader);
	assert_true(json_read_member(&reader, key, sizeof(key)));
	json_read_text(&reader, value, sizeof(value));
	assert_string_equal(value, "\xc3\xa9\n\"");
	assert_true(json_read_member(&reader, key, sizeof(key)));
	assert_true(json_read_bool(&reader));
	assert_true(json_read_member(&reader, key, sizeof(key)));
	assert_true(json_read_number(&reader) == UINT64_MAX);
	assert_false(json_read_member(&reader, key, sizeof(key)));
	assert_true(json_read_whole(&reader));
}

static void what_is_no_json_fails(void **state)
{
	static const char *const wrong[] = { "",
					     "{",
					     "{\"a\"}",
					     "{\"a\":1,}",
					     "[1 2]",
					     "\"a",
					     "\"\\x\"",
					     "\"\\u12\"",
					     "nul",
					     "{\"a\":[}",
					     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct json_reader reader = json_reader_of(wrong[i], strlen(wrong[i]));

		json_read_past(&reader);
		assert_false(json_read_whole(&reader));
	}
}

/* A fleet of two ranks, one of which has its recording. */
static void fleet_make(struct fleet *ret)
{
	*ret = (struct fleet){ .title = strdup("job") };
	assert_int_equal(fleet_add_node(ret, "n\"1"), 0);
	ret->nodes[0].phase = NODE_ENDED;
	ret->nodes[0].clock_error_ns = 1234;
	assert_int_equal(fleet_expect_rank(ret, 0, 7, 42), 0);
	assert_int_equal(fleet_expect_rank(ret, NODE_NONE, 9, 0), 0);
	assert_int_equal(fleet_set_state(ret, &ret->ranks[0], RANK_DONE, ""), 0);
	assert_int_equal(fleet_set_state(ret, &ret->ranks[1], RANK_NO_ANSWER, "gone"), 0);
}

static void folder_name(char ret[64])
{
	snprintf(ret, 64, "/tmp/limpet-unit-XXXXXX");
	assert_non_null(mkdtemp(ret));
}

static void file_remove(const char *folder, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
}

static void a_folder_reads_as_it_was_written(void **state)
{
	struct fleet_folder folder = { 0 };
	struct fleet fleet, read = { 0 };
	struct err err = { 0 };
	bool is_plain = true;
	char path[64];

	(void)state;
	folder_name(path);
	fleet_make(&fleet);
	assert_int_equal(fleet_folder_make(&folder, path, "1.0", "-d 1", &err), 0);
	assert_int_equal(fleet_folder_write(&folder, &fleet, true, &err), 0);
	assert_int_equal(fleet_folder_read(path, &read, &is_plain, &err), 0);
	assert_false(is_plain);
	assert_string_equal(read.title, "job");
	assert_string_equal(read.nodes[0].name, "n\"1");
	assert_int_equal(read.nodes[0].clock_error_ns, 1234);
	assert_int_equal(read.rank_count, 2);
	assert_int_equal(read.ranks[0].number, 7);
	assert_int_equal(read.ranks[0].node, 0);
	assert_int_equal(read.ranks[1].state, RANK_NO_ANSWER);
	assert_string_equal(read.ranks[1].reason, "gone");
	/* Nobody else's recordings are mixed with these. */
	fleet_folder_done(&folder);
	assert_int_equal(fleet_folder_make(&folder, path, "1.0", "", &err), -EEXIST);
	fleet_done(&fleet);
	fleet_done(&read);
	file_remove(path, "fleet.json");
	rmdir(path);
}

static void one_recording_is_one_ranks(void **state)
{
	static const char text[] =
		"{\"fleet\":1,\"ranks\":[{\"rank\":0,\"state\":\"done\",\"recording\":\"a.limpet\"},"
		"{\"rank\":1,\"state\":\"done\",\"recording\":\"b.limpet\"},"
		"{\"rank\":2,\"state\":\"done\",\"recording\":\"a.limpet\"}]}";
	struct fleet read = { 0 };

	(void)state;
	assert_int_equal(fleet_json_read(text, strlen(text), &read), 0);
	assert_string_equal(read.ranks[0].recording, "a.limpet");
	assert_int_equal(read.ranks[1].state, RANK_DONE);
	assert_string_equal(read.ranks[2].recording, "");
	assert_int_equal(read.ranks[2].state, RANK_CUT);
	fleet_done(&read);
}

/* It could exchange what is written there. */
static void a_folder_of_another_user_is_refused(void **state)
{
	struct fleet_folder folder = { 0 };
	struct err err = { 0 };
	char path[64];

	(void)state;
	if (geteuid())
		skip();
	folder_name(path);
	assert_return_code(chown(path, 65534, 65534), errno);
	assert_int_equal(fleet_folder_make(&folder, path, "1.0", "", &err), -EPERM);
	assert_int_equal(err.exit, EXIT_USAGE);
	assert_int_equal(rmdir(path), 0);
}

/* As one that hangs in the kernel: it was killed, and is never waited for. */
static void a_recorder_that_cannot_be_ended_is_left(void **state)
{
	struct rank_recorder recorder = {
		.pid = 1, .input = -1, .output = -1, .errors = -1, .file = -1, .killed_ns = 1
	};
	char reason[128];

	(void)state;
	assert_false(rank_recorder_has_ended(&recorder));
	assert_false(rank_recorder_is_stuck(&recorder, UINT64_MAX));
	assert_true(rank_recorder_is_stuck(&recorder, 1000));
	assert_int_equal(rank_recorder_judge(&recorder, reason, sizeof(reason)), RANK_NO_ANSWER);
	assert_non_null(strstr(reason, "hangs in the kernel"));
	recorder.pid = 0;
	assert_false(rank_recorder_is_stuck(&recorder, 1000));
}

static int piece_tell(struct received *received, const struct fleet *fleet, uint64_t offset,
		      const char *text)
{
	struct bytes bytes = { 0 };
	struct cursor cursor;
	int r;

	piece_put(&bytes,
		  &(struct piece_message){ 42, offset, (const unsigned char *)text, strlen(text) });
	cursor = (struct cursor){ bytes.data, bytes.data + bytes.size, false };
	r = received_take(received, fleet, 0, message_kind(&cursor), &cursor);
	bytes_done(&bytes);
	return r;
}

static void behind_a_lost_piece_nothing_is_kept(void **state)
{
	struct fleet_folder folder = { 0 };
	struct received received = { .folder = &folder };
	struct fleet fleet;
	struct err err = { 0 };
	char path[64];

	(void)state;
	folder_name(path);
	fleet_make(&fleet);
	assert_int_equal(fleet_folder_make(&folder, path, "1.0", "", &err), 0);
	assert_int_equal(piece_tell(&received, &fleet, 0, "abc"), 0);
	assert_int_equal(piece_tell(&received, &fleet, 3, "de"), 0);
	assert_int_equal(piece_tell(&received, &fleet, 9, "later"), 0);
	assert_int_equal(piece_tell(&received, &fleet, 5, "late"), 0);
	assert_int_equal(received.bytes, 5);
	assert_int_equal(received_settle(&received, &fleet), 0);
	assert_string_equal(fleet.ranks[0].recording, "rank-00007-n-1-42.limpet");
	assert_int_equal(fleet.ranks[0].state, RANK_CUT);
	file_remove(path, fleet.ranks[0].recording);
	file_remove(path, "fleet.json");
	assert_int_equal(rmdir(path), 0);
	received_done(&received);
	fleet_folder_done(&folder);
	fleet_done(&fleet);
}

static void times_are_spread_over_ranks(void **state)
{
	struct spreads spreads = { 0 };

	(void)state;
	for (uint32_t rank = 0; rank < 4; rank++) {
		const struct spread_part all = {
			"compute", "a.out", rank, 100 + rank * 10, 200, 1
		};
		const struct spread_part one = { "stuck", "a.out", rank, 1000, 1000, 1 };

		assert_int_equal(spreads_add(&spreads, &all), 0);
		if (rank == 2)
			assert_int_equal(spreads_add(&spreads, &one), 0);
	}
	spreads_sort(&spreads);
	assert_int_equal(spreads.count, 2);
	assert_string_equal(pool_text(&spreads.texts, spreads.items[0].name), "stuck");
	assert_int_equal(spreads.items[0].ranks, 1);
	assert_int_equal(spread_mean(&spreads.items[0], 4), 250);
	assert_int_equal(imbalance_of(1000, 250), 30000);
	assert_int_equal(spreads.items[1].most_rank, 3);
	assert_int_equal(spreads.items[1].least_ns, 100);
	assert_int_equal(spreads.items[1].least_rank, 0);
	spreads_done(&spreads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_nodes_lead_nowhere),
		cmocka_unit_test(values_are_read_one_by_one),
		cmocka_unit_test(what_is_no_json_fails),
		cmocka_unit_test(a_folder_reads_as_it_was_written),
		cmocka_unit_test(one_recording_is_one_ranks),
		cmocka_unit_test(a_folder_of_another_user_is_refused),
		cmocka_unit_test(a_recorder_that_cannot_be_ended_is_left),
		cmocka_unit_test(behind_a_lost_piece_nothing_is_kept),
		cmocka_unit_test(times_are_spread_over_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
