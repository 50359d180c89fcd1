/*
 * Why there is no count, or only a part of one, and the fix.
 */
#pragma once

#include "host/counters/counter_set.h"

/* The facts that decide it besides the kernel's answer. */
struct counter_machine {
	bool has_pmu;
	int paranoid; /* kernel.perf_event_paranoid */
};

/* Of this machine. */
void counter_machine_read(struct counter_machine *ret);

/* Both may be empty. */
struct counter_reason {
	char why[192];
	char fix[192];
};

/* False: it was counted, all of it. */
bool counter_reason_find(const struct counter_event *event, const struct counter_answer *answer,
			 const struct count *count, const struct counter_machine *machine,
			 struct counter_reason *ret);

/* "cycles:u" where only user mode is counted. */
void counter_shown_name(const struct counter_event *event, const struct counter_answer *answer,
			char ret[COUNTER_NAME_MAX]);
