/*
 * A server's answer, of which only the first few KiB are ever read.  It may say anything.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANSWER_HEAD_MAX 8192u
#define ANSWER_BODY_MAX 512u
#define ANSWER_RAW_MAX  4096u /* of a body that comes in chunks, with what they cost */
#define ANSWER_MAX      (ANSWER_HEAD_MAX + ANSWER_RAW_MAX)

struct push_answer {
	unsigned status;
	uint64_t retry_after_s;         /* 0: it does not say */
	char text[ANSWER_BODY_MAX + 1]; /* how its body begins, printable; "" where all is well */
	/* The same as it is. */
	unsigned char body[ANSWER_BODY_MAX];
	size_t body_size;
	bool is_cut; /* not all of the body came, or was kept */
};

/* True when enough has come, whatever follows: *ret is set then.  -EPROTO: it is no answer of HTTP.
 * -EAGAIN: there must be more; not with is_end, after which nothing comes.  Where all is well the
 * body is waited for only with wants_body: it may never end. */
int push_answer_parse(const char *bytes, size_t size, bool is_end, bool wants_body,
		      struct push_answer *ret) MUST_CHECK;

static inline bool push_answer_is_good(const struct push_answer *answer)
{
	return answer->status >= 200 && answer->status < 300;
}
