/*
 * Finds one event by its name: in the tables of the kernel's own events, in PMUs and tracepoints.
 * Each fills in the event: 0; -ENOENT: unknown name.
 */
#pragma once

#include "host/core/text/text.h"
#include "host/counters/event.h"

#include <dirent.h>

/* "task-clock", "cycles" */
int counter_generic_find(const char *name, struct counter_event *ret) MUST_CHECK;
/* "L1-dcache-load-misses" */
int counter_cache_find(const char *name, struct counter_event *ret) MUST_CHECK;
/* "r1a8" */
int counter_raw_find(const char *name, struct counter_event *ret) MUST_CHECK;
/* "sched" and "sched_switch".  -EACCES: not readable. */
int counter_tracepoint_find(const struct counter_sources *sources, const char *subsystem,
			    const char *name, struct counter_event *ret) MUST_CHECK;

void counter_generic_visit(counter_name_visitor *visit, void *context);
void counter_cache_visit(counter_name_visitor *visit, void *context);

/* PMUs that count for one process: those of the processors. */
#define CORE_PMUS_MAX 8u

struct core_pmus {
	char names[CORE_PMUS_MAX][32]; /* ascending */
	size_t count;
};

void core_pmus_read(const struct counter_sources *sources, struct core_pmus *ret);

/* The kernel's number of a PMU, or -ENOENT. */
int pmu_type(const struct counter_sources *sources, const char *pmu) MUST_CHECK;
/* "event=0x3c,umask=1", or a name that the PMU has for such.  -EINVAL: it has no such term. */
int pmu_apply(const struct counter_sources *sources, const char *pmu, struct text terms,
	      struct counter_event *event) MUST_CHECK;
/* Has this PMU a name for it? */
bool pmu_has_event(const struct counter_sources *sources, const char *pmu, const char *name);
void pmu_names_visit(const struct counter_sources *sources, const char *pmu,
		     counter_name_visitor *visit, void *context);
/* Puts the bits of a value where "config1:0-7,32-35" has them.  -EINVAL: an unknown format;
 * -ERANGE: the value has more bits. */
int pmu_put_bits(const char *format, uint64_t value, struct counter_event *event) MUST_CHECK;
