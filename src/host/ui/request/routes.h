/*
 * The table of routes, and the parsing of a request into its command, which runs in the HTTP
 * process.
 */
#pragma once

#include "host/ui/http/request.h"
#include "host/ui/request/command.h"

/* The parameters that a route accepts; others are refused. */
enum parameter_set {
	PARAMETER_FORMAT = 1 << 0,       /* format=json */
	PARAMETER_SESSION = 1 << 1,      /* session */
	PARAMETER_RANGE = 1 << 2,        /* from, to */
	PARAMETER_THREADS = 1 << 3,      /* threads */
	PARAMETER_KIND = 1 << 4,         /* kind */
	PARAMETER_WIDTH = 1 << 5,        /* width */
	PARAMETER_TREE = 1 << 6,         /* invert, by_thread */
	PARAMETER_LIMIT = 1 << 7,        /* limit */
	PARAMETER_FUNCTION = 1 << 8,     /* name, module */
	PARAMETER_CELL = 1 << 9,         /* cell_ms */
	PARAMETER_MOMENT = 1 << 10,      /* thread, time */
	PARAMETER_SINCE = 1 << 11,       /* since */
	PARAMETER_CORRELATION = 1 << 12, /* correlation */
	PARAMETER_OTHER = 1 << 13,       /* session_b, from_b, to_b, threads_b */
	PARAMETER_EXPORT = 1 << 14,      /* format=NAME */
	PARAMETER_SIZE = 1 << 15,        /* size */
	PARAMETER_PID = 1 << 16,         /* pid */
	PARAMETER_HIDDEN = 1 << 17,      /* hidden */
};

enum route_trait {
	ROUTE_CHANGES = 1 << 0, /* what other routes answer */
	/* The answer is added up from samples and calls of a range, and from nothing else: pages
	 * with the same request share it for a while. */
	ROUTE_RANGE = 1 << 1,
	ROUTE_SHARED = 1 << 2,       /* a shared page has it, */
	ROUTE_BY_KIND = 1 << 3,      /* once for each kind of samples, */
	ROUTE_BY_DIRECTION = 1 << 4, /* and from both ends of stacks */
	/* The answer is an object, but: */
	ROUTE_TABLE = 1 << 5, /* facts and columns */
	ROUTE_FILE = 1 << 6,  /* what the handler writes */
};

struct route {
	enum http_method method;
	const char *path; /* '#' stands for the number of a session */
	unsigned parameters, traits;
};

extern const struct route routes[UI_VERBS];

/* A command's values before its query is read. */
void ui_command_init(struct ui_command *ret, enum ui_verb verb);

#define PARAMETER_WHY_MAX 128u

/* 0: `ret` is to be sent; else the status of a refusal with the reason. */
int routes_find(const struct http_request *request, const char *body, struct ui_command *ret,
		char ret_why[PARAMETER_WHY_MAX]) MUST_CHECK;

/* 0, or -EINVAL and which parameter is wrong, and why. */
int parameters_parse(struct http_text query, unsigned set, struct ui_command *ret,
		     char ret_why[PARAMETER_WHY_MAX]) MUST_CHECK;

#define WISH_HZ_USUAL 99u

/* The body of POST /api/sessions.  0, or -EINVAL: it is no JSON, has a member that is not known, or
 * a value that makes no sense. */
int wish_parse(const char *text, size_t size, struct ui_wish *ret) MUST_CHECK;
/* The body of .../start: {}, which keeps the options, or the new options of sampling.  `hz` is 0 if
 * not given. */
int wish_parse_start(const char *text, size_t size, struct ui_wish *ret) MUST_CHECK;
/* 0 if the text is an empty object, as the body of other POST requests. */
int wish_parse_empty(const char *text, size_t size) MUST_CHECK;
