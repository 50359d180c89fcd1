/*
 * What is to be counted, from the words of the host's request:
 *
 *   counter-device=1,2,4,8,1,0,0,gfx942   node, XCCs, engines, units, arrays of an engine, PCI
 *                                         domain, location, architecture
 *   counter-event=4,0,SQ                  event, flags, block; in the order of the host's indexes
 */
#pragma once

#include "target/domains/request.h"

#define COUNTER_DEVICES_MAX 8u
#define COUNTER_EVENTS_MAX  64u
#define COUNTER_LETTERS     32u

struct counter_request {
	struct {
		uint64_t node, numbers[6];
		char architecture[COUNTER_LETTERS];
	} devices[COUNTER_DEVICES_MAX];
	unsigned device_count;
	struct {
		uint64_t event, flags;
		char block[COUNTER_LETTERS];
	} events[COUNTER_EVENTS_MAX];
	unsigned event_count;
};

void counter_request_read(const struct trace_request *request, struct counter_request *ret);
