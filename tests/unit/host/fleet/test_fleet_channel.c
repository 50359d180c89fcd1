/*
 * The lines between node parts and home: whole, torn, lost, mixed, labelled; and requests.
 */
#include "unit.h"

#include "host/core/cleanup.h"
#include "host/fleet/channel/channel.h"
#include "host/fleet/message.h"
#include "host/fleet/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAID_MAX (64u << 10)

/* What a channel writes for these messages, of so many bytes each. */
static size_t said(char *ret, const size_t *sizes, size_t count)
{
	struct channel channel;
	struct bytes message = { 0 };
	int ends[2];
	ssize_t got;

	assert_int_equal(pipe(ends), 0);
	channel_init(&channel, ends[1]);
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < sizes[i]; k++)
			bytes_put(&message, &(unsigned char){ (unsigned char)(i * 31 + k) }, 1);
		channel_send(&channel, &message);
	}
	channel_end(&channel);
	close(ends[1]);
	got = read(ends[0], ret, SAID_MAX - 1);
	close(ends[0]);
	bytes_done(&message);
	assert_true(got > 0 && got < (ssize_t)SAID_MAX - 1);
	ret[got] = '\0';
	return (size_t)got;
}

struct heard {
	unsigned messages, ends, torn;
	size_t sizes[16];
	struct line_stream stream;
};

static void hear(struct heard *heard, struct text text)
{
	struct text rest = text, line;
	struct line read;
	bool is_torn;

	while (text_take_line(&rest, &line)) {
		if (!line_read(line, &read, &is_torn)) {
			heard->torn += is_torn;
			continue;
		}
		switch (line_stream_take(&heard->stream, &read)) {
		case STREAM_MESSAGE:
			heard->sizes[heard->messages++ % 16] = heard->stream.message.size;
			break;
		case STREAM_END:
			heard->ends++;
			break;
		case STREAM_NOTHING:
			break;
		}
	}
}

static const size_t three[] = { 0, 2000, 5 };

static void messages_come_whole_and_in_order(void **state)
{
	char text[SAID_MAX];
	struct heard heard = { 0 };

	(void)state;
	said(text, three, ARRAY_SIZE(three));
	hear(&heard, text_of(text));
	assert_int_equal(heard.messages, 3);
	assert_int_equal(heard.ends, 1);
	assert_memory_equal(heard.sizes, three, sizeof(three));
	assert_int_equal(heard.stream.lost + heard.stream.broken + heard.torn, 0);
	line_stream_done(&heard.stream);
}

static void lines_are_short_and_survive_labels(void **state)
{
	char text[SAID_MAX], labelled[1024];
	struct heard heard = { 0 };
	struct text rest, line;

	(void)state;
	said(text, three, ARRAY_SIZE(three));
	rest = text_of(text);
	while (text_take_line(&rest, &line)) {
		assert_true(line.end - line.at < (ptrdiff_t)LINE_SIZE_MAX);
		snprintf(labelled, sizeof(labelled), "  17: node limpet1 %.*s\r\n",
			 (int)(line.end - line.at), line.at);
		hear(&heard, text_of(labelled));
	}
	assert_int_equal(heard.messages, 3);
	assert_int_equal(heard.ends, 1);
	line_stream_done(&heard.stream);
}

/* Whichever line is changed, at whichever letter: its message is missing, and nothing else. */
static void a_torn_line_costs_its_message_alone(void **state)
{
	char text[SAID_MAX], torn[SAID_MAX];
	size_t size = said(text, three, ARRAY_SIZE(three));

	(void)state;
	for (size_t at = 0; at < size; at += 7) {
		struct heard heard = { 0 };

		memcpy(torn, text, size + 1);
		if (torn[at] == '\n')
			continue;
		torn[at] = torn[at] == 'x' ? 'y' : 'x';
		hear(&heard, text_of(torn));
		assert_true(heard.messages + heard.ends >= 3);
		for (unsigned i = 0; i < heard.messages; i++)
			assert_true(heard.sizes[i] == 0 || heard.sizes[i] == 2000 ||
				    heard.sizes[i] == 5);
		line_stream_done(&heard.stream);
	}
}

static void lost_and_late_lines_are_counted(void **state)
{
	char text[SAID_MAX];
	struct heard heard = { 0 };
	struct text rest, line, second;

	(void)state;
	said(text, three, ARRAY_SIZE(three));
	rest = text_of(text);
	text_take_line(&rest, &line);
	hear(&heard, line);
	text_take_line(&rest, &second); /* the first part of the second message */
	while (text_take_line(&rest, &line))
		hear(&heard, line);
	hear(&heard, second);
	assert_int_equal(heard.messages, 2);
	assert_int_equal(heard.stream.lost, 1);
	line_stream_done(&heard.stream);
}

static void a_request_comes_as_it_was(void **state)
{
	struct known_rank known[] = { { 3, 4711 }, { 4, 4712 } };
	struct rank_range range = { 0, 7 };
	struct node_request request = {
		.action = FLEET_DUMP,
		.node = "n1",
		.limit_ns = 17,
		.find = { .way = FIND_PIDS,
			  .family = FAMILY_DESCENDANTS,
			  .has_ranks = true,
			  .ranks = { &range, 1, 1 },
			  .name = "a b",
			  .variable = "",
			  .job = "12",
			  .step = "",
			  .key = "x:1",
			  .known = known,
			  .known_count = 2 },
		.dump = { .times = 3, .interval_ns = 5, .all_threads = true, .sampler = "read" },
	};
	CLEANUP(free) char *text = request_write(&request);
	struct node_request read = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_non_null(text);
	assert_int_equal(
		strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
		strlen(text));
	assert_int_equal(request_read(&read, text, &err), 0);
	assert_int_equal(read.action, FLEET_DUMP);
	assert_string_equal(read.node, "n1");
	assert_string_equal(read.find.name, "a b");
	assert_int_equal(read.find.known[1].pid, 4712);
	assert_true(rank_set_has(&read.find.ranks, 7) && !rank_set_has(&read.find.ranks, 8));
	assert_int_equal(read.dump.times, 3);
	assert_string_equal(read.dump.sampler, "read");
	request_done(&read);
	text[10] = text[10] == 'A' ? 'B' : 'A';
	assert_int_equal(request_read(&read, text, &err), -EPROTO);
	assert_int_equal(request_read(&read, "", &err), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_come_whole_and_in_order),
		cmocka_unit_test(lines_are_short_and_survive_labels),
		cmocka_unit_test(a_torn_line_costs_its_message_alone),
		cmocka_unit_test(lost_and_late_lines_are_counted),
		cmocka_unit_test(a_request_comes_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
