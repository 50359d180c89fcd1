/*
 * A packet of Perfetto's trace format: the common part of every sequence of packets.
 */
#pragma once

#include "host/core/bytes.h"

#include <stdio.h>

/* Names and stacks are interned by sequence. */
enum packet_sequence { SEQUENCE_CALLS = 1, SEQUENCE_SAMPLES = 2, SEQUENCE_WINDOWS = 3 };

/* Field numbers of perfetto_trace.proto. */
enum packet_field {
	PACKET_CLOCKS = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_TRACK = 60,
	PACKET_SAMPLE = 66,
};
enum packet_flag { FLAG_CLEARED = 1, FLAG_NEEDS_INTERNED = 2 };

/* Writes a packet of a sequence; `trace` and `packet` are empty afterwards. */
int packet_write(struct bytes *trace, struct bytes *packet, enum packet_sequence sequence,
		 FILE *out) MUST_CHECK;
