/*
 * The catalog of counters that goes to a target: what the host makes of definitions, and what the
 * target believes of its bytes.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/counters/amd/catalog.h"
#include "shared/wire/catalog.h"

static struct catalog *catalog;
static size_t size;

static int catalog_open(void **state)
{
	struct err err = { 0 };

	(void)state;
	setenv("HSA_MODEL_TOPOLOGY", getenv("TOPOLOGY"), 1);
	return counter_catalog_make(&(struct catalog_origin){ .folder = getenv("DEFINITIONS") },
				    (void **)&catalog, &size, &err);
}

static int catalog_close(void **state)
{
	(void)state;
	free(catalog);
	return 0;
}

static const struct catalog_counter *counter_named(const char *name)
{
	const struct catalog_counter *counters = catalog_list(catalog, CATALOG_COUNTERS);

	for (uint32_t i = 0; i < catalog->lists[CATALOG_COUNTERS].count; i++)
		if (!strcmp(catalog_text(catalog, counters[i].name), name))
			return &counters[i];
	fail_msg("%s is not there", name);
	return NULL;
}

static const struct catalog_node *nodes_of(const struct catalog_counter *counter)
{
	return (const struct catalog_node *)catalog_list(catalog, CATALOG_NODES) + counter->first;
}

static void devices_of_one_kind_share_their_counters(void **state)
{
	const struct catalog_device *devices = catalog_list(catalog, CATALOG_DEVICES);

	(void)state;
	assert_int_equal(catalog_check(catalog, size), 0);
	assert_int_equal(catalog->lists[CATALOG_DEVICES].count, 2);
	assert_int_equal(devices[0].node, 1);
	assert_int_equal(devices[1].node, 2);
	assert_int_equal(devices[0].first, devices[1].first);
	assert_int_equal(devices[0].count, devices[1].count);
	assert_int_equal(devices[0].count + CATALOG_SPARES, catalog->lists[CATALOG_COUNTERS].count);
	assert_string_equal(catalog_text(catalog, devices[0].architecture), "gfx942");
	assert_int_equal(devices[0].xccs, 2);
}

static void expressions_become_nodes_of_events(void **state)
{
	const struct catalog_event *events = catalog_list(catalog, CATALOG_EVENTS);
	const struct catalog_counter *waves = counter_named("SQ_WAVES");
	const struct catalog_counter *sum = counter_named("TCC_HIT_sum");
	const struct catalog_node *nodes = nodes_of(sum);

	(void)state;
	assert_int_equal(waves->count, 1);
	assert_int_equal(nodes_of(waves)->kind, CATALOG_EVENT);
	assert_int_equal(events[nodes_of(waves)->what].event, 4);
	assert_int_equal(events[nodes_of(waves)->what].limit, 8);
	assert_int_equal(sum->count, 2);
	assert_int_equal(nodes[1].kind, CATALOG_REDUCE);
	assert_int_equal(nodes[1].what, CATALOG_SUM);
	assert_int_equal(nodes[1].left, 0);
	assert_string_equal(catalog_text(catalog, events[nodes[0].what].block), "TCC");
}

static void what_makes_no_sense_has_no_nodes(void **state)
{
	(void)state;
	assert_int_equal(counter_named("ITSELF")->count, 0);
	assert_int_equal(counter_named("HALF")->count, 0);
}

static void refuses_what_leads_nowhere(void **state)
{
	struct catalog *copy = malloc(size);

	(void)state;
	assert_non_null(copy);
	for (size_t cut = 0; cut < size; cut += 8) {
		memcpy(copy, catalog, size);
		assert_int_equal(catalog_check(copy, cut), -EPROTO);
	}
	for (unsigned i = 0; i < CATALOG_LISTS; i++) {
		memcpy(copy, catalog, size);
		copy->lists[i].count = UINT32_MAX / 2;
		assert_int_equal(catalog_check(copy, size), -EPROTO);
		memcpy(copy, catalog, size);
		copy->lists[i].at = (uint32_t)size + 8;
		assert_int_equal(catalog_check(copy, size), -EPROTO);
	}
	free(copy);
}

static void nodes_never_lead_to_themselves(void **state)
{
	const struct catalog_counter *sum = counter_named("TCC_HIT_sum");
	struct catalog *copy = malloc(size);
	struct catalog_node *nodes;

	(void)state;
	assert_non_null(copy);
	memcpy(copy, catalog, size);
	nodes = (struct catalog_node *)((char *)copy + copy->lists[CATALOG_NODES].at) + sum->first;
	nodes[1].left = 1;
	assert_int_equal(catalog_check(copy, size), -EPROTO);
	nodes[1].left = 0;
	assert_int_equal(catalog_check(copy, size), 0);
	nodes[0].what = copy->lists[CATALOG_EVENTS].count;
	assert_int_equal(catalog_check(copy, size), -EPROTO);
	free(copy);
}

static int make_of_tool(unsigned count, struct err *err)
{
	CLEANUP(free) char *text = malloc(200 + 64 * (size_t)count);
	CLEANUP(free) void *made = NULL;
	struct catalog_origin origin = { .text = text, .is_text_all = true };
	size_t made_size;

	assert_non_null(text);
	strcpy(text, "rocprofiler-sdk:\n  counters:\n  - name: A\n    definitions:\n");
	origin.text_size = strlen(text);
	for (unsigned i = 0; i < count; i++)
		origin.text_size +=
			(size_t)sprintf(text + origin.text_size,
					"    - {architectures: [gfx1], block: B, event: %u}\n", i);
	return counter_catalog_make(&origin, &made, &made_size, err);
}

/* A program waits while plans are made of them. */
static void tools_bring_so_many_and_no_more(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(make_of_tool(DEFINITIONS_TOOL_MAX, &err), 0);
	assert_int_equal(make_of_tool(DEFINITIONS_TOOL_MAX + 1, &err), -EINVAL);
	assert_non_null(strstr(err.why, "a tool has more definitions than 16384"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_of_one_kind_share_their_counters),
		cmocka_unit_test(expressions_become_nodes_of_events),
		cmocka_unit_test(what_makes_no_sense_has_no_nodes),
		cmocka_unit_test(refuses_what_leads_nowhere),
		cmocka_unit_test(nodes_never_lead_to_themselves),
		cmocka_unit_test(tools_bring_so_many_and_no_more),
	};

	return cmocka_run_group_tests(tests, catalog_open, catalog_close);
}
