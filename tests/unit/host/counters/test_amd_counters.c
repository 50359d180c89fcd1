/*
 * AMD's counters on the host: definitions, expressions, and what fits into a pass.  Definitions are
 * our own, in the form of AMD's.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/counters/amd/formulas.h"
#include "host/counters/amd/request.h"

static const struct counter_device device = { .node = 1,
					      .architecture = "gfx942",
					      .properties = "simd_count 32\nsimd_per_cu 4\n" };
static const struct plan_devices devices = { &device, 1, 0 };
static struct amd_counters definitions;

/* A has four values, at (0,0) to (1,1) of XCC and SE; B has one. */
static int values_find(struct text name, enum accumulation accumulation, struct counter_values *ret,
		       void *context)
{
	static const double numbers[] = { 1, 2, 3, 4 };
	size_t count = text_equals(name, "A") ? 4 : text_equals(name, "B") ? 1 : 0;

	(void)context;
	if (!count)
		return -ENOENT;
	ret->items = calloc(count, sizeof(*ret->items));
	assert_non_null(ret->items);
	ret->count = count;
	for (size_t i = 0; i < count; i++) {
		ret->items[i].place = place_of(DIMENSION_XCC, (unsigned)i / 2) |
				      place_of(DIMENSION_SHADER_ENGINE, (unsigned)i % 2);
		ret->items[i].value = (count == 1 ? 10 : numbers[i]) * (accumulation ? 100 : 1);
	}
	return 0;
}

static double value_of(const char *text)
{
	struct expression *expression = malloc(sizeof(*expression));
	struct counter_values values;
	struct err err = { 0 };
	double sum;

	assert_non_null(expression);
	if (expression_read(expression, text, &err))
		fail_msg("%s: %s", err.what, err.why);
	assert_int_equal(expression_evaluate(expression, values_find, NULL, &values), 0);
	sum = counter_values_sum(&values);
	free(values.items);
	free(expression);
	return sum;
}

static void computes_what_expressions_say(void **state)
{
	(void)state;
	assert_float_equal(value_of("1+2*3-4/2"), 5, 0);
	assert_float_equal(value_of("(1+2)*3"), 9, 0);
	assert_float_equal(value_of("10-4-3"), 3, 0);
	assert_float_equal(value_of("1.5*2"), 3, 0);
	assert_float_equal(value_of("A"), 10, 0);
	assert_float_equal(value_of("reduce(A,sum)"), 10, 0);
	assert_float_equal(value_of("reduce(A,max)"), 4, 0);
	assert_float_equal(value_of("reduce( A , min )"), 1, 0);
	assert_float_equal(value_of("reduce(A,avr)"), 2.5, 0);
	/* Over one dimension: {1,3} and {2,4} */
	assert_float_equal(value_of("reduce(A,max,[DIMENSION_XCC])"), 7, 0);
	assert_float_equal(value_of("reduce(reduce(A,sum,[DIMENSION_XCC]),max)"), 6, 0);
	assert_float_equal(value_of("select(A,[DIMENSION_XCC=[1]])"), 7, 0);
	assert_float_equal(value_of("select(A,[DIMENSION_XCC=[0:1],DIMENSION_SHADER_ENGINE=[0]])"),
			   4, 0);
	assert_float_equal(value_of("reduce(accumulate(A,HIGH_RES),sum)"), 1000, 0);
	assert_float_equal(value_of("reduce(A,sum)/(B-B)"), 0, 0);
	/* Of what is chosen by one number the dimension is gone, as at AMD's. */
	assert_float_equal(value_of("select(A,[DIMENSION_XCC=[1]])-select(A,[DIMENSION_XCC=[0]])"),
			   4, 0);
	assert_float_equal(value_of("reduce(select(A,[SE=[1]]),sum,[XCD])"), 6, 0);
}

static void reads_numbers_as_they_are_written(void **state)
{
	static const struct {
		const char *text;
		double number;
	} cases[] = {
		{ "0.1", 0.1 },
		{ ".5", .5 },
		{ "7.", 7 },
		{ "1e3", 1e3 },
		{ "2.5E-6", 2.5e-6 },
		{ "1e+22", 1e22 },
		{ "0000000000000000000000000012.5", 12.5 },
		{ "123456789012345678901234567890", 123456789012345678901234567890. },
		{ "0.000000000000000000000000000001", 1e-30 },
		{ "1e-5000", 0 },
		{ "0e999999999999", 0 },
		{ "\t3\n", 3 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (value_of(cases[i].text) < cases[i].number * (1 - 1e-15) ||
		    value_of(cases[i].text) > cases[i].number * (1 + 1e-15))
			fail_msg("%s: %.17g", cases[i].text, value_of(cases[i].text));
}

/* A, and C, which has as many values at other places. */
static int values_elsewhere(struct text name, enum accumulation accumulation,
			    struct counter_values *ret, void *context)
{
	int r = values_find(text_of("A"), accumulation, ret, context);

	for (size_t i = 0; text_equals(name, "C") && i < ret->count; i++)
		ret->items[i].place = place_of(DIMENSION_INSTANCE, (unsigned)i);
	/* D: as A, in another order. */
	if (text_equals(name, "D")) {
		struct counter_value first = ret->items[0];

		ret->items[0] = ret->items[3];
		ret->items[3] = first;
	}
	return r;
}

static void combines_values_of_the_same_place(void **state)
{
	struct expression *expression = malloc(sizeof(*expression));
	struct counter_values values;
	struct err err = { 0 };

	(void)state;
	assert_non_null(expression);
	assert_int_equal(expression_read(expression, "A+C", &err), 0);
	assert_int_equal(expression_evaluate(expression, values_elsewhere, NULL, &values), -EINVAL);
	assert_int_equal(expression_read(expression, "reduce(A/D,max)", &err), 0);
	assert_int_equal(expression_evaluate(expression, values_elsewhere, NULL, &values), 0);
	assert_true(values.items[0].value == 1);
	free(values.items);
	free(expression);
}

/* AMD's own evaluation exchanges the operands where the left one has fewer values. */
static void keeps_operands_in_their_places(void **state)
{
	(void)state;
	assert_float_equal(value_of("B-A"), 30, 0);
	assert_float_equal(value_of("A-B"), -30, 0);
	assert_float_equal(value_of("reduce(12/A,max)"), 12, 0);
}

static bool is_counted(struct text name, const void *context)
{
	(void)context;
	return !text_equals(name, "simd_count");
}

static void knows_which_add_up_over_time(void **state)
{
	static const struct {
		const char *text;
		bool adds_up;
	} cases[] = {
		{ "A", true },        { "reduce(A,sum)+reduce(B,max)", true },
		{ "64*A/8", true },   { "accumulate(A,HIGH_RES)/4", true },
		{ "100*A/B", false }, { "A+1", false },
		{ "A*B", false },     { "7", false },
	};
	struct expression *expression = malloc(sizeof(*expression));

	(void)state;
	assert_non_null(expression);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(expression_read(expression, cases[i].text, &(struct err){ 0 }), 0);
		assert_int_equal(expression_adds_up(expression, is_counted, NULL),
				 cases[i].adds_up);
	}
	free(expression);
}

static void refuses_expressions_that_are_none(void **state)
{
	static const char *const texts[] = { "",
					     "1+",
					     "(1",
					     "1)",
					     "reduce(A)",
					     "reduce(A,mean)",
					     "reduce(A,sum,[NOWHERE])",
					     "select(A,[DIMENSION_XCC=[70]])",
					     "select(A,[DIMENSION_XCC=[3:1]])",
					     "accumulate(1,HIGH_RES)",
					     "1.2.3",
					     ".",
					     "1e",
					     "1e999",
					     "A $ B" };
	struct expression *expression = malloc(sizeof(*expression));
	char deep[256];

	(void)state;
	assert_non_null(expression);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct err err = { 0 };

		assert_int_equal(expression_read(expression, texts[i], &err), -EINVAL);
		assert_int_equal(err.exit, EXIT_USAGE);
		assert_true(err.why[0]);
	}
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(expression_read(expression, deep, &(struct err){ 0 }), -EINVAL);
	free(expression);
}

static void reads_definitions_of_every_architecture(void **state)
{
	const struct amd_counter *counter;

	(void)state;
	counter = amd_counter_find(&definitions, "gfx90a", "SQ_WAVES");
	assert_non_null(counter);
	assert_string_equal(counter->block, "SQ");
	assert_int_equal(counter->event, 4);
	assert_string_equal(counter->description, "Waves that were started.");
	assert_null(amd_counter_find(&definitions, "gfx90a", "WAVES_PER_CU"));
	assert_null(amd_counter_find(&definitions, "gfx1100", "SQ_WAVES"));
}

#define DEFINE(block, architecture)                                                                     \
	"rocprofiler-sdk:\n counters:\n - name: A\n   definitions:\n   - architectures: [" architecture \
	"]\n     event: 4\n     block: " block "\n"

static void takes_blocks_of_31_letters(void **state)
{
	static const char text[] = DEFINE("a_23456789012345678901234567890", "gfx942");
	struct amd_counters counters = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(amd_counters_parse(&counters, text, strlen(text), "x.yaml", &err), 0);
	assert_int_equal(counters.count, 1);
	amd_counters_done(&counters);
}

static void refuses_files_that_define_nothing(void **state)
{
	static const struct {
		const char *text, *why;
	} files[] = {
		{ "", "under" },
		{ "a: b\n", "under" },
		{ "a: &x b\n", "anchors" },
		{ "a: [b\n", "YAML" },
		{ "rocprofiler-sdk:\n counters:\n - definitions:\n   - block: SQ\n", "name" },
		{ "rocprofiler-sdk:\n counters:\n - name: A\n   definitions:\n   - block: SQ\n",
		  "an event" },
		{ "rocprofiler-sdk:\n counters:\n - name: A\n   definitions:\n   - block: SQ\n"
		  "     event: x\n",
		  "number" },
		{ "rocprofiler-sdk:\n counters:\n - A\n", "mapping" },
		{ DEFINE("'SQ;counter-event=1'", "gfx942"), "a block is no name" },
		{ DEFINE("'SQ,1'", "gfx942"), "a block is no name" },
		{ DEFINE("''", "gfx942"), "a block is no name" },
		{ DEFINE("A1234567890123456789012345678901", "gfx942"), "a block is no name" },
		{ DEFINE("SQ", "'gfx942;'"), "an architecture is no name" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct amd_counters counters = { 0 };
		struct err err = { 0 };

		assert_int_equal(amd_counters_parse(&counters, files[i].text, strlen(files[i].text),
						    "x.yaml", &err),
				 -EINVAL);
		if (!strstr(err.why, files[i].why))
			fail_msg("'%s': %s", files[i].text, err.why);
		amd_counters_done(&counters);
	}
}

static void says_where_definitions_were_looked_for(void **state)
{
	struct amd_counters counters = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(amd_counters_load(&counters, "/nonexistent", &err), -ENOENT);
	assert_int_equal(err.exit, EXIT_USAGE);
	assert_non_null(strstr(err.fix, "ROCPROFILER_METRICS_PATH"));
}

static int plan_make(struct counter_plan *plan, const char *names, struct err *err)
{
	const char *list[8];
	char text[256];
	size_t count = 0;

	strcpy(text, names);
	for (char *at = strtok(text, " "); at; at = strtok(NULL, " "))
		list[count++] = at;
	*err = (struct err){ 0 };
	return counter_plan_make(plan, &definitions, &devices, list, count, err);
}

static void plans_what_counters_are_made_of(void **state)
{
	struct counter_plan plan;
	struct err err;

	(void)state;
	assert_int_equal(plan_make(&plan, "WAVES_PER_CU HIT_SHARE OCCUPANCY SQ_WAVES", &err), 0);
	assert_int_equal(plan.counter_count, 4);
	assert_string_equal(plan.counters[0].expanded, "(reduce(SQ_WAVES,sum)/((32/4)))");
	assert_string_equal(plan.counters[1].expanded,
			    "((100*(reduce(TCC_HIT,sum)))/reduce(TCC_REQ,sum))");
	assert_int_equal(plan.event_count, 5); /* SQ_WAVES once */
	assert_string_equal(plan.events[3].name, "SQ_LEVEL_WAVES");
	assert_int_equal(plan.events[3].flags, ACCUMULATE_HIGH_RES);
	assert_int_equal(plan.passes, 1);
	assert_int_equal(counter_plan_check(&plan, &err), 0);
	counter_plan_done(&plan);
}

/* What has flags of its own is one event, however often it is named; accumulated it is another. */
static void plans_an_event_once_for_its_flags(void **state)
{
	static const char text[] =
		"rocprofiler-sdk:\n counters:\n"
		" - name: F\n   definitions:\n   - architectures: [gfx942]\n     block: SQ\n"
		"     event: 4294967300\n"
		" - name: E\n   definitions:\n   - architectures: [gfx942]\n"
		"     expression: F+F+accumulate(F,HIGH_RES)\n";
	struct amd_counters counters = { 0 };
	struct counter_plan plan;
	const char *const name = "E";
	struct err err = { 0 };

	(void)state;
	assert_int_equal(amd_counters_parse(&counters, text, strlen(text), "x.yaml", &err), 0);
	assert_int_equal(counter_plan_make(&plan, &counters, &devices, &name, 1, &err), 0);
	assert_int_equal(plan.event_count, 2);
	assert_int_equal(plan.events[0].flags, 1);
	assert_int_equal(plan.events[1].flags, ACCUMULATE_HIGH_RES);
	counter_plan_done(&plan);
	amd_counters_done(&counters);
}

/* Of an expression of F, which SQ counts, and T, which TCC does. */
static int expression_plan(const char *expression, struct err *err)
{
	static const char head[] =
		"rocprofiler-sdk:\n counters:\n"
		" - name: F\n   definitions:\n   - architectures: [gfx942]\n     block: SQ\n"
		"     event: 4\n"
		" - name: T\n   definitions:\n   - architectures: [gfx942]\n     block: TCC\n"
		"     event: 4\n"
		" - name: E\n   definitions:\n   - architectures: [gfx942]\n     expression: ";
	struct amd_counters counters = { 0 };
	struct counter_plan plan;
	const char *const name = "E";
	char text[4096];
	int r;

	snprintf(text, sizeof(text), "%s%s\n", head, expression);
	assert_int_equal(amd_counters_parse(&counters, text, strlen(text), "x.yaml", err), 0);
	r = counter_plan_make(&plan, &counters, &devices, &name, 1, err);
	if (!r) {
		struct expression *again = malloc(sizeof(*again));

		assert_non_null(again);
		assert_int_equal(expression_read(again, plan.counters[0].expanded, err), 0);
		free(again);
		counter_plan_done(&plan);
	}
	amd_counters_done(&counters);
	return r;
}

/* Values are computed from the expanded text: what cannot be read there has none. */
static void plans_what_can_be_computed_only(void **state)
{
	struct err err = { 0 };
	char terms[256] = "F";

	(void)state;
	assert_int_equal(expression_plan("0.00001*F", &err), 0);
	assert_int_equal(expression_plan("1e30*F", &err), 0);
	assert_int_equal(expression_plan("accumulate(F,HIGH_RES)", &err), 0);
	assert_int_equal(expression_plan("accumulate(T,NONE)", &err), 0);
	assert_int_equal(expression_plan("accumulate(T,HIGH_RES)", &err), -EINVAL);
	assert_non_null(strstr(err.why, "SQ"));
	while (strlen(terms) < 2 * 62)
		strcat(terms, "+F");
	err = (struct err){ 0 };
	assert_int_equal(expression_plan(terms, &err), 0);
	strcat(terms, "+F+F+F+F");
	assert_int_equal(expression_plan(terms, &err), -EINVAL);
	assert_non_null(strstr(err.why, "too much"));
}

static void refuses_what_does_not_fit_at_once(void **state)
{
	struct counter_plan plan;
	struct err err;

	(void)state;
	assert_int_equal(
		plan_make(&plan, "GRBM_COUNT GRBM_GUI_ACTIVE GRBM_SPI_BUSY SQ_WAVES", &err), 0);
	assert_int_equal(plan.passes, 2);
	assert_int_equal(counter_plan_check(&plan, &err), -E2BIG);
	assert_non_null(strstr(err.what, "exceeds the capabilities of the hardware"));
	assert_non_null(strstr(err.why, "GRBM_SPI_BUSY"));
	assert_non_null(strstr(err.fix, "GRBM_COUNT GRBM_GUI_ACTIVE SQ_WAVES"));
	counter_plan_done(&plan);
}

static void refuses_what_is_not_defined(void **state)
{
	const struct counter_device other = { .node = 1, .architecture = "gfx1100" };
	const char *const name = "SQ_WAVES";
	struct counter_plan plan;
	struct err err;

	(void)state;
	assert_int_equal(plan_make(&plan, "NO_SUCH SQ_WAVES", &err), 0);
	assert_string_equal(plan.unknown, "NO_SUCH");
	counter_plan_done(&plan);
	assert_int_equal(plan_make(&plan, "NO_SUCH NOR_THIS", &err), -ENOENT);
	assert_non_null(strstr(err.why, "NO_SUCH NOR_THIS"));
	assert_int_equal(plan_make(&plan, "ITSELF", &err), -EINVAL);
	assert_non_null(strstr(err.why, "itself"));
	assert_int_equal(plan_make(&plan, "HALF", &err), -EINVAL);
	assert_non_null(strstr(err.why, "NOWHERE"));
	err = (struct err){ 0 };
	assert_int_equal(counter_plan_make(&plan, &definitions,
					   &(struct plan_devices){ &other, 1, 0 }, &name, 1, &err),
			 -ENOENT);
	assert_non_null(strstr(err.what, "gfx1100"));
}

/* Two of one architecture, of which one has twice as much. */
static void asks_each_device_what_it_has(void **state)
{
	const struct counter_device two[] = { device,
					      { .node = 2,
						.architecture = "gfx942",
						.properties = "simd_count 64\nsimd_per_cu 4\n" } };
	const struct record_count counts[] = { { 0, 80 } };
	const char *name = "WAVES_PER_CU";
	struct recorded_counter facts[2] = { { .is_event = true } };
	struct counter_formulas formulas;
	struct counter_values values;
	struct counter_plan plan;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(counter_plan_make(&plan, &definitions, &(struct plan_devices){ two, 2, 0 },
					   &name, 1, &err),
			 0);
	assert_non_null(strstr(plan.counters[0].expanded, "simd_count"));
	assert_null(strstr(plan.counters[0].expanded, "simd_per_cu"));
	facts[0].name = plan.events[0].name;
	facts[1].expanded = plan.counters[0].expanded;
	counter_formulas_init(&formulas, facts, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct event_counts of_device = { counts, 1, two[i].properties };

		assert_int_equal(counter_formula_values(&formulas, 0, &of_device, &values), 0);
		assert_true(values.items[0].value == (i ? 80. / 16 : 80. / 8));
		free(values.items);
	}
	/* Events that this device does not count are not 0. */
	assert_int_equal(counter_formula_values(
				 &formulas, 0, &(struct event_counts){ NULL, 0, two[0].properties },
				 &values),
			 -ENOENT);
	counter_formulas_done(&formulas);
	counter_plan_done(&plan);
}

/* As many as there may be, and some: a node of a machine that is cut into pieces. */
static void asks_64_devices(void **state)
{
	static struct counter_collection collection;
	const char *names[] = { "SQ_WAVES", "GRBM_COUNT:device=63" };
	const struct counter_wish wish = { .folder = getenv("DEFINITIONS"),
					   .names = names,
					   .count = 2 };
	char folder[] = "/tmp/test_amd_counters.XXXXXX", command[512];
	struct err err = { 0 };
	unsigned count = 0;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command),
		 "for i in $(seq 0 69); do mkdir -p %s/nodes/$i; echo 'gfx_target_version 90402\n"
		 "simd_count 32\nlocation_id 123456' > %s/nodes/$i/properties; done",
		 folder, folder);
	assert_int_equal(system(command), 0);
	assert_int_equal(setenv("HSA_MODEL_TOPOLOGY", folder, 1), 0);
	assert_int_equal(counter_collection_open(&collection, &wish, &err), 0);
	for (const char *at = collection.words; (at = strstr(at, "counter-device=")); at++)
		count++;
	assert_int_equal(count, 64);
	assert_non_null(strstr(collection.words, "counter-event=4,0,SQ;"));
	assert_non_null(strstr(collection.words, "GRBM@63;"));
	assert_non_null(strstr(collection.left_out, "6 more than 64"));
	counter_collection_close(&collection);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static int definitions_load(void **state)
{
	struct err err = { 0 };

	(void)state;
	return amd_counters_load(&definitions, getenv("DEFINITIONS"), &err);
}

static int definitions_drop(void **state)
{
	(void)state;
	amd_counters_done(&definitions);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks_each_device_what_it_has),
		cmocka_unit_test(asks_64_devices),
		cmocka_unit_test(computes_what_expressions_say),
		cmocka_unit_test(reads_numbers_as_they_are_written),
		cmocka_unit_test(combines_values_of_the_same_place),
		cmocka_unit_test(plans_what_can_be_computed_only),
		cmocka_unit_test(knows_which_add_up_over_time),
		cmocka_unit_test(keeps_operands_in_their_places),
		cmocka_unit_test(refuses_expressions_that_are_none),
		cmocka_unit_test(reads_definitions_of_every_architecture),
		cmocka_unit_test(takes_blocks_of_31_letters),
		cmocka_unit_test(refuses_files_that_define_nothing),
		cmocka_unit_test(says_where_definitions_were_looked_for),
		cmocka_unit_test(plans_what_counters_are_made_of),
		cmocka_unit_test(plans_an_event_once_for_its_flags),
		cmocka_unit_test(refuses_what_does_not_fit_at_once),
		cmocka_unit_test(refuses_what_is_not_defined),
	};

	return cmocka_run_group_tests(tests, definitions_load, definitions_drop);
}
