/*
 * Countable events of a process, by perf's names.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <stdio.h>

#define COUNTER_NAME_MAX   96u
#define COUNTER_EVENTS_MAX 64u

/* Modes in which it is not counted. */
enum counter_exclusion {
	COUNTER_NO_USER = 1,
	COUNTER_NO_KERNEL = 2,
	COUNTER_NO_HYPERVISOR = 4,
	COUNTER_NO_GUEST = 8,
	COUNTER_NO_HOST = 16,
};

struct counter_event {
	char name[COUNTER_NAME_MAX]; /* as it is shown: "cycles:u", "cpu_core/cycles/" */
	char base[COUNTER_NAME_MAX]; /* of these: "cycles" */
	char pmu[32];                /* of these: "cpu_core"; "": it needs none, or the only one */
	uint32_t type;               /* the next four as in struct perf_event_attr */
	uint64_t config, config1, config2;
	unsigned exclusions;
	unsigned group;      /* events of one group are counted at the same times */
	bool is_time;        /* its unit is the nanosecond */
	bool needs_pmu;      /* the processor counts it, the kernel does not */
	bool is_kernel_side; /* it happens in the kernel: without that mode it would always be 0 */
	bool is_partial;     /* some of the machine's processors cannot count it */
	bool is_optional;    /* not requested by the user: skipped where this machine has none */
	bool is_hidden;      /* counted to check others, never shown */
};

struct counter_events {
	struct counter_event items[COUNTER_EVENTS_MAX];
	size_t count;
	unsigned groups; /* numbers of groups in use */
};

/* Where the kernel describes its events. */
struct counter_sources {
	const char *devices;     /* a folder for each PMU */
	const char *tracepoints; /* a folder for each subsystem */
};

extern const struct counter_sources counter_sources_system;

/*
 * Appends the events of a list: "task-clock,{cycles,instructions}:u,r1a8,cpu/event=0x3c/,
 * sched:sched_switch".  -EINVAL, -ENOENT with exit code EXIT_USAGE: it makes no sense, or there is
 * no such event.
 */
int counter_events_parse(struct counter_events *events, const char *list,
			 const struct counter_sources *sources, struct err *err) MUST_CHECK;

/* Appends the default events. */
int counter_events_default(struct counter_events *events, const struct counter_sources *sources,
			   struct err *err) MUST_CHECK;

/* Appends the events that check whether the others were counted all of the time, unless they are
 * there already, if there is room. */
void counter_events_add_checks(struct counter_events *events);

/* Where an event of all modes stands; events->count: nowhere. */
size_t counter_events_find(const struct counter_events *events, const char *base);

/* Calls with the name of every event that has one of its own. */
typedef void counter_name_visitor(const char *name, void *context);
void counter_names_visit(const struct counter_sources *sources, counter_name_visitor *visit,
			 void *context);

/* Does the processor of this machine count anything? */
bool counter_has_pmu(const struct counter_sources *sources);
