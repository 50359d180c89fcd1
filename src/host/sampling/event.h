/*
 * What the clock of running threads counts: time, which every machine has, or the processor's
 * cycles.
 */
#pragma once

#include "host/core/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

enum sampler_event {
	EVENT_CPU_CLOCK,
	EVENT_CYCLES,
	SAMPLER_EVENTS,
};

/* By its name, "cycles".  -ENOENT: unknown; the error lists the names. */
int event_find(const char *name, enum sampler_event *ret, struct err *err) MUST_CHECK;

/* 0, or -ENODEV with the reason where this machine cannot count it. */
int event_probe(enum sampler_event event, struct err *err) MUST_CHECK;

/* This many samples in each second that a thread runs. */
void event_count(enum sampler_event event, uint64_t period_ns, struct perf_event_attr *attr);

/* True when its period is a time. */
bool event_is_time(enum sampler_event event);

/* Opens a perf event, without what the kernel does not know yet: PERF_FORMAT_LOST (Linux 6.0), and
 * inherit_thread (5.13), so that child processes inherit it, too.  The descriptor, or -errno. */
int event_open(const struct perf_event_attr *attr, pid_t tid, int cpu);
