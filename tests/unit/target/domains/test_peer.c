/*
 * The other end of a socket, in words.
 */
#include "unit.h"

#include "target/domains/cpu/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

static const char *describe(const void *address, size_t size)
{
	static char text[64];

	peer_describe(address, (uint32_t)size, text, sizeof(text));
	return text;
}

static void names_internet_addresses(void **state)
{
	struct sockaddr_in four = { AF_INET, htons(8080), { htonl(0x7f000001) }, { 0 } };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(80) };

	(void)state;
	inet_pton(AF_INET6, "2001:db8::10", &six.sin6_addr);
	assert_string_equal(describe(&four, sizeof(four)), "127.0.0.1:8080");
	assert_string_equal(describe(&six, sizeof(six)), "[2001:db8:0:0:0:0:0:10]:80");
}

static void names_sockets_of_this_machine(void **state)
{
	struct sockaddr_un named = { AF_UNIX, "/run/x" }, hidden = { AF_UNIX, "\0name" };

	(void)state;
	assert_string_equal(describe(&named, sizeof(named)), "unix:/run/x");
	assert_string_equal(describe(&hidden, 2 + 5), "unix:@name");
}

static void reads_no_further_than_it_may(void **state)
{
	struct sockaddr_in four = { AF_INET, htons(1), { 0 }, { 0 } };

	(void)state;
	assert_string_equal(describe(&four, 4), "");
	assert_string_equal(describe(&four, 1), "");
	assert_string_equal(describe(NULL, 16), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_internet_addresses),
		cmocka_unit_test(names_sockets_of_this_machine),
		cmocka_unit_test(reads_no_further_than_it_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
