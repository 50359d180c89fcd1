/*
 * Heads of HTTP requests: what is read, and what is refused.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "host/ui/http/guard.h"
#include "host/ui/http/request.h"

static const char token[HTTP_TOKEN_SIZE] = { "0123456789abcdef0123456789abcdef" };

#define BEARER "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n"

static int status_of(const char *text)
{
	struct http_request request;

	return http_request_parse(text, strlen(text), &request);
}

static void reads_a_request(void **state)
{
	static const char text[] = "POST /api/sessions?a=b HTTP/1.1\r\nHost:  localhost:80 \r\n"
				   "Content-Length: 12\r\nconnection: close\r\n\r\n";
	struct http_request request;

	(void)state;
	assert_int_equal(http_request_parse(text, strlen(text), &request), 0);
	assert_int_equal(request.method, HTTP_POST);
	assert_true(http_text_is(request.path, "/api/sessions"));
	assert_true(http_text_is(request.query, "a=b"));
	assert_true(http_text_is(request.headers[HEADER_HOST], "localhost:80"));
	assert_int_equal(request.body_size, 12);
	assert_int_equal(request.head_size, strlen(text));
	assert_true(request.is_last);
}

static void waits_for_the_rest(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct http_request request;

	(void)state;
	for (size_t i = 0; i < strlen(text); i++)
		assert_int_equal(http_request_parse(text, i, &request), HTTP_INCOMPLETE);
}

static void refuses_what_could_be_read_in_two_ways(void **state)
{
	static const struct {
		int status;
		const char *text;
	} cases[] = {
		{ 400, "GET / HTTP/1.1\nHost: a\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\nHost: a\n\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\nHost : a\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\n: a\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n" },
		{ 400, "GET  / HTTP/1.1\r\n\r\n" },
		{ 400, "GET http://a/ HTTP/1.1\r\n\r\n" },
		{ 400, "GET /\t HTTP/1.1\r\n\r\n" },
		{ 400, "GET /<x> HTTP/1.1\r\n\r\n" },
		{ 400, "\r\nGET / HTTP/1.1\r\n\r\n" },
		{ 400, "POST / HTTP/1.1\r\nContent-Length: 1\t\r\n\r\n" },
		{ 400, "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n" },
		{ 400, "POST / HTTP/1.1\r\nContent-Length: 01\r\n\r\n" },
		{ 400, "POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n" },
		{ 400, "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n" },
		{ 400, "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n" },
		{ 400,
		  "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n" },
		{ 400, "POST / HTTP/1.1\r\ntransfer-encoding: identity\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n" },
		{ 400, "GET / HTTP/1.1\r\nConnection: keep-alive, x\r\n\r\n" },
		{ 405, "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n" },
		{ 411, "POST / HTTP/1.1\r\nHost: a\r\n\r\n" },
		{ 413, "POST / HTTP/1.1\r\nContent-Length: 65537\r\n\r\n" },
		{ 413, "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n" },
		{ 505, "GET / HTTP/1.0\r\n\r\n" },
		{ 505, "GET / HTTP/2.0\r\n\r\n" },
		{ 400, "GET / HTTQ/1.1\r\n\r\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(status_of(cases[i].text), cases[i].status);
	assert_int_equal(status_of("GET /\xff HTTP/1.1\r\n\r\n"), 400);
}

static void bounds_what_it_reads(void **state)
{
	char text[HTTP_HEAD_MAX + 64];
	struct http_request request;
	size_t used = (size_t)snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n");

	(void)state;
	memset(text + used, 'a', sizeof(text) - used);
	assert_int_equal(http_request_parse(text, sizeof(text), &request), 431);
	for (unsigned i = 0; i <= HTTP_HEADERS_MAX; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "a: b\r\n");
	used += (size_t)snprintf(text + used, sizeof(text) - used, "\r\n");
	assert_int_equal(http_request_parse(text, used, &request), 431);
}

static int guard_of(const char *text)
{
	struct http_request request;

	assert_int_equal(http_request_parse(text, strlen(text), &request), 0);
	return http_guard(&request, token);
}

#define GUARDED(path, headers) "GET " path " HTTP/1.1\r\n" headers "\r\n"

static void guards_by_host_origin_and_site(void **state)
{
	static const struct {
		int status;
		const char *text;
	} cases[] = {
		{ 0, GUARDED("/", "Host: 127.0.0.1:80\r\n") },
		{ 0, GUARDED("/", "Host: [::1]:8080\r\n") },
		{ 0, GUARDED("/", "Host: localhost\r\nOrigin: http://localhost\r\n") },
		{ 0, GUARDED("/", "Host: localhost\r\nSec-Fetch-Site: none\r\n") },
		{ 0, GUARDED("/", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"
				  "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n") },
		{ 403, GUARDED("/", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"
				    "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n") },
		{ 403, GUARDED("/api/about", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"
					     "Sec-Fetch-Mode: navigate\r\n"
					     "Sec-Fetch-Dest: document\r\n" BEARER) },
		{ 400, GUARDED("/", "") },
		{ 403, GUARDED("/", "Host: evil.example\r\n") },
		{ 403, GUARDED("/", "Host: 127.0.0.1.evil.example\r\n") },
		{ 403, GUARDED("/", "Host: 0.0.0.0:80\r\n") },
		{ 403, GUARDED("/", "Host: localhost:\r\n") },
		{ 403, GUARDED("/", "Host: localhost:123456\r\n") },
		{ 403, GUARDED("/", "Host: localhost@evil.example\r\n") },
		{ 403, GUARDED("/", "Host: localhost\r\nOrigin: null\r\n") },
		{ 403, GUARDED("/", "Host: localhost\r\nOrigin: http://localhost:81\r\n") },
		{ 403, GUARDED("/", "Host: localhost\r\nOrigin: https://localhost\r\n") },
		{ 403, GUARDED("/", "Host: localhost\r\nSec-Fetch-Site: same-site\r\n") },
		{ 0, GUARDED("/api/about", "Host: localhost\r\n" BEARER) },
		{ 401, GUARDED("/api/about", "Host: localhost\r\n") },
		{ 401, GUARDED("/api/about", "Host: localhost\r\nAuthorization: Bearer "
					     "0123456789abcdef0123456789abcdee\r\n") },
		{ 401, GUARDED("/api/about", "Host: localhost\r\nAuthorization: Basic "
					     "0123456789abcdef0123456789abcdef\r\n") },
		{ 415, "POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
		       "Content-Type: text/plain\r\n" BEARER "\r\n" },
		{ 0, "POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
		     "Content-Type: application/json\r\n" BEARER "\r\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (guard_of(cases[i].text) != cases[i].status)
			fail_msg("%d, not %d: %s", guard_of(cases[i].text), cases[i].status,
				 cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_request),
		cmocka_unit_test(waits_for_the_rest),
		cmocka_unit_test(refuses_what_could_be_read_in_two_ways),
		cmocka_unit_test(bounds_what_it_reads),
		cmocka_unit_test(guards_by_host_origin_and_site),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
