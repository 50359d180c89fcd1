/*
 * Turns readings of devices, which an agent makes in the process, into windows: the counts between
 * two readings, combined into the wanted counters.
 */
#pragma once

#include "host/collect/readings.h"
#include "host/recorder/tick_clock.h"
#include "host/recorder/windows/window_batch.h"

struct device_windows;

int device_windows_new(struct device_windows **ret, struct recording *recording,
		       const struct window_options *options, struct err *err) MUST_CHECK;
void device_windows_free(struct device_windows *windows);

/* The function for collect_source.take_reading. */
int device_windows_take(void *windows, const struct device_reading *reading,
			struct err *err) MUST_CHECK;
/* Writes what is pending; after the last reading. */
int device_windows_flush(struct device_windows *windows, struct err *err) MUST_CHECK;

/* The number of windows made. */
uint64_t device_windows_count(const struct device_windows *windows);
