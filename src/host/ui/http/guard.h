/*
 * Admission: decides from the head of a request alone whether to serve it, before anything is done.
 */
#pragma once

#include "host/ui/http/request.h"

#define HTTP_TOKEN_SIZE 32u /* lower-case hexadecimal digits: 128 bits */

/* 0, or the status of the refusal. */
int http_guard(const struct http_request *request, const char token[HTTP_TOKEN_SIZE]) MUST_CHECK;

/* Is it below /api, where the token is needed? */
bool http_is_api(const struct http_request *request);
