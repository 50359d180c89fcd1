/*
 * Around application calls that use queues, for kernels that tools count.
 */
#pragma once

#include "target/amd/sinks/sdk/counters/dispatch/sets.h"
#include "target/amd/sinks/sdk/service.h"
#include "target/amd/tables/call.h"

void packets_before_add(struct call_frame *frame);
void packets_after_add(struct call_frame *frame, uint64_t end);
void packets_after_cas(struct call_frame *frame, uint64_t end);
void packets_before_store(struct call_frame *frame);
void packets_before_ring(struct call_frame *frame);
void packets_before_destroy(struct call_frame *frame);
void packets_after_destroy(struct call_frame *frame, uint64_t end);
/* The call runs unwatched: the table of threads is full. */
void packets_missed(const struct call_frame *frame);
void packets_missed_destroy(const struct call_frame *frame);

/* Describes the call in which the thread reserves a slot for a kernel. */
struct launch_origin launch_origin_of(const struct call_frame *frame);

/* The application rings a queue's doorbell for packets up to `last`: calls the tool for those not
 * shown to it yet. True: limpet's packets are around the last one. False also for other signals. */
bool kernels_ask(struct call_frame *frame, uint64_t doorbell, uint64_t last);
