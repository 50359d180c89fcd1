/*
 * Around application calls that use queues, for kernels that tools count.
 */
#pragma once

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
