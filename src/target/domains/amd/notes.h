/*
 * What there may be to say about AMD's runtimes.
 */
#pragma once

#include "target/hooks/notes.h"

enum amd_note {
	SAY_OTHER_TRACER,
	SAY_NO_REPORTS,
	SAY_NO_HSA_TIMES,
	SAY_NO_AQLPROFILE,
	SAY_NO_COUNTER_FUNCTIONS,
	SAY_NO_COUNTER_AGENT,
	SAY_NO_COUNTER_EVENT,
	SAY_NO_COUNTER_PACKETS,
	SAY_TOO_MANY_COUNTS,
	SAY_NO_WINDOW_QUEUE,
	SAY_WINDOWS_LATE,
	SAY_SKIPPED_GROUP,
	SAY_SKIPPED_SINGLE,
	SAY_SKIPPED_FULL,
	AMD_NOTES,
};

extern const struct note amd_notes[AMD_NOTES];
