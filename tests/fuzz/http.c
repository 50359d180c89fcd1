/*
 * Fuzzes what a browser, or whoever says to be one, sends to `limpet ui`: heads, queries, bodies.
 */
#include "fuzz.h"

#include <string.h>

#include "host/ui/http/guard.h"
#include "host/ui/http/request.h"
#include "host/ui/request/command.h"
#include "host/ui/request/routes.h"

static const char token[HTTP_TOKEN_SIZE] = { "0123456789abcdef0123456789abcdef" };

static bool text_is_within(struct http_text text, const char *bytes, size_t size)
{
	return !text.size || (text.at >= bytes && text.at + text.size <= bytes + size);
}

/* Whatever a route makes of it is a command that the other process accepts. */
static void route(const struct http_request *request, const char *body)
{
	static struct ui_command command, checked;
	char why[PARAMETER_WHY_MAX];

	if (routes_find(request, body, &command, why) == 0)
		must(ui_command_check(&command, sizeof(command), &checked) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *text = (const char *)bytes;
	struct http_request request;
	int status = http_request_parse(text, size, &request);

	must(status == 0 || status == HTTP_INCOMPLETE || (status >= 400 && status < 600));
	if (status)
		return 0;
	must(request.head_size <= size && request.head_size <= HTTP_HEAD_MAX);
	must(request.body_size <= HTTP_BODY_MAX);
	must(text_is_within(request.path, text, request.head_size));
	must(text_is_within(request.query, text, request.head_size));
	for (unsigned i = 0; i < HEADERS; i++)
		must(text_is_within(request.headers[i], text, request.head_size));
	/* The guard lets nobody in who does not know the token. */
	if (http_guard(&request, token) == 0 && http_is_api(&request))
		must(request.has[HEADER_AUTHORIZATION]);
	if (request.head_size + request.body_size <= size)
		route(&request, text + request.head_size);
	return 0;
}
