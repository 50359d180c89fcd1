/*
 * What waits to be sent, and the thread that sends it: in order, again and again where the server
 * is away, never more than so many bytes.  What leaves unsent is counted.
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
	struct push_count unclear; /* sent, but no answer says whether they were taken */
	struct push_count lost;    /* there was no room for them, or no time at the end */
	struct err trouble;        /* of the last try; code 0: all is well */
};

struct sender;

/* What the options point to must outlive it. */
int sender_open(struct sender **ret, const struct sender_options *options,
		struct err *err) MUST_CHECK;
/* Takes the bytes, which are empty then. */
void sender_put(struct sender *sender, struct bytes *body, uint64_t samples);
void sender_look(struct sender *sender, struct sender_totals *ret);
/* Waits until all is sent, for so long at most, and ends; what is left is lost then. */
void sender_finish(struct sender *sender, uint64_t limit_ns, struct sender_totals *ret);
void sender_free(struct sender *sender);
