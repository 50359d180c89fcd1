/*
 * The table of routes.
 */
#include "host/ui/routes.h"

#include "host/ui/wish.h"

#include <stdio.h>
#include <string.h>

#define OF_RANGE  (PARAMETER_FORMAT | PARAMETER_SESSION | PARAMETER_RANGE)
#define OF_SAMPLE (OF_RANGE | PARAMETER_THREADS | PARAMETER_KIND)

/* '#' in a path stands for the number of a session. */
static const struct route {
	enum http_method method;
	const char *path;
	enum ui_verb verb;
	unsigned parameters;
} routes[] = {
	{ HTTP_GET, "/api/about", UI_ABOUT, PARAMETER_FORMAT | PARAMETER_HIDDEN },
	{ HTTP_GET, "/api/processes", UI_PROCESSES, PARAMETER_FORMAT },
	{ HTTP_GET, "/api/doctor", UI_DOCTOR, PARAMETER_FORMAT | PARAMETER_PID },
	{ HTTP_GET, "/api/sessions", UI_SESSIONS, PARAMETER_FORMAT },
	{ HTTP_POST, "/api/sessions", UI_OPEN, 0 },
	{ HTTP_POST, "/api/sessions/#/stop", UI_STOP, 0 },
	{ HTTP_POST, "/api/sessions/#/start", UI_START, 0 },
	{ HTTP_POST, "/api/sessions/#/detach", UI_DETACH, 0 },
	{ HTTP_POST, "/api/sessions/#/close", UI_CLOSE, 0 },
	{ HTTP_GET, "/api/live", UI_LIVE, PARAMETER_FORMAT | PARAMETER_SESSION | PARAMETER_SINCE },
	{ HTTP_GET, "/api/threads", UI_THREADS, OF_RANGE },
	{ HTTP_GET, "/api/flame", UI_FLAME, OF_SAMPLE | PARAMETER_TREE | PARAMETER_WIDTH },
	{ HTTP_GET, "/api/functions", UI_FUNCTIONS, OF_SAMPLE | PARAMETER_LIMIT },
	{ HTTP_GET, "/api/sandwich", UI_SANDWICH, OF_SAMPLE | PARAMETER_FUNCTION },
	{ HTTP_GET, "/api/heatmap", UI_HEATMAP, OF_SAMPLE | PARAMETER_CELL },
	{ HTTP_GET, "/api/timeline", UI_TIMELINE, OF_RANGE | PARAMETER_THREADS | PARAMETER_WIDTH },
	{ HTTP_GET, "/api/stack", UI_STACK,
	  PARAMETER_FORMAT | PARAMETER_SESSION | PARAMETER_MOMENT },
	{ HTTP_GET, "/api/spans", UI_SPANS, OF_RANGE | PARAMETER_THREADS | PARAMETER_WIDTH },
	{ HTTP_GET, "/api/flows", UI_FLOWS, OF_RANGE | PARAMETER_LIMIT },
	{ HTTP_GET, "/api/span", UI_SPAN,
	  PARAMETER_FORMAT | PARAMETER_SESSION | PARAMETER_CORRELATION },
	{ HTTP_GET, "/api/curves", UI_CURVES, OF_RANGE | PARAMETER_WIDTH },
	{ HTTP_GET, "/api/counters", UI_COUNTERS, OF_RANGE | PARAMETER_WIDTH },
	{ HTTP_GET, "/api/compare", UI_COMPARE,
	  OF_SAMPLE | PARAMETER_OTHER | PARAMETER_TREE | PARAMETER_WIDTH },
	{ HTTP_GET, "/api/formats", UI_FORMATS, PARAMETER_FORMAT | PARAMETER_SESSION },
	{ HTTP_GET, "/api/export", UI_EXPORT,
	  PARAMETER_SESSION | PARAMETER_RANGE | PARAMETER_EXPORT },
	{ HTTP_GET, "/api/share", UI_SHARE,
	  PARAMETER_SESSION | PARAMETER_RANGE | PARAMETER_THREADS | PARAMETER_SIZE },
};

/* A '#' in the pattern matches digits, which are the number. */
static bool path_matches(struct http_text path, const char *pattern, uint32_t *ret_number)
{
	size_t at = 0;
	uint64_t number = 0;

	for (; *pattern; pattern++) {
		if (*pattern != '#') {
			if (at == path.size || path.at[at++] != *pattern)
				return false;
			continue;
		}
		for (number = 0; at < path.size && path.at[at] >= '0' && path.at[at] <= '9' &&
				 number < INT32_MAX / 10;
		     at++)
			number = number * 10 + (uint64_t)(path.at[at] - '0');
		*ret_number = (uint32_t)number;
	}
	return at == path.size;
}

/* NULL: there is none; `ret_status`: whether the path exists for another method. */
static const struct route *route_find(const struct http_request *request, uint32_t *ret_number,
				      int *ret_status)
{
	*ret_status = 404;
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		if (!path_matches(request->path, routes[i].path, ret_number))
			continue;
		if (routes[i].method == request->method)
			return &routes[i];
		*ret_status = 405;
	}
	return NULL;
}

static int body_parse(const struct http_request *request, const char *body, struct ui_command *ret)
{
	if (request->method == HTTP_GET)
		return 0;
	if (ret->verb == UI_OPEN)
		return wish_parse(body, request->body_size, &ret->wish);
	if (ret->verb == UI_START)
		return wish_parse_start(body, request->body_size, &ret->wish);
	return wish_parse_empty(body, request->body_size);
}

int routes_find(const struct http_request *request, const char *body, struct ui_command *ret,
		char ret_why[PARAMETER_WHY_MAX])
{
	uint32_t number = 0;
	int status;
	const struct route *route = route_find(request, &number, &status);

	if (!route) {
		snprintf(ret_why, PARAMETER_WHY_MAX,
			 status == 404 ? "there is no such route" : "wrong method");
		return status;
	}
	ui_command_init(ret, route->verb);
	if (route->method == HTTP_POST)
		ret->range.session = number;
	if (parameters_parse(request->query, route->parameters, ret, ret_why))
		return 400;
	if (body_parse(request, body, ret)) {
		snprintf(ret_why, PARAMETER_WHY_MAX,
			 "the body is not the JSON that this route takes");
		return 400;
	}
	return 0;
}
