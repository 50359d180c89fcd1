/*
 * Calls that tell us something ourselves, whether or not a tool wants to see them: an executable is
 * loaded, memory is taken.
 */
#pragma once

#include "target/sdk/service.h"

#define WATCH_KINDS 2u

struct slot_watch {
	const char *name; /* of the function, or with '*' of all that begin so */
	/* It is needed for contexts that have one of these; 0: none. */
	uint8_t callback_kinds[WATCH_KINDS], buffer_kinds[WATCH_KINDS];
	/* For every context, whatever it has; and right after the call, before tools are told. */
	bool is_for_all;
	void (*before)(struct sdk_frame *frame);
	void (*after)(struct sdk_frame *frame, uint64_t end);
	/* For contexts that count kernels; right after the call, too. */
	bool is_for_packets;
};

/* What a call is watched for. */
#define WATCHING_CALL   1u /* it is in the list */
#define WATCHING_STREAM 2u /* it is given a stream of HIP's */

/* Around a call that is watched. */
void watch_before(struct sdk_frame *frame);
void watch_returned(struct sdk_frame *frame, uint64_t end);
void watch_after(struct sdk_frame *frame, uint64_t end);

/* A call goes by unseen: there are too many threads. */
void watch_missed(const struct sdk_frame *frame);

/* Which of the list that function is, and one; 0: it is not watched. */
uint8_t watch_find(const char *name);
const struct slot_watch *watch_at(uint8_t watch);

void code_before_destroy(struct sdk_frame *frame);
void code_after_freeze(struct sdk_frame *frame, uint64_t end);
void restart_before(struct sdk_frame *frame);
void restart_before_shut_down(struct sdk_frame *frame);
void restart_after_init(struct sdk_frame *frame, uint64_t end);
void restart_after_shut_down(struct sdk_frame *frame, uint64_t end);
void dispatch_before(struct sdk_frame *frame);
void memory_after(struct sdk_frame *frame, uint64_t end);
void range_after(struct sdk_frame *frame, uint64_t end);
void packets_before_add(struct sdk_frame *frame);
void packets_after_add(struct sdk_frame *frame, uint64_t end);
void packets_after_cas(struct sdk_frame *frame, uint64_t end);
void packets_before_store(struct sdk_frame *frame);
void packets_before_ring(struct sdk_frame *frame);
void packets_before_destroy(struct sdk_frame *frame);
void packets_after_destroy(struct sdk_frame *frame, uint64_t end);
void packets_missed(const struct sdk_frame *frame);
