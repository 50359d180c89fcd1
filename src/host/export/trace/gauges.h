/*
 * Amounts that change with the work of devices: bytes being copied, bytes allocated.  Changes
 * arrive in the order of the calls' beginnings, and may be later; they are reported in their own
 * order.
 */
#pragma once

#include "host/core/table.h"
#include "host/model/model.h"

enum gauge_kind { GAUGE_COPY, GAUGE_MEMORY, GAUGE_SCRATCH, GAUGE_KINDS };

struct gauge {
	enum gauge_kind kind;
	const struct model_process *process;
	uint64_t device;
	int64_t value;
	struct gauge_change {
		uint64_t time_ns;
		int64_t by;
	} * coming; /* a heap, the next one on top */
	size_t count, room;
};

/* Called at each change. */
typedef int gauge_teller(void *context, uint32_t number, uint64_t time_ns, int64_t value);

struct gauges {
	struct gauge *items;
	size_t count, room;
	struct table by_owner; /* (process and kind, device): number and one */
	struct table blocks;   /* (address, process): bytes, gauge and one */
	gauge_teller *tell;
	void *context;
};

/* Ignores calls other than copies and device memory.  *ret_new: a new gauge, UINT32_MAX: none.  0,
 * -ENOMEM, or the teller's result. */
int gauges_take(struct gauges *gauges, const struct call *call, uint32_t *ret_new) MUST_CHECK;
int gauges_finish(struct gauges *gauges) MUST_CHECK;
void gauges_done(struct gauges *gauges);
