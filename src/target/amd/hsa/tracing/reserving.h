/*
 * Around application calls that use queues, for kernels that the ring counts.
 */
#pragma once

#include "target/amd/tables/call.h"

void ring_before_add(struct call_frame *frame);
void ring_after_add(struct call_frame *frame);
void ring_after_cas(struct call_frame *frame);
void ring_before_store_index(struct call_frame *frame);
void ring_before_queue_destroy(struct call_frame *frame);
void ring_after_queue_destroy(struct call_frame *frame);
/* (signal, value): a doorbell, or a signal that is set for its next use. */
void hsa_before_doorbell(struct call_frame *frame);
