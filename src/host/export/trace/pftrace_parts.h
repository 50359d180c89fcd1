/*
 * The parts of Perfetto's trace format: packets, the facts about a call in its slice (debug
 * annotations), samples, and counters over time.
 */
#pragma once

#include "host/core/bytes.h"
#include "host/model/model.h"

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

/* Names of annotations that are no values; values have their kinds. */
enum annotation_name {
	NAME_TEXT = VALUE_KINDS,
	NAME_STACK,
	NAME_FUNCTION,
	NAME_LIBRARY,
	NAME_UNFINISHED,
	NAME_STANDS_FOR,
	ANNOTATION_NAMES
};

/* Into a track event; `room` is empty before and after.  The name is interned by its number. */
void annotation_put(struct bytes *event, struct bytes *room, enum annotation_name name,
		    const char *text);
/* All of a call: its values, text, library and stack. */
void annotations_put(struct bytes *event, struct bytes *room, const struct call *call);

/* All samples of the view; nothing where there are none. */
int pftrace_samples_write(struct model *model, FILE *out) MUST_CHECK;
/* A counter track for each metric, under the tracks of processes that pftrace_write_styled() makes.
 */
int pftrace_windows_write(struct model *model, FILE *out) MUST_CHECK;
