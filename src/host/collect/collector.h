/*
 * Private to the collector: what a pass (collect.c) and the thread around it (background.c) share.
 */
#pragma once

#include "host/collect/slot.h"

#include "host/core/cleanup.h"
#include "host/core/threads/worker.h"

struct collector {
	struct recording *recording;
	struct collect_source source;
	struct rings layout; /* a copy of the head, checked */
	struct slot *slots;
	uint32_t *numbers;        /* of the target's functions in the recording */
	uint32_t window_function; /* the number there of readings; UINT32_MAX: it has none */
	struct collect_totals totals;
	uint64_t drops_without_ring,
		drops_without_ring_ns; /* drops without a ring: counted, and when */

	/* Of the present pass. */
	uint64_t now_ns;
	uint32_t used;    /* rings that belong to a thread */
	uint64_t fullest; /* bytes found in one ring */

	struct worker worker; /* the background thread; its lock guards what follows */
	struct collect_totals shown;
	struct err failure;
};

DEFINE_CLEANUP(struct collector *, collector_free)
