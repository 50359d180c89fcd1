/*
 * Calls that limpet watches for itself, whether or not a tool wants them: for example, loading an
 * executable, or allocating memory.
 */
#pragma once

#include "target/amd/sinks/sdk/service.h"

#define WATCH_KINDS 2u

struct slot_watch {
	const char *name; /* the function's name; a trailing '*' matches any rest */
	/* Watched for contexts with one of these services; 0: none. */
	uint8_t callback_kinds[WATCH_KINDS], buffer_kinds[WATCH_KINDS];
	/* Watched for every context; `after` runs before tools are notified of the end. */
	bool is_for_all;
	void (*before)(struct sdk_frame *frame);
	void (*after)(struct sdk_frame *frame, uint64_t end);
	/* Watched for contexts that count kernels; `after` also runs right after the call. */
	bool is_for_packets;
};

/* What a call is watched for. */
#define WATCHING_CALL   1u /* it is in the list */
#define WATCHING_STREAM 2u /* it has a HIP stream argument */

/* Called around a watched call. */
void watch_before(struct sdk_frame *frame);
void watch_returned(struct sdk_frame *frame, uint64_t end);
void watch_after(struct sdk_frame *frame, uint64_t end);

/* A call runs unwatched: the table of threads is full. */
void watch_missed(const struct sdk_frame *frame);

/* The function's number in the list, from 1; 0: not watched. */
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
