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
	assert_true(push_format_otlp.rejects(refused, sizeof(refused) - 1, why));
	assert_string_equal(why, "no");
	assert_false(push_format_otlp.rejects(warned, sizeof(warned) - 1, why));
	assert_false(push_format_otlp.rejects(refused, 0, why));
	/* Cut short, it says nothing, and is not read behind its end. */
	for (size_t size = 0; size < sizeof(refused) - 1; size++)
		assert_false(push_format_otlp.rejects(refused, size, why));
}

static int parsed(const char *text, bool is_end, struct push_answer *ret)
{
	return push_answer_parse(text, strlen(text), is_end, ret);
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
	assert_true(push_answer_is_passing(&answer));
	assert_memory_equal(answer.text, "no!", 3);
}

static void waits_for_the_rest_of_an_answer(void **state)
{
	static const char whole[] = "HTTP/1.1 400 Bad\r\nContent-Length: 4\r\n\r\nwhy?";
	struct push_answer answer;

	(void)state;
	for (size_t size = 0; size < sizeof(whole) - 1; size++)
		assert_int_equal(push_answer_parse(whole, size, false, &answer), -EAGAIN);
	assert_int_equal(parsed(whole, false, &answer), 0);
	assert_string_equal(answer.text, "why?");
	assert_false(push_answer_is_passing(&answer));
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
	assert_int_equal(push_answer_parse(long_head, sizeof(long_head), false, &answer), -EPROTO);
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
	sender_look(sender, &totals);
	assert_int_equal(totals.waiting.pushes, 2);
	assert_int_equal(totals.lost.pushes, 9);
	assert_int_equal(totals.lost.samples, 81);
	sender_finish(sender, 0, &totals);
	assert_int_equal(totals.waiting.pushes, 0);
	assert_int_equal(totals.lost.samples, 101);
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
		cmocka_unit_test(waits_for_the_rest_of_an_answer),
		cmocka_unit_test(refuses_what_is_no_answer),
		cmocka_unit_test(keeps_the_first_label_of_a_name),
		cmocka_unit_test(counts_what_has_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
