/*
 * The table of routes, and the parsing of a request into its command.  Runs in the HTTP process.
 */
#pragma once

#include "host/ui/parameters.h"

/* 0: `ret` is to be sent; else the status of a refusal with the reason. */
int routes_find(const struct http_request *request, const char *body, struct ui_command *ret,
		char ret_why[PARAMETER_WHY_MAX]) MUST_CHECK;
