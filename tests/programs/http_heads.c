/*
 * Reads requests as the HTTP process of `limpet ui` does, for test_http.py: each comes as four
 * bytes of length (little endian) and itself.
 *
 *   usage: http_heads <CASES
 *
 * A line for each: "STATUS", or for one that is taken
 * "0 METHOD TARGET HEAD_SIZE BODY_SIZE IS_LAST HOST" (the host is "-" where there is none).
 */
#include "host/ui/http/request.h"

#include <stdio.h>
#include <stdlib.h>

static void request_print(const struct http_request *request)
{
	struct http_text host = request->headers[HEADER_HOST];
	bool has_host = request->has[HEADER_HOST] && host.size;

	printf("0 %s %.*s%s%.*s %zu %zu %d %.*s\n", request->method == HTTP_POST ? "POST" : "GET",
	       (int)request->path.size, request->path.at, request->query.size ? "?" : "",
	       (int)request->query.size, request->query.at, request->head_size, request->body_size,
	       request->is_last, has_host ? (int)host.size : 1, has_host ? host.at : "-");
}

int main(void)
{
	unsigned char size[4];

	while (fread(size, sizeof(size), 1, stdin) == 1) {
		size_t count = size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16;
		char *bytes = malloc(count + 1);
		struct http_request request;
		int status;

		if (!bytes || fread(bytes, 1, count, stdin) != count)
			return 1;
		status = http_request_parse(bytes, count, &request);
		if (status)
			printf("%d\n", status);
		else
			request_print(&request);
		free(bytes);
	}
	return 0;
}
