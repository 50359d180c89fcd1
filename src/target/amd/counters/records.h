/*
 * Writes the records of counted kernels, and of readings of whole devices.
 */
#pragma once

#include "target/amd/counters/devices.h"

/* Writes no counts if the device has not read, and nothing if the packet was no kernel. */
void counter_record_write(const struct counter_set *set);

struct known_queue;
/* Uncounted packets were in a queue in that time, in ticks. */
void plain_record_write(const struct known_queue *known, const struct counting_device *device,
			uint64_t begin, uint64_t end);

/* A reading of a device that has counted since `begin`; both in ticks. Written only if all fits. */
void window_record_write(const struct counter_set *set, uint64_t begin, uint64_t at);
