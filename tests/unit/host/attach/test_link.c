/*
 * The host's end of the socket, with an agent that is played here.
 */
#include "unit.h"

#include "host/attach/link.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static void say_farewell(int agent)
{
	struct control_reply farewell = { .code = -ENOTCONN };

	control_header_init(&farewell.header, CONTROL_REPLY, sizeof(farewell));
	farewell.header.sequence = CONTROL_FAREWELL;
	assert_int_equal(send(agent, &farewell, sizeof(farewell), 0), sizeof(farewell));
}

/* Whoever asked may not have been the one to whom it matters. */
static void a_farewell_in_place_of_an_answer_is_not_forgotten(void **state)
{
	struct target target = { .pidfd = -1, .thread_fd = -1, .memory = -1 };
	struct link link = { .lock = -1 };
	struct control_detach order;
	struct control_reply reply;
	struct err err = { 0 };
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	link.socket = ends[0];
	assert_false(link_has_farewell(&link));
	say_farewell(ends[1]);
	control_header_init(&order.header, CONTROL_DETACH, sizeof(order));
	assert_int_equal(link_request(&link, &target, &order.header, -1, &reply, &err), -ENOTCONN);
	assert_true(link_has_farewell(&link));
	close(ends[1]);
	assert_int_equal(link_request(&link, &target, &order.header, -1, &reply, &err), -ENOTCONN);
	assert_true(link_has_farewell(&link));
	link_close(&link);
	assert_false(link.has_farewell);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_farewell_in_place_of_an_answer_is_not_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
