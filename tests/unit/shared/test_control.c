/*
 * Control messages: what each side believes of the bytes of the other.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "shared/wire/control.h"

/* Any message, as it comes from the socket. */
union message {
	struct control_header header;
	struct control_hello hello;
	struct control_load load;
	struct control_environ environ;
	struct control_step step;
	struct control_found found;
	struct control_detach detach;
	struct control_reply reply;
	char bytes[CONTROL_MAX_BYTES + 64];
};

static union message message;

/* A sound message of fixed size, with all its texts in place. */
static size_t make(enum control_kind kind)
{
	static const size_t sizes[] = {
		[CONTROL_HELLO] = sizeof(struct control_hello),
		[CONTROL_LOAD] = sizeof(struct control_load),
		[CONTROL_STEP] = sizeof(struct control_step),
		[CONTROL_TABLES] = sizeof(struct control_tables),
		[CONTROL_FOUND] = sizeof(struct control_found),
		[CONTROL_QUIET] = sizeof(struct control_quiet),
		[CONTROL_DETACH] = sizeof(struct control_detach),
		[CONTROL_REPLY] = sizeof(struct control_reply),
		[CONTROL_RINGS] = sizeof(struct control_rings),
		[CONTROL_ALIKE] = sizeof(struct control_alike),
		[CONTROL_NOTICE] = sizeof(struct control_notice),
		[CONTROL_COUNTERS] = sizeof(struct control_counters),
	};

	memset(&message, 0, sizeof(message));
	control_header_init(&message.header, kind, sizes[kind]);
	if (kind == CONTROL_LOAD)
		strcpy(message.load.path, "/lib/tool.so");
	if (kind == CONTROL_FOUND) {
		strcpy(message.found.name, "hip");
		message.found.part_count = 1;
	}
	return sizes[kind];
}

/* The pairs are given as they travel: name\0value\0. */
static size_t make_environ(const char *pairs, size_t bytes, uint32_t count)
{
	size_t size = sizeof(struct control_environ) + bytes;

	memset(&message, 0, sizeof(message));
	control_header_init(&message.header, CONTROL_ENVIRON, size);
	message.environ.count = count;
	message.environ.bytes = (uint32_t)bytes;
	memcpy(message.bytes + sizeof(struct control_environ), pairs, bytes);
	return size;
}

/* A literal with zeros in it; its own closing zero ends the last value. */
#define ENVIRON(pairs, count) make_environ(pairs, sizeof(pairs), count)

static const enum control_kind fixed[] = { CONTROL_HELLO,  CONTROL_LOAD,   CONTROL_STEP,
					   CONTROL_TABLES, CONTROL_FOUND,  CONTROL_QUIET,
					   CONTROL_DETACH, CONTROL_REPLY,  CONTROL_RINGS,
					   CONTROL_ALIKE,  CONTROL_NOTICE, CONTROL_COUNTERS };

static void refuses_steps_and_tools_that_are_not(void **state)
{
	size_t size = make(CONTROL_STEP);

	(void)state;
	message.step.tool = AGENT_TOOLS_MAX;
	assert_int_equal(control_check(&message, size), -EPROTO);
	message.step.tool = AGENT_TOOLS_MAX - 1;
	message.step.step = TOOL_STEPS;
	assert_int_equal(control_check(&message, size), -EPROTO);
	message.step.step = TOOL_STEPS - 1;
	assert_int_equal(control_check(&message, size), 0);
}

static void refuses_tables_without_parts_or_name(void **state)
{
	size_t size = make(CONTROL_FOUND);

	(void)state;
	message.found.part_count = 0;
	assert_int_equal(control_check(&message, size), -EPROTO);
	message.found.part_count = TABLE_PARTS_MAX + 1;
	assert_int_equal(control_check(&message, size), -EPROTO);
	size = make(CONTROL_FOUND);
	memset(message.found.name, 'x', sizeof(message.found.name));
	assert_int_equal(control_check(&message, size), -EPROTO);
}

static void takes_every_sound_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		size_t size = make(fixed[i]);

		assert_int_equal(control_check(&message, size), 0);
		assert_int_equal(message.header.kind, fixed[i]);
		assert_int_equal(message.header.size, size);
	}
	assert_int_equal(control_check(&message, ENVIRON("A\0one", 1)), 0);
	assert_int_equal(control_check(&message, make_environ("", 0, 0)), 0);
}

static void refuses_a_size_that_is_not_the_kinds_own(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		size_t whole = make(fixed[i]);

		for (size_t size = 0; size < whole + 9; size++) {
			message.header.size = (uint32_t)size;
			assert_int_equal(control_check(&message, size),
					 size == whole ? 0 : -EPROTO);
		}
	}
}

static void refuses_a_size_that_differs_from_what_came(void **state)
{
	size_t size = make(CONTROL_REPLY);

	(void)state;
	message.header.size = (uint32_t)size - 1;
	assert_int_equal(control_check(&message, size), -EPROTO);
	size = ENVIRON("A\0one", 1);
	assert_int_equal(control_check(&message, size - 1), -EPROTO);
	assert_int_equal(control_check(&message, size + 1), -EPROTO);
}

static void refuses_foreign_headers(void **state)
{
	size_t size = make(CONTROL_DETACH);

	(void)state;
	message.header.magic ^= 1;
	assert_int_equal(control_check(&message, size), -EPROTO);
	make(CONTROL_DETACH);
	message.header.version++;
	assert_int_equal(control_check(&message, size), -EPROTO);
	for (unsigned kind = 0; kind < 0x10000; kind++) {
		make(CONTROL_DETACH);
		message.header.kind = (uint16_t)kind;
		if (kind == CONTROL_DETACH)
			assert_int_equal(control_check(&message, size), 0);
		else
			assert_int_equal(control_check(&message, size), -EPROTO);
	}
}

static void refuses_texts_without_an_end(void **state)
{
	size_t size = make(CONTROL_HELLO);

	(void)state;
	memset(message.hello.holder_name, 'x', sizeof(message.hello.holder_name));
	assert_int_equal(control_check(&message, size), -EPROTO);
	message.hello.holder_name[sizeof(message.hello.holder_name) - 1] = 0;
	assert_int_equal(control_check(&message, size), 0);

	size = make(CONTROL_LOAD);
	memset(message.load.path, 'x', sizeof(message.load.path));
	assert_int_equal(control_check(&message, size), -EPROTO);
	message.load.path[TOOL_PATH_MAX - 1] = 0;
	assert_int_equal(control_check(&message, size), 0);

	size = make(CONTROL_REPLY);
	memset(message.reply.text, 'x', sizeof(message.reply.text));
	assert_int_equal(control_check(&message, size), -EPROTO);
	message.reply.text[CONTROL_TEXT_MAX - 1] = 0;
	assert_int_equal(control_check(&message, size), 0);
}

/* Whoever asks takes all that is not negative for success. */
static void refuses_replies_whose_code_is_none(void **state)
{
	static const int32_t sound[] = { 0, -1, -EPROTO, -4095 };
	static const int32_t hostile[] = { 1, EPROTO, INT32_MAX, -4096, INT32_MIN };
	size_t size = make(CONTROL_REPLY);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sound); i++) {
		message.reply.code = sound[i];
		assert_int_equal(control_check(&message, size), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		message.reply.code = hostile[i];
		assert_int_equal(control_check(&message, size), -EPROTO);
	}
}

static void refuses_a_tool_without_a_path(void **state)
{
	size_t size = make(CONTROL_LOAD);

	(void)state;
	message.load.path[0] = 0;
	assert_int_equal(control_check(&message, size), -EPROTO);
}

static void counts_the_pairs_of_an_environment(void **state)
{
	(void)state;
	assert_int_equal(control_check(&message, ENVIRON("A\0one\0B\0", 2)), 0);
	assert_int_equal(control_check(&message, ENVIRON("A\0one\0B\0", 1)), -EPROTO);
	assert_int_equal(control_check(&message, ENVIRON("A\0one\0B\0", 3)), -EPROTO);
	assert_int_equal(control_check(&message, ENVIRON("A\0one\0B\0", 0)), -EPROTO);
	assert_int_equal(control_check(&message, ENVIRON("A\0one", 0x80000001u)), -EPROTO);
	assert_int_equal(control_check(&message, ENVIRON("A", 1)), -EPROTO);
	assert_int_equal(control_check(&message, ENVIRON("A\0one\0B", 2)), -EPROTO);
}

static void refuses_an_environment_that_does_not_end(void **state)
{
	size_t size = make_environ("A\0one\0B\0two", 11, 2);

	(void)state;
	assert_int_equal(control_check(&message, size), -EPROTO);
	/* As many ends as there should be, but bytes behind the last. */
	assert_int_equal(control_check(&message, make_environ("A\0one\0x", 7, 1)), -EPROTO);
	size = ENVIRON("A\0one", 1);
	message.environ.bytes--;
	assert_int_equal(control_check(&message, size), -EPROTO);
	message.environ.bytes = UINT32_MAX;
	assert_int_equal(control_check(&message, size), -EPROTO);
}

static void refuses_more_than_the_largest_message(void **state)
{
	static char text[CONTROL_MAX_BYTES];
	size_t room = CONTROL_MAX_BYTES - sizeof(struct control_environ);

	(void)state;
	memset(text, 'x', sizeof(text));
	text[0] = text[room - 1] = 0;
	assert_int_equal(control_check(&message, make_environ(text, room, 1)), 0);
	text[room - 1] = 'x';
	text[room] = 0;
	assert_int_equal(control_check(&message, make_environ(text, room + 1, 1)), -EPROTO);
}

static void steps_through_pairs(void **state)
{
	const char *cursor = NULL, *name, *value;
	size_t size = ENVIRON("A\0one\0\0\0LAST\0=two=", 3);

	(void)state;
	assert_int_equal(control_check(&message, size), 0);
	assert_true(control_environ_next(&message.environ, &cursor, &name, &value));
	assert_string_equal(name, "A");
	assert_string_equal(value, "one");
	assert_true(control_environ_next(&message.environ, &cursor, &name, &value));
	assert_string_equal(name, "");
	assert_string_equal(value, "");
	assert_true(control_environ_next(&message.environ, &cursor, &name, &value));
	assert_string_equal(name, "LAST");
	assert_string_equal(value, "=two=");
	assert_false(control_environ_next(&message.environ, &cursor, &name, &value));

	cursor = NULL;
	make_environ("", 0, 0);
	assert_false(control_environ_next(&message.environ, &cursor, &name, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_every_sound_kind),
		cmocka_unit_test(refuses_steps_and_tools_that_are_not),
		cmocka_unit_test(refuses_tables_without_parts_or_name),
		cmocka_unit_test(refuses_a_size_that_is_not_the_kinds_own),
		cmocka_unit_test(refuses_a_size_that_differs_from_what_came),
		cmocka_unit_test(refuses_foreign_headers),
		cmocka_unit_test(refuses_texts_without_an_end),
		cmocka_unit_test(refuses_replies_whose_code_is_none),
		cmocka_unit_test(refuses_a_tool_without_a_path),
		cmocka_unit_test(counts_the_pairs_of_an_environment),
		cmocka_unit_test(refuses_an_environment_that_does_not_end),
		cmocka_unit_test(refuses_more_than_the_largest_message),
		cmocka_unit_test(steps_through_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
