/*
 * The events that every kernel has by number.
 */
#include "host/counters/event_names.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "host/core/text/print.h"

#define CGROUP_SWITCHES 11 /* newer than some headers */

static const struct generic_event {
	const char *name, *alias;
	uint32_t type;
	uint64_t config;
	bool is_time, is_kernel_side;
} generic_events[] = {
	{ "task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, .is_time = true },
	{ "cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, .is_time = true },
	{ "context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
	  .is_kernel_side = true },
	{ "cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS,
	  .is_kernel_side = true },
	{ "page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "cgroup-switches", NULL, PERF_TYPE_SOFTWARE, CGROUP_SWITCHES, .is_kernel_side = true },
	{ "cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "branches", "branch-instructions", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
};

/* The kernel's order in both lists. */
static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
				      "iTLB",      "branch",    "node" };

static const struct cache_access {
	const char *name;
	unsigned operation, result;
} cache_accesses[] = {
	{ "-loads", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "-load-misses", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "-stores", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "-store-misses", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "-prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "-prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_MISS },
};

int counter_generic_find(const char *name, struct counter_event *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(generic_events); i++) {
		const struct generic_event *known = &generic_events[i];

		if (strcmp(known->name, name) && (!known->alias || strcmp(known->alias, name)))
			continue;
		ret->type = known->type;
		ret->config = known->config;
		ret->is_time = known->is_time;
		ret->is_kernel_side = known->is_kernel_side;
		ret->needs_pmu = known->type == PERF_TYPE_HARDWARE;
		print_into(ret->base, sizeof(ret->base), "%s", known->name);
		return 0;
	}
	return -ENOENT;
}

int counter_cache_find(const char *name, struct counter_event *ret)
{
	for (unsigned cache = 0; cache < ARRAY_SIZE(caches); cache++)
		for (size_t i = 0; i < ARRAY_SIZE(cache_accesses); i++) {
			const struct cache_access *access = &cache_accesses[i];
			size_t length = strlen(caches[cache]);

			if (strncmp(caches[cache], name, length) ||
			    strcmp(access->name, name + length))
				continue;
			ret->type = PERF_TYPE_HW_CACHE;
			ret->config = cache | access->operation << 8 | access->result << 16;
			ret->needs_pmu = true;
			return 0;
		}
	return -ENOENT;
}

int counter_raw_find(const char *name, struct counter_event *ret)
{
	struct text rest = text_of(name);
	uint64_t config;

	if (!text_take_char(&rest, 'r') || !text_take_number(&rest, 16, &config) ||
	    rest.at != rest.end)
		return -ENOENT;
	ret->type = PERF_TYPE_RAW;
	ret->config = config;
	ret->needs_pmu = true;
	return 0;
}

void counter_generic_visit(counter_name_visitor *visit, void *context)
{
	for (size_t i = 0; i < ARRAY_SIZE(generic_events); i++)
		visit(generic_events[i].name, context);
}

void counter_cache_visit(counter_name_visitor *visit, void *context)
{
	char name[64];

	for (size_t cache = 0; cache < ARRAY_SIZE(caches); cache++)
		for (size_t i = 0; i < ARRAY_SIZE(cache_accesses); i++) {
			print_into(name, sizeof(name), "%s%s", caches[cache],
				   cache_accesses[i].name);
			visit(name, context);
		}
}
