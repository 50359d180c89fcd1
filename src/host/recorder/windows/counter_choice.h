/*
 * Counters by name, from all sources: events of the kernel and the processor by perf's names
 * (task-clock, {cycles,instructions}), counters of AMD's devices by AMD's (SQ_WAVES).
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/counters/amd/request.h"
#include "host/counters/event.h"
#include "host/recorder/windows/windows.h"

#define CHOICE_NAMES_MAX 64u

struct counter_choice {
	struct counter_events events;
	struct counter_collection devices;
	bool has_devices;
	char *texts[CHOICE_NAMES_MAX]; /* names of devices' counters */
	size_t text_count;
	struct window_options options; /* with both of the above */
	char note[512];                /* what devices cannot count; "" */
};

/*
 * Lists with commas; interval_ns 0: the default.  Refuses all that can be known before a process is
 * touched: unknown names, more counters than devices count at once.  With EXIT_USAGE.
 */
int counter_choice_make(struct counter_choice *ret, const char *const *lists, size_t count,
			uint64_t interval_ns, struct err *err) MUST_CHECK;
/* Without counters, for metrics of GPUs alone (options.has_gpus). */
int counter_choice_make_gpus(struct counter_choice *ret, uint64_t interval_ns,
			     struct err *err) MUST_CHECK;
void counter_choice_done(struct counter_choice *choice);

DEFINE_STRUCT_CLEANUP(counter_choice, counter_choice_done)

/* A device has one set of counters: two processes cannot be counted by it. */
int counter_choice_check_alone(const struct counter_choice *choice, bool is_alone,
			       struct err *err) MUST_CHECK;
