/*
 * What there may be to say about AMD's runtimes.
 */
#pragma once

#include "target/hooks/notes.h"

enum amd_note { SAY_OTHER_TRACER, SAY_NO_REPORTS, SAY_NO_HSA_TIMES, AMD_NOTES };

extern const struct note amd_notes[AMD_NOTES];
