/*
 * One request to a server, and its answer: by a socket of limpet's, or by curl.  Each has a time
 * limit.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/core/err.h"
#include "host/push/address.h"
#include "host/push/answer.h"

struct push_post {
	const struct push_address *address;
	const char *tenant; /* X-Scope-OrgID; NULL: none */
	const struct bytes *body;
	uint64_t until_ns; /* CLOCK_MONOTONIC */
	int cancel;        /* readable: no more */
};

/* 0 with any answer; else it may be tried again.  -ECANCELED where that was wished. */
int push_post(const struct push_post *post, struct push_answer *ret, struct err *err) MUST_CHECK;

/* The two ways. */
int push_post_direct(const struct push_post *post, struct push_answer *ret,
		     struct err *err) MUST_CHECK;
int push_post_curl(const struct push_post *post, struct push_answer *ret,
		   struct err *err) MUST_CHECK;

/* Waits for one of these events on a descriptor (POLLIN).  0, -ETIMEDOUT, -ECANCELED. */
int push_post_wait(const struct push_post *post, int fd, short events);
/* Waits for no more of an answer: 0 if the part received is valid, or the code. */
int push_post_end_early(const struct push_post *post, int code, const char *bytes, size_t size,
			struct push_answer *ret);
/* Why an answer that is as it is cannot be read; returns the code. */
int push_post_explain(const struct push_post *post, int code, struct err *err);
