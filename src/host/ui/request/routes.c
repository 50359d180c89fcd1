/*
 * The table of routes.
 */
#include "host/ui/request/routes.h"

#include <stdio.h>

const struct route routes[UI_VERBS] = {
#define ROUTE(VERB, handler, METHOD, path, parameters, traits, help) \
	[UI_##VERB] = { HTTP_##METHOD, path, parameters, traits },
#include "host/ui/request/routes.def"
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

/* 0, or the status of a refusal: 405 where the path exists for another method. */
static int route_find(const struct http_request *request, enum ui_verb *ret, uint32_t *ret_number)
{
	int status = 404;

	for (unsigned i = 0; i < UI_VERBS; i++) {
		if (!path_matches(request->path, routes[i].path, ret_number))
			continue;
		*ret = i;
		if (routes[i].method == request->method)
			return 0;
		status = 405;
	}
	return status;
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
	enum ui_verb verb = UI_VERBS;
	uint32_t number = 0;
	int status = route_find(request, &verb, &number);

	if (status) {
		snprintf(ret_why, PARAMETER_WHY_MAX,
			 status == 404 ? "there is no such route" : "wrong method");
		return status;
	}
	ui_command_init(ret, verb);
	if (request->method == HTTP_POST)
		ret->range.session = number;
	if (parameters_parse(request->query, routes[verb].parameters, ret, ret_why))
		return 400;
	if (body_parse(request, body, ret)) {
		snprintf(ret_why, PARAMETER_WHY_MAX,
			 "the body is not the JSON that this route takes");
		return 400;
	}
	return 0;
}
