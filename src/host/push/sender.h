/*
 * The queue of pushes, and the thread that sends them: in order, with retries while the server is
 * unavailable, within a limit of bytes.  Dropped ones are counted.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/push/post.h"

#include <stdbool.h>

#define SENDER_BYTES_MAX (16u << 20)

struct sender_options {
	const struct push_address *address;
	const char *tenant; /* NULL: none */
	size_t bytes_max;   /* 0: SENDER_BYTES_MAX */
};

struct push_count {
	uint64_t pushes, samples;
};

struct sender_totals {
	struct push_count sent, waiting;
	struct push_count refused; /* by the server, for good */
	struct push_count unclear; /* sent, with an unclear result */
	struct push_count lost;    /* there was no room for them, or no time at the end */
	struct err trouble;        /* of the last try; code 0: all is well */
};

struct sender;

/* The options' pointers must outlive it. */
int sender_open(struct sender **ret, const struct sender_options *options,
		struct err *err) MUST_CHECK;
/* Owns the bytes; *body is empty afterwards. */
void sender_put(struct sender *sender, struct bytes *body, uint64_t samples);
void sender_query(struct sender *sender, struct sender_totals *ret);
/* Waits until all is sent, up to the limit, and ends; the rest is lost. */
void sender_finish(struct sender *sender, uint64_t limit_ns, struct sender_totals *ret);
void sender_free(struct sender *sender);
