/*
 * Addresses, answers, labels, and what waits to be pushed.
 */
#include "unit.h"

#include "host/push/address.h"
#include "host/push/answer.h"
#include "host/push/labels.h"
#include "host/push/sender.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void reads_addresses(void **state)
{
	static const struct {
		const char *given, *url;
		bool is_direct;
	} cases[] = {
		{ "http://127.0.0.1:4040", "http://127.0.0.1:4040/push.v1.PusherService/Push",
		  true },
		{ "http://localhost/", "http://localhost/push.v1.PusherService/Push", true },
		{ "http://[::1]:4040/a//", "http://[::1]:4040/a/push.v1.PusherService/Push", true },
		{ "http://127.0.0.1/push.v1.PusherService/Push",
		  "http://127.0.0.1/push.v1.PusherService/Push", true },
		{ "http://store:4040", "http://store:4040/push.v1.PusherService/Push", false },
		{ "https://127.0.0.1", "https://127.0.0.1/push.v1.PusherService/Push", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct push_address address;
		struct err err = { 0 };

		assert_int_equal(
			push_address_parse(cases[i].given, &push_format_pyroscope, &address, &err),
			0);
		assert_string_equal(address.url, cases[i].url);
		assert_int_equal(address.is_direct, cases[i].is_direct);
	}
}

static void each_format_has_its_call(void **state)
{
	struct push_address address;
	struct err err = { 0 };

	(void)state;
	assert_ptr_equal(push_format_find("otlp-v1development", &err), &push_format_otlp);
	assert_null(push_format_find("otlp", &err));
	assert_int_equal(err.exit, EXIT_USAGE);
	assert_int_equal(
		push_address_parse("http://localhost:4318/a/", &push_format_otlp, &address, &err),
		0);
	assert_string_equal(address.url, "http://localhost:4318/a/v1development/profiles");
}

/* Of OpenTelemetry's answers: {partial_success {rejected_profiles 3, error_message "no"}}. */
static void answers_that_are_half_good_refuse(void **state)
{
	static const unsigned char refused[] = "\x0a\x06\x08\x03\x12\x02no";
	static const unsigned char warned[] = "\x0a\x04\x12\x02no";
	char why[REJECTION_MAX];

	(void)state;
	assert_int_equal(push_format_otlp.judge(refused, sizeof(refused) - 1, why), PUSH_REJECTED);
	assert_string_equal(why, "no");
	assert_int_equal(push_format_otlp.judge(warned, sizeof(warned) - 1, why), PUSH_TAKEN);
	assert_int_equal(push_format_otlp.judge(refused, 0, why), PUSH_TAKEN);
	/* Cut short, what is there counts, and it is not read behind its end. */
	for (size_t size = 1; size < sizeof(refused) - 1; size++)
		assert_int_equal(push_format_otlp.judge(refused, size, why),
				 size < 4 ? PUSH_UNCLEAR : PUSH_REJECTED);
	assert_int_equal(push_format_otlp.judge((const unsigned char *)"<html>", 6, why),
			 PUSH_UNCLEAR);
	/* Fields of later versions. */
	assert_int_equal(
		push_format_otlp.judge((const unsigned char *)"\x15\1\2\3\4\x18\1", 7, why),
		PUSH_TAKEN);
}

static void what_passes_is_known_of_each_format(void **state)
{
	(void)state;
	assert_true(push_format_pyroscope.is_passing(500));
	assert_true(push_format_otlp.is_passing(503));
	assert_true(push_format_otlp.is_passing(429));
	assert_false(push_format_otlp.is_passing(500));
	assert_false(push_format_otlp.is_passing(408));
	assert_false(push_format_otlp.is_passing(400));
}

/* A message longer than what is kept of the body: told in any order, it is no success. */
static void long_refusals_are_refusals(void **state)
{
	unsigned char first[ANSWER_BODY_MAX] = "\x0a\x83\x08\x08\x03\x12\xfe\x07";
	unsigned char last[ANSWER_BODY_MAX] = "\x0a\x83\x08\x12\xfe\x07";
	char why[REJECTION_MAX];

	(void)state;
	memset(first + 8, 'x', sizeof(first) - 8);
	memset(last + 6, 'x', sizeof(last) - 6);
	assert_int_equal(push_format_otlp.judge(first, sizeof(first), why), PUSH_REJECTED);
	assert_int_equal(strlen(why), REJECTION_MAX - 1);
	assert_int_equal(push_format_otlp.judge(last, sizeof(last), why), PUSH_UNCLEAR);
}

static int parsed(const char *text, bool is_end, struct push_answer *ret)
{
	return push_answer_parse(text, strlen(text), is_end, /* wants_body */ false, ret);
}

static void reads_answers(void **state)
{
	struct push_answer answer;

	(void)state;
	assert_int_equal(parsed("HTTP/1.1 200 OK\r\n\r\n", false, &answer), 0);
	assert_int_equal(answer.status, 200);
	assert_int_equal(parsed("HTTP/1.1 100 Continue\r\n\r\nHTTP/2 204\n\n", false, &answer), 0);
	assert_int_equal(answer.status, 204);
	assert_int_equal(
		parsed("HTTP/1.1 429 No\r\nretry-after: 7\r\nContent-Length: 3\r\n\r\nno!...",
		       false, &answer),
		0);
	assert_int_equal(answer.retry_after_s, 7);
	assert_memory_equal(answer.text, "no!", 3);
}

static void waits_for_the_rest_of_an_answer(void **state)
{
	static const char whole[] = "HTTP/1.1 400 Bad\r\nContent-Length: 4\r\n\r\nwhy?";
	struct push_answer answer;

	(void)state;
	for (size_t size = 0; size < sizeof(whole) - 1; size++)
		assert_int_equal(push_answer_parse(whole, size, false, false, &answer), -EAGAIN);
	assert_int_equal(parsed(whole, false, &answer), 0);
	assert_string_equal(answer.text, "why?");
}

/* What is behind the bytes that are kept may refuse: it is known that they are not all. */
static void bodies_that_are_not_kept_whole_are_cut(void **state)
{
	static const char *const heads[] = { "Content-Length: 513\r\n\r\n",
					     "Transfer-Encoding: chunked\r\n\r\n202\r\n", "\r\n",
					     "Content-Length: 512\r\n\r\n" };
	char body[ANSWER_BODY_MAX + 1] = "", text[1024];
	struct push_answer answer;

	(void)state;
	memset(body, 'x', ANSWER_BODY_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\n%s%s", heads[i], body);
		assert_int_equal(push_answer_parse(text, strlen(text), false, true, &answer), 0);
		assert_int_equal(answer.body_size, ANSWER_BODY_MAX);
		assert_int_equal(answer.is_cut, i < 3);
	}
}

/* Bodies that are judged are waited for, however they come. */
static void waits_for_bodies_that_are_wanted(void **state)
{
	static const char *const wholes[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwhy?",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		"1;x=y\r\nw\r\n03\r\nhy?\r\n0\r\n",
	};
	static const char endless[] = "HTTP/1.1 200 OK\r\n\r\nwhy?";
	static const char broken[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nwhy?\n";
	struct push_answer answer;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wholes); i++) {
		size_t size = strlen(wholes[i]);

		for (size_t part = 0; part < size - 1; part++)
			assert_int_equal(push_answer_parse(wholes[i], part, false, true, &answer),
					 -EAGAIN);
		assert_int_equal(push_answer_parse(wholes[i], size, false, true, &answer), 0);
		assert_int_equal(answer.body_size, 4);
		assert_memory_equal(answer.body, "why?", 4);
		assert_false(answer.is_cut);
		assert_int_equal(push_answer_parse(wholes[i], size - 4, true, true, &answer), 0);
		assert_true(answer.is_cut);
	}
	assert_int_equal(push_answer_parse(endless, sizeof(endless) - 1, false, true, &answer),
			 -EAGAIN);
	assert_int_equal(push_answer_parse(endless, sizeof(endless) - 1, true, true, &answer), 0);
	assert_int_equal(answer.body_size, 4);
	assert_int_equal(push_answer_parse(broken, sizeof(broken) - 1, true, true, &answer), 0);
	assert_int_equal(answer.body_size, 5);
}

static void refuses_what_is_no_answer(void **state)
{
	static const char *const wrong[] = { "", "220 mail\r\n\r\n", "HTTP/1.1\r\n\r\n",
					     "HTTP/1.1 99 x\r\n\r\n", "HTTP/1.1 700 x\r\n\r\n" };
	char long_head[ANSWER_HEAD_MAX + 1];
	struct push_answer answer;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(parsed(wrong[i], true, &answer), -EPROTO);
	memset(long_head, 'x', sizeof(long_head));
	assert_int_equal(push_answer_parse(long_head, sizeof(long_head), false, false, &answer),
			 -EPROTO);
}

static void keeps_the_first_label_of_a_name(void **state)
{
	struct push_labels labels = { 0 };
	struct err err = { 0 };

	(void)state;
	push_labels_add(&labels, "service_name", "given");
	push_labels_add(&labels, "service_name", "found");
	push_labels_add(&labels, "empty", "");
	assert_int_equal(push_labels_parse(&labels, "zone=a=b", &err), 0);
	assert_int_equal(labels.count, 2);
	assert_string_equal(labels.items[0].value, "given");
	assert_string_equal(labels.items[1].value, "a=b");
	assert_int_equal(push_labels_parse(&labels, "__name__=x", &err), -EINVAL);
	assert_int_equal(push_labels_parse(&labels, "a b=x", &err), -EINVAL);
}

static void body_put(struct sender *sender, size_t size, uint64_t samples)
{
	struct bytes body = { 0 };

	assert_non_null(bytes_reserve(&body, size));
	body.size = size;
	sender_put(sender, &body, samples);
	assert_null(body.data);
}

/* Nobody listens there: it is bound, and no more. */
static void counts_what_has_no_room(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct push_address to = { .format = &push_format_pyroscope,
				   .is_direct = true,
				   .socket_size = sizeof(address) };
	struct sender_options options = { .address = &to, .bytes_max = 1000 };
	struct sender_totals totals;
	struct sender *sender;
	struct err err = { 0 };

	(void)state;
	assert_return_code(bind(fd, (struct sockaddr *)&address, sizeof(address)), errno);
	assert_return_code(getsockname(fd, (struct sockaddr *)&address, &size), errno);
	memcpy(&to.socket, &address, sizeof(address));
	assert_int_equal(sender_open(&sender, &options, &err), 0);
	body_put(sender, 2000, 1);
	for (unsigned i = 0; i < 10; i++)
		body_put(sender, 400, 10);
	/* One that never has room costs only itself. */
	body_put(sender, 2000, 1);
	sender_query(sender, &totals);
	assert_int_equal(totals.waiting.pushes, 2);
	assert_int_equal(totals.lost.pushes, 10);
	assert_int_equal(totals.lost.samples, 82);
	sender_finish(sender, 0, &totals);
	assert_int_equal(totals.waiting.pushes, 0);
	assert_int_equal(totals.lost.samples, 102);
	assert_int_equal(totals.sent.pushes + totals.refused.pushes, 0);
	sender_free(sender);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_addresses),
		cmocka_unit_test(reads_answers),
		cmocka_unit_test(each_format_has_its_call),
		cmocka_unit_test(answers_that_are_half_good_refuse),
		cmocka_unit_test(what_passes_is_known_of_each_format),
		cmocka_unit_test(long_refusals_are_refusals),
		cmocka_unit_test(waits_for_bodies_that_are_wanted),
		cmocka_unit_test(bodies_that_are_not_kept_whole_are_cut),
		cmocka_unit_test(waits_for_the_rest_of_an_answer),
		cmocka_unit_test(refuses_what_is_no_answer),
		cmocka_unit_test(keeps_the_first_label_of_a_name),
		cmocka_unit_test(counts_what_has_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
