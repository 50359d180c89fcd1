/*
 * Readings of devices on their way out of a ring: windows are made from them, they are not records
 * of the file.  A reading is a call record with the counts behind it.
 */
#pragma once

#include "host/core/err.h"
#include "shared/wire/record.h"

#define READING_COUNTS_MAX 4096u

struct device_reading {
	uint64_t begin, at; /* in ticks: since when it counts, and when it was read */
	uint64_t device;
	const struct record_count *counts; /* since the beginning */
	size_t count;
};

/* One that is being put together.  Zero is none. */
struct reading_draft {
	struct device_reading reading;
	struct record_count *counts;
	size_t expected;
};

/* The call that begins it, with its values: the device, and how many counts follow.  False: no
 * memory. */
bool reading_begin(struct reading_draft *draft, const struct record_call *call);
/* Counts behind it; true when the reading is whole. */
bool reading_add(struct reading_draft *draft, const struct record *counts);
void reading_done(struct reading_draft *draft);
