/*
 * The head of one HTTP request, parsed strictly: only what limpet's page and plain clients send.
 * Runs in the process that has no rights; never allocates.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define HTTP_HEAD_MAX    8192u
#define HTTP_BODY_MAX    65536u
#define HTTP_HEADERS_MAX 32u

enum http_method { HTTP_GET, HTTP_POST };

/* A part of the bytes that were read; without a zero at its end. */
struct http_text {
	const char *at;
	size_t size;
};

/* The headers that mean something here. */
enum http_header {
	HEADER_HOST,
	HEADER_ORIGIN,
	HEADER_FETCH_SITE,
	HEADER_FETCH_MODE,
	HEADER_FETCH_DEST,
	HEADER_AUTHORIZATION,
	HEADER_CONTENT_TYPE,
	HEADER_CONTENT_LENGTH,
	HEADER_CONNECTION,
	HEADER_REFUSED, /* not one header: any that is never accepted */
	HEADERS,
};

struct http_request {
	enum http_method method;
	struct http_text path, query; /* raw, not decoded */
	struct http_text headers[HEADERS];
	bool has[HEADERS];
	size_t head_size, body_size;
	bool is_last; /* the client closes after it */
};

#define HTTP_INCOMPLETE 1

/* 0: there is a whole head; HTTP_INCOMPLETE: more bytes are needed; else the status of the refusal
 * (400 and more). */
int http_request_parse(const char *bytes, size_t size, struct http_request *ret) MUST_CHECK;

bool http_text_is(struct http_text text, const char *word);
/* The same without regard to upper and lower case. */
bool http_text_is_alike(struct http_text text, const char *word);
