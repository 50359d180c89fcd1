/*
 * The heads of answers: the same protecting headers on every one of them.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define HTTP_ANSWER_HEAD_MAX 2048u

struct http_answer {
	int status;
	const char *type; /* of the body */
	const char *file; /* it is to be saved under this name; NULL: it is to be shown */
	size_t size;
	bool is_gzip, is_last;
};

/* How long the head is; it always fits. */
size_t http_answer_head(const struct http_answer *answer, char ret[HTTP_ANSWER_HEAD_MAX]);

/* "Not Found"; never NULL. */
const char *http_status_text(int status);
