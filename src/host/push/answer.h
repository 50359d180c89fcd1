/*
 * A server's answer, of which only the first few KiB are ever read.  Its contents are foreign.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANSWER_HEAD_MAX 8192u
#define ANSWER_BODY_MAX 512u
#define ANSWER_RAW_MAX  4096u /* of a chunked body, with overhead */
#define ANSWER_MAX      (ANSWER_HEAD_MAX + ANSWER_RAW_MAX)

struct push_answer {
	unsigned status;
	uint64_t retry_after_s;         /* 0: not given */
	char text[ANSWER_BODY_MAX + 1]; /* how its body begins, printable; "" where all is well */
	/* The same as it is. */
	unsigned char body[ANSWER_BODY_MAX];
	size_t body_size;
	bool is_page; /* for people: it is no store that answers so */
	bool is_cut;  /* the body is incomplete, or was cut */
};

/* True when enough was received, whatever follows: *ret is set then.  -EPROTO: it is no answer of
 * HTTP.  -EAGAIN: more is needed; not with is_end, at the end of input.  After success the body is
 * read only with wants_body: it may never end. */
int push_answer_parse(const char *bytes, size_t size, bool is_end, bool wants_body,
		      struct push_answer *ret) MUST_CHECK;

static inline bool push_answer_is_good(const struct push_answer *answer)
{
	return answer->status >= 200 && answer->status < 300;
}
