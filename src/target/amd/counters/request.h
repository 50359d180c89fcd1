/*
 * What the ring wants to be counted, from the words of the host's request:
 *
 *   counter-device=1,2,4,8,1,0,0,gfx942   node, XCCs, engines, units, arrays of an engine, PCI
 *                                         domain, location, architecture
 *   counter-event=4,0,SQ                  event, flags, block; in the order of the host's indexes
 *   counter-event=4,0,SQ@0+2              the same, on these of the devices above only
 *   counter-window=100000000              nanoseconds of a window, where whole devices are counted
 *                                         instead of kernels
 */
#pragma once

#include "shared/base/macros.h"

#define COUNTER_DEVICES_MAX 64u /* bits of a word */
#define COUNTER_EVENTS_MAX  64u
#define COUNTER_LETTERS     32u

struct requested_device {
	uint64_t node, numbers[6];
	char architecture[COUNTER_LETTERS];
};

struct counter_request {
	struct requested_device devices[COUNTER_DEVICES_MAX];
	unsigned device_count;
	struct {
		uint64_t event, flags;
		uint64_t devices; /* bits, by index; 0: all */
		char block[COUNTER_LETTERS];
	} events[COUNTER_EVENTS_MAX];
	unsigned event_count;
	uint64_t window_ns;
};
