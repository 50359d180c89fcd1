/*
 * Fuzzes definitions of counters, and what comes of each of them on every architecture.
 */
#include "fuzz.h"

#include <stdio.h>

#include "host/counters/amd/plan.h"

static void must_be_planned(const struct amd_counters *counters, const struct amd_counter *counter)
{
	struct counter_device device = { .properties = "simd_count 32\nsimd_per_cu 4\n" };
	struct counter_plan plan;
	struct err err = { 0 };

	snprintf(device.architecture, sizeof(device.architecture), "%s", counter->architecture);
	if (counter_plan_make(&plan, counters, &(struct plan_devices){ &device, 1, 0 },
			      &counter->name, 1, &err)) {
		must(err.code && err.what[0]);
		return;
	}
	must(plan.event_count <= PLAN_EVENTS_MAX && plan.passes <= plan.event_count + 1);
	for (size_t i = 0; i < plan.counter_count; i++) {
		static struct expression expression;

		/* What was made of it can be read again. */
		must(!expression_read(&expression, plan.counters[i].expanded, &err));
	}
	counter_plan_done(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct amd_counters counters = { 0 };
	struct err err = { 0 };

	if (amd_counters_parse(&counters, (const char *)bytes, size, "fuzz", &err))
		must(err.code && err.what[0]);
	must(counters.count <= DEFINITIONS_MAX);
	for (size_t i = 0; i < counters.count && i < 64; i++) {
		const struct amd_counter *counter = &counters.items[i];

		must(counter->name[0] && counter->architecture);
		must(!counter->expression != !counter->block);
		must_be_planned(&counters, counter);
	}
	amd_counters_done(&counters);
	return 0;
}
