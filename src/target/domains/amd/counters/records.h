/*
 * The record of a kernel that was counted, and of a reading of a whole device.
 */
#pragma once

#include "target/domains/amd/counters/devices.h"

/* Also where the device has not read: then without counts.  Nothing where it was no kernel. */
void counter_record_write(const struct counter_set *set);

struct known_queue;
/* Something that is not counted was in a queue in that time, in ticks. */
void plain_record_write(const struct known_queue *known, const struct counting_device *device,
			uint64_t begin, uint64_t end);

/* A reading of a whole device that counts since `begin`; both in ticks.  Nothing where there is no
 * room for all of it. */
void window_record_write(const struct counter_set *set, uint64_t begin, uint64_t at);
