/*
 * Expressions that tools give: in nodes of the catalog, and whatever the text is, nothing that
 * leads outside of them.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "host/counters/amd/catalog.h"
#include "target/amd/sinks/sdk/counters/created_nodes.h"

#define ROUNDS 200000

static struct catalog *catalog;
static const struct catalog_device *device;
static struct created_nodes nodes;

static int catalog_open(void **state)
{
	struct err err = { 0 };
	size_t size;
	int r;

	(void)state;
	setenv("HSA_MODEL_TOPOLOGY", getenv("TOPOLOGY"), 1);
	r = counter_catalog_make(&(struct catalog_origin){ .folder = getenv("DEFINITIONS") },
				 (void **)&catalog, &size, &err);
	device = r ? NULL : catalog_list(catalog, CATALOG_DEVICES);
	return r;
}

static int catalog_close(void **state)
{
	(void)state;
	free(catalog);
	return 0;
}

static bool read_text(const char *text)
{
	return created_nodes_make(&nodes, text, strlen(text), catalog, device);
}

static void names_become_what_they_are_made_of(void **state)
{
	(void)state;
	assert_true(read_text("SQ_WAVES"));
	assert_int_equal(nodes.count, 1);
	assert_int_equal(nodes.items[0].kind, CATALOG_EVENT);
	assert_true(read_text("1 + 2 * TCC_HIT_sum"));
	assert_int_equal(nodes.count, 6); /* 1, 2, TCC_HIT, its sum, *, + */
	assert_int_equal(nodes.items[3].kind, CATALOG_REDUCE);
	assert_int_equal(nodes.items[3].left, 2);
	assert_int_equal(nodes.items[4].kind, CATALOG_MULTIPLY);
	assert_int_equal(nodes.items[4].left, 1);
	assert_int_equal(nodes.items[5].kind, CATALOG_ADD);
	assert_int_equal(nodes.items[5].right, 4);
}

static void sides_are_taken_from_the_left(void **state)
{
	(void)state;
	assert_true(read_text("7-2-1"));
	assert_int_equal(nodes.items[4].left, 2);
	assert_int_equal(nodes.items[2].left, 0);
	assert_true(read_text("(7.25)/2"));
	assert_true(nodes.items[0].number == 7.25);
}

static void choices_and_flags_are_added(void **state)
{
	const struct catalog_choice *choice = nodes.choices;

	(void)state;
	assert_true(read_text("select(TCC_HIT,[DIMENSION_XCC=[0:1,3],DIMENSION_INSTANCE=[2]])"));
	assert_int_equal(nodes.choice_count, 1);
	assert_int_equal(choice->numbers[0], 11);
	assert_int_equal(choice->numbers[5], 4);
	assert_int_equal(nodes.items[1].what, catalog->lists[CATALOG_CHOICES].count);
	assert_true(read_text("reduce(accumulate(SQ_WAVES,HIGH_RES),max,[DIMENSION_XCC])"));
	assert_int_equal(nodes.events[0].flags, 2);
	assert_int_equal(nodes.items[0].what, catalog->lists[CATALOG_EVENTS].count);
}

/* Values come to one of two events that are the same. */
static void the_same_event_is_there_once(void **state)
{
	const struct catalog_event *events = catalog_list(catalog, CATALOG_EVENTS);
	uint32_t own = catalog->lists[CATALOG_EVENTS].count;

	(void)state;
	assert_true(read_text("accumulate(SQ_WAVES,LOW_RES)+accumulate(SQ_WAVES,LOW_RES)"));
	assert_int_equal(nodes.event_count, 1);
	assert_int_equal(nodes.items[0].what, own);
	assert_int_equal(nodes.items[1].what, own);
	/* OCCUPANCY has it already. */
	assert_true(read_text("accumulate(SQ_LEVEL_WAVES,HIGH_RES)"));
	assert_int_equal(nodes.event_count, 0);
	assert_true(nodes.items[0].what < own);
	assert_int_equal(events[nodes.items[0].what].event, 14);
	assert_int_equal(events[nodes.items[0].what].flags, 2);
}

/* AMD's library ends the program for it. */
static void only_sq_accumulates(void **state)
{
	(void)state;
	assert_false(read_text("accumulate(TCC_HIT,HIGH_RES)"));
	assert_false(read_text("accumulate(GRBM_COUNT,LOW_RES)"));
	assert_true(read_text("accumulate(TCC_HIT,NONE)"));
	assert_int_equal(nodes.count, 1);
	assert_int_equal(nodes.event_count, 0);
}

static void check_nodes(void)
{
	for (uint32_t i = 0; i < nodes.count; i++) {
		const struct catalog_node *node = &nodes.items[i];

		assert_in_range(node->kind, CATALOG_NUMBER, CATALOG_NODE_KINDS - 1);
		if (node->kind >= CATALOG_ADD)
			assert_true(node->left < i);
		if (node->kind >= CATALOG_ADD && node->kind <= CATALOG_DIVIDE)
			assert_true(node->right < i);
	}
}

/* Put together from what the grammar has; each text ends where its memory does. */
static void no_text_leads_outside(void **state)
{
	static const char *const parts[] = {
		"(",        ")",           "+",        "-",         "*",
		"/",        ",",           "[",        "]",         "=",
		":",        ".",           " ",        "0",         "9",
		"63",       "64",          "SQ_WAVES", "HIT_SHARE", "reduce(",
		"select(",  "accumulate(", "sum",      "avr",       "DIMENSION_XCC",
		"HIGH_RES", "ITSELF",      "\xff",     ""
	};
	unsigned seed = 1, accepted = 0;

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		char text[256] = "", *exact;
		size_t length = 0;

		for (unsigned left = (unsigned)rand_r(&seed) % 12; left; left--) {
			const char *part =
				parts[(unsigned)rand_r(&seed) % (sizeof(parts) / sizeof(parts[0]))];

			memcpy(text + length, part, strlen(part));
			length += strlen(part);
		}
		exact = malloc(length ? length : 1);
		assert_non_null(exact);
		memcpy(exact, text, length);
		if (created_nodes_make(&nodes, exact, length, catalog, device)) {
			accepted++;
			check_nodes();
		}
		free(exact);
	}
	assert_true(accepted > ROUNDS / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_become_what_they_are_made_of),
		cmocka_unit_test(sides_are_taken_from_the_left),
		cmocka_unit_test(choices_and_flags_are_added),
		cmocka_unit_test(the_same_event_is_there_once),
		cmocka_unit_test(only_sq_accumulates),
		cmocka_unit_test(no_text_leads_outside),
	};

	return cmocka_run_group_tests(tests, catalog_open, catalog_close);
}
