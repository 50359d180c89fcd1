/*
 * The rules against strangers: other sites in the same browser (Host, Origin, Sec-Fetch-Site), and
 * other users of the same machine (the token).
 */
#include "host/ui/http/guard.h"

#include <string.h>

#define PORT_DIGITS_MAX 5u

static const char *const own_hosts[] = { "127.0.0.1", "localhost", "[::1]" };

/* "" or ":8080". */
static bool port_is_sound(struct http_text port)
{
	if (!port.size)
		return true;
	if (port.at[0] != ':' || port.size < 2 || port.size > 1 + PORT_DIGITS_MAX)
		return false;
	for (size_t i = 1; i < port.size; i++)
		if (port.at[i] < '0' || port.at[i] > '9')
			return false;
	return true;
}

/* Any port: one that `ssh -L` forwards may be another one. */
static bool host_is_own(struct http_text host)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_hosts); i++) {
		size_t size = strlen(own_hosts[i]);

		if (host.size >= size && memcmp(host.at, own_hosts[i], size) == 0 &&
		    port_is_sound((struct http_text){ host.at + size, host.size - size }))
			return true;
	}
	return false;
}

/* The page's own: "http://" and the value of Host. */
static bool origin_is_own(struct http_text origin, struct http_text host)
{
	static const char scheme[] = "http://";
	size_t size = sizeof(scheme) - 1;

	return origin.size == size + host.size && memcmp(origin.at, scheme, size) == 0 &&
	       memcmp(origin.at + size, host.at, host.size) == 0;
}

bool http_is_api(const struct http_request *request)
{
	return request->path.size >= 5 && memcmp(request->path.at, "/api/", 5) == 0;
}

/* The user followed a link to the page, from anywhere: the page itself holds nothing secret. */
static bool is_top_navigation(const struct http_request *request)
{
	return request->method == HTTP_GET && !http_is_api(request) &&
	       http_text_is(request->headers[HEADER_FETCH_MODE], "navigate") &&
	       http_text_is(request->headers[HEADER_FETCH_DEST], "document");
}

static bool site_is_own(const struct http_request *request)
{
	struct http_text site = request->headers[HEADER_FETCH_SITE];

	return !request->has[HEADER_FETCH_SITE] || http_text_is(site, "same-origin") ||
	       http_text_is(site, "none") || is_top_navigation(request);
}

/* Its time does not depend on the position of a wrong letter. */
static bool token_is_right(struct http_text text, const char token[HTTP_TOKEN_SIZE])
{
	static const char scheme[] = "Bearer ";
	size_t size = sizeof(scheme) - 1;
	unsigned difference = 0;

	if (text.size != size + HTTP_TOKEN_SIZE || memcmp(text.at, scheme, size) != 0)
		return false;
	for (size_t i = 0; i < HTTP_TOKEN_SIZE; i++)
		difference |= (unsigned)(text.at[size + i] ^ token[i]) & 0xffu;
	return difference == 0;
}

static bool type_is_json(const struct http_request *request)
{
	struct http_text type = request->headers[HEADER_CONTENT_TYPE];

	return http_text_is_alike(type, "application/json") ||
	       http_text_is_alike(type, "application/json; charset=utf-8") ||
	       http_text_is_alike(type, "application/json;charset=utf-8");
}

int http_guard(const struct http_request *request, const char token[HTTP_TOKEN_SIZE])
{
	struct http_text host = request->headers[HEADER_HOST];

	if (!request->has[HEADER_HOST])
		return 400;
	if (!host_is_own(host))
		return 403;
	if (request->has[HEADER_ORIGIN] && !origin_is_own(request->headers[HEADER_ORIGIN], host))
		return 403;
	if (!site_is_own(request))
		return 403;
	if (!http_is_api(request))
		return request->method == HTTP_GET ? 0 : 405;
	if (!token_is_right(request->headers[HEADER_AUTHORIZATION], token))
		return 401;
	return request->method == HTTP_POST && !type_is_json(request) ? 415 : 0;
}
