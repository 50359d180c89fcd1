/*
 * Writes the heads of answers.
 */
#include "host/ui/http/server.h"

#include <stdio.h>

static const struct {
	int status;
	const char *text;
} statuses[] = {
	{ 200, "OK" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 408, "Request Timeout" },
	{ 409, "Conflict" },
	{ 411, "Length Required" },
	{ 413, "Content Too Large" },
	{ 415, "Unsupported Media Type" },
	{ 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 503, "Service Unavailable" },
	{ 505, "HTTP Version Not Supported" },
};

/* The page may load its own script and style and call its own server, and nothing else; no page may
 * frame it, and no script may be made from text. */
static const char protection[] =
	"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
	"connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'; require-trusted-types-for 'script'\r\n"
	"Cross-Origin-Resource-Policy: same-origin\r\n"
	"Cross-Origin-Opener-Policy: same-origin\r\n"
	"X-Content-Type-Options: nosniff\r\n"
	"Referrer-Policy: no-referrer\r\n"
	"Cache-Control: no-store\r\n";

const char *http_status_text(int status)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i].status == status)
			return statuses[i].text;
	return "Error";
}

size_t http_answer_head(const struct http_answer *answer, char ret[HTTP_ANSWER_HEAD_MAX])
{
	char file[256] = "";
	int size;

	if (answer->file)
		snprintf(file, sizeof(file), "Content-Disposition: attachment; filename=\"%s\"\r\n",
			 answer->file);
	size = snprintf(ret, HTTP_ANSWER_HEAD_MAX,
			"HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s%s%s\r\n",
			answer->status, http_status_text(answer->status), answer->type,
			answer->size, answer->is_gzip ? "Content-Encoding: gzip\r\n" : "", file,
			answer->is_last ? "Connection: close\r\n" : "", protection);
	return MIN((size_t)size, (size_t)HTTP_ANSWER_HEAD_MAX - 1);
}
