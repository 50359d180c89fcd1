/*
 * Connections: one thread, one epoll, a request at a time on each of at most 32 connections.
 * Answers may be sent later, by their tag.  Independent of the requests' contents.
 */
#pragma once

#include "host/ui/http/guard.h"

#define HTTP_CONNECTIONS_MAX 32u
#define HTTP_LISTENERS_MAX   3u
#define HTTP_ANSWER_HEAD_MAX 2048u

struct http_answer {
	int status;
	const char *type; /* of the body */
	const char *file; /* it is to be saved under this name; NULL: it is to be shown */
	size_t size;
	bool is_gzip, is_last;
};

/* The same protecting headers on every answer.  How long the head is; it always fits. */
size_t http_answer_head(const struct http_answer *answer, char ret[HTTP_ANSWER_HEAD_MAX]);

/* "Not Found"; never NULL. */
const char *http_status_text(int status);

struct http_server;

struct http_handler {
	void *context;
	/* A request that passed the guard.  Answered by http_server_answer() now or later. */
	void (*request)(void *context, uint64_t tag, const struct http_request *request,
			const char *body);
	/* `fd` can be read; false ends the server. */
	bool (*readable)(void *context);
	int fd;
};

struct http_server_options {
	int listeners[HTTP_LISTENERS_MAX]; /* -1: none; do not block */
	char token[HTTP_TOKEN_SIZE];
	struct http_handler handler;
};

/* A body; a mapped one is unmapped when it was sent. */
struct http_body {
	const void *at;
	bool is_mapped;
};

/* 0 or -errno. */
int http_server_new(struct http_server **ret, const struct http_server_options *options) MUST_CHECK;
/* Runs until the handler ends it. */
void http_server_run(struct http_server *server);
void http_server_free(struct http_server *server);

/* Owns the body; if the connection is closed by now, only frees it. */
void http_server_answer(struct http_server *server, uint64_t tag, struct http_answer *answer,
			struct http_body body);

/* The same with an error as JSON. */
void http_server_refuse(struct http_server *server, uint64_t tag, int status, const char *what);
