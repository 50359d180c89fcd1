/*
 * Lists of events, by perf's names; PMUs as the kernel describes them, in folders that are made up.
 */
#include "unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/counters/event_names.h"

static char folder[] = "/tmp/counter-events-XXXXXX";
static char one_pmu[64], two_pmus[64], no_pmu[64], tracing[64];

static const struct counter_sources none = { no_pmu, tracing }, one = { one_pmu, tracing },
				    two = { two_pmus, tracing };

static void file_put(const char *root, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void pmu_put(const char *root, const char *name, const char *type)
{
	static const char *const files[][2] = {
		{ "format/event", "config:0-7\n" },
		{ "format/umask", "config:8-15\n" },
		{ "format/edge", "config:18\n" },
		{ "format/offcore_rsp", "config1:0-63\n" },
		{ "format/odd", "config2:0-3,32-35\n" },
		{ "events/slots", "event=0x00,umask=0x4\n" },
		{ "events/topdown-retiring", "event=0x00,umask=0x80\n" },
		{ "events/topdown-bad-spec", "event=0x00,umask=0x81\n" },
		{ "events/topdown-fe-bound", "event=0x00,umask=0x82\n" },
		{ "events/topdown-be-bound", "event=0x00,umask=0x83\n" },
		{ "events/loop", "loop\n" },
	};
	char path[128];

	snprintf(path, sizeof(path), "%s/type", name);
	file_put(root, path, type);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", name, files[i][0]);
		file_put(root, path, files[i][1]);
	}
}

static int folders_make(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(no_pmu, sizeof(no_pmu), "%s/none", folder);
	snprintf(one_pmu, sizeof(one_pmu), "%s/one", folder);
	snprintf(two_pmus, sizeof(two_pmus), "%s/two", folder);
	snprintf(tracing, sizeof(tracing), "%s/tracing", folder);
	file_put(no_pmu, "software/type", "1\n");
	pmu_put(one_pmu, "cpu", "4\n");
	file_put(one_pmu, "uncore_imc/type", "20\n");
	pmu_put(two_pmus, "cpu_atom", "10\n");
	pmu_put(two_pmus, "cpu_core", "4\n");
	file_put(two_pmus, "cpu_atom/cpus", "8-15\n");
	file_put(two_pmus, "cpu_core/cpus", "0-7\n");
	file_put(tracing, "sched/sched_switch/id", "316\n");
	return 0;
}

static int folders_remove(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command); /* NOLINT: a path of ours */
}

static struct counter_events parsed(const char *list, const struct counter_sources *sources)
{
	struct counter_events events = { 0 };
	struct err err = { 0 };

	assert_int_equal(counter_events_parse(&events, list, sources, &err), 0);
	return events;
}

static void knows_the_kernels_own(void **state)
{
	static const struct {
		const char *word, *name;
		uint32_t type;
		uint64_t config;
	} cases[] = {
		{ "task-clock", "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
		{ "cs", "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
		{ "faults", "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
		{ "cpu-cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ "branch-instructions", "branches", PERF_TYPE_HARDWARE,
		  PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		{ "L1-dcache-load-misses", "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000 },
		{ "LLC-stores", "LLC-stores", PERF_TYPE_HW_CACHE, 0x00102 },
		{ "dTLB-prefetch-misses", "dTLB-prefetch-misses", PERF_TYPE_HW_CACHE, 0x10203 },
		{ "r1A8", "r1A8", PERF_TYPE_RAW, 0x1a8 },
		{ "sched:sched_switch", "sched:sched_switch", PERF_TYPE_TRACEPOINT, 316 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct counter_events events = parsed(cases[i].word, &none);

		assert_int_equal(events.count, 1);
		assert_string_equal(events.items[0].name, cases[i].name);
		assert_int_equal(events.items[0].type, cases[i].type);
		assert_int_equal(events.items[0].config, cases[i].config);
		assert_int_equal(events.items[0].needs_pmu,
				 cases[i].type != PERF_TYPE_SOFTWARE &&
					 cases[i].type != PERF_TYPE_TRACEPOINT);
	}
}

static void groups_stay_together(void **state)
{
	struct counter_events events =
		parsed("cs,{cycles,instructions}:u,faults,{branches}", &none);

	(void)state;
	assert_int_equal(events.count, 5);
	assert_int_equal(events.items[1].group, events.items[2].group);
	assert_int_not_equal(events.items[0].group, events.items[1].group);
	assert_int_not_equal(events.items[3].group, events.items[1].group);
	assert_int_not_equal(events.items[4].group, events.items[3].group);
	assert_string_equal(events.items[2].name, "instructions:u");
	assert_string_equal(events.items[3].name, "page-faults");
}

static void modifiers_choose_modes(void **state)
{
	static const struct {
		const char *word;
		unsigned exclusions;
	} cases[] = {
		{ "cycles", 0 },
		{ "cycles:u", COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR },
		{ "cycles:k", COUNTER_NO_USER | COUNTER_NO_HYPERVISOR },
		{ "cycles:uk", COUNTER_NO_HYPERVISOR },
		{ "cycles:ukh", 0 },
		{ "cycles:G", COUNTER_NO_HOST },
		{ "cycles:uH", COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR | COUNTER_NO_GUEST },
		{ "sched:sched_switch:k", COUNTER_NO_USER | COUNTER_NO_HYPERVISOR },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct counter_events events = parsed(cases[i].word, &none);

		assert_int_equal(events.items[0].exclusions, cases[i].exclusions);
		assert_string_equal(events.items[0].name, cases[i].word);
	}
}

static void pmus_describe_their_events(void **state)
{
	struct counter_events events =
		parsed("cpu/event=0x3c,umask=1,edge/,cpu/offcore_rsp=0x10003/u,cpu/odd=0xa5/,slots,"
		       "cpu/topdown-retiring/,cpu/config=0x77/,cpu/cycles/",
		       &one);

	(void)state;
	assert_int_equal(events.count, 7);
	assert_int_equal(events.items[0].type, 4);
	assert_int_equal(events.items[0].config, 0x4013c);
	assert_int_equal(events.items[1].config1, 0x10003);
	assert_int_equal(events.items[1].exclusions, COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR);
	assert_true(events.items[2].config2 == 0xa00000005ull);
	assert_int_equal(events.items[3].config, 0x400);
	assert_string_equal(events.items[3].name, "slots");
	assert_int_equal(events.items[4].config, 0x8000);
	assert_int_equal(events.items[5].config, 0x77);
	assert_int_equal(events.items[6].type, PERF_TYPE_HARDWARE);
	assert_true(events.items[6].config == 4ull << 32);
}

/* Each kind of processor counts for itself, in a group of its own. */
static void two_kinds_of_processors(void **state)
{
	struct counter_events events = parsed("{cycles,instructions},cs,r11", &two);

	(void)state;
	assert_int_equal(events.count, 7);
	assert_string_equal(events.items[0].name, "cpu_atom/cycles/");
	assert_string_equal(events.items[1].name, "cpu_core/cycles/");
	assert_true(events.items[0].config == 10ull << 32);
	assert_true(events.items[3].config == (4ull << 32 | PERF_COUNT_HW_INSTRUCTIONS));
	assert_int_equal(events.items[0].group, events.items[2].group);
	assert_int_equal(events.items[1].group, events.items[3].group);
	assert_int_not_equal(events.items[0].group, events.items[1].group);
	assert_true(events.items[0].is_partial && !events.items[4].is_partial);
	assert_int_equal(events.items[5].type, 10);
	assert_int_equal(events.items[6].type, 4);
	assert_true(events.items[5].config == 0x11);
}

/* Named by hand it is the same event. */
static void one_of_two_kinds_of_processors(void **state)
{
	struct counter_events events =
		parsed("{cpu_core/cycles/,instructions},cpu_atom/event=1/u", &two);

	(void)state;
	assert_int_equal(events.count, 4);
	assert_true(events.items[0].is_partial && events.items[3].is_partial);
	assert_string_equal(events.items[2].pmu, "cpu_core");
	assert_int_equal(events.items[0].group, events.items[2].group);
	assert_int_not_equal(events.items[0].group, events.items[1].group);
	events = parsed("cpu/event=1/", &one);
	assert_false(events.items[0].is_partial);
}

static void checks_are_hidden_and_there_once(void **state)
{
	struct counter_events events = parsed("cycles,task-clock", &none);

	(void)state;
	counter_events_add_checks(&events);
	assert_int_equal(events.count, 3);
	assert_string_equal(events.items[2].base, "context-switches");
	assert_true(events.items[2].is_hidden && !events.items[1].is_hidden);
	counter_events_add_checks(&events);
	assert_int_equal(events.count, 3);
	/* In one mode only it is no check. */
	events = parsed("task-clock:u,cs", &none);
	counter_events_add_checks(&events);
	assert_int_equal(events.count, 3);
	assert_true(events.items[2].is_hidden);
	events.count = COUNTER_EVENTS_MAX;
	counter_events_add_checks(&events);
	assert_int_equal(events.count, COUNTER_EVENTS_MAX);
}

static void refuses_what_makes_no_sense(void **state)
{
	static const char *const lists[] = {
		"",
		",",
		"cycles,",
		"{",
		"{}",
		"{cycles",
		"{cycles,}",
		"cycles}",
		"{cycles,{faults}}",
		"cycles:x",
		"cycles:p",
		"cyles",
		"r",
		"rxyz",
		"r11111111111111111",
		"cpu/",
		"cpu//",
		"cpu/event/x",
		"cpu/event=/",
		"cpu/event=0x1ff/",
		"cpu/nosuch=1/",
		"cpu/loop/",
		"cpu/../type/",
		"../one/cpu/event=1/",
		"nosuch/event=1/",
		"sched:nosuch",
		"sched:../sched/sched_switch",
		"L1-dcache",
		"L1-dcache-loads-misses",
		"a-name-that-is-longer-than-the-name-of-any-event-that-there-is-or-ever-was",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct counter_events events = { 0 };
		struct err err = { 0 };

		if (counter_events_parse(&events, lists[i], &one, &err) >= 0)
			fail_msg("'%s' was taken", lists[i]);
		assert_int_equal(err.exit, EXIT_USAGE);
		assert_true(err.what[0] && err.fix[0]);
	}
}

static void takes_no_more_than_it_has_room_for(void **state)
{
	struct counter_events events = { 0 };
	struct err err = { 0 };
	int r = 0;

	(void)state;
	for (unsigned i = 0; !r && i <= COUNTER_EVENTS_MAX; i++)
		r = counter_events_parse(&events, "cs", &none, &err);
	assert_int_equal(r, -E2BIG);
	assert_int_equal(events.count, COUNTER_EVENTS_MAX);
}

static bool has_event(const struct counter_events *events, const char *name)
{
	for (size_t i = 0; i < events->count; i++)
		if (!strcmp(events->items[i].name, name))
			return true;
	return false;
}

static void the_default_has_topdown_where_it_is(void **state)
{
	struct counter_events with = { 0 }, without = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(counter_events_default(&with, &one, &err), 0);
	assert_int_equal(counter_events_default(&without, &none, &err), 0);
	assert_true(has_event(&with, "topdown-be-bound"));
	assert_true(with.items[with.count - 1].is_optional);
	assert_false(has_event(&without, "topdown-be-bound"));
	assert_true(has_event(&without, "instructions"));
	assert_true(counter_has_pmu(&one) && counter_has_pmu(&two) && !counter_has_pmu(&none));
}

static void name_count(const char *name, void *context)
{
	assert_true(name[0]);
	++*(size_t *)context;
}

static void lists_names_that_it_takes(void **state)
{
	size_t with = 0, without = 0;

	(void)state;
	counter_names_visit(&one, name_count, &with);
	counter_names_visit(&none, name_count, &without);
	assert_int_equal(with, without + 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_kernels_own),
		cmocka_unit_test(groups_stay_together),
		cmocka_unit_test(modifiers_choose_modes),
		cmocka_unit_test(pmus_describe_their_events),
		cmocka_unit_test(two_kinds_of_processors),
		cmocka_unit_test(one_of_two_kinds_of_processors),
		cmocka_unit_test(checks_are_hidden_and_there_once),
		cmocka_unit_test(refuses_what_makes_no_sense),
		cmocka_unit_test(takes_no_more_than_it_has_room_for),
		cmocka_unit_test(the_default_has_topdown_where_it_is),
		cmocka_unit_test(lists_names_that_it_takes),
	};

	return cmocka_run_group_tests(tests, folders_make, folders_remove);
}
