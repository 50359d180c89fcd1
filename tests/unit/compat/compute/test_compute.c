/*
 * Expressions of rocprof-compute's metrics, the counters they name, and csv files.
 */
#include "unit.h"

#include "compat/compute/csv_table.h"
#include "compat/compute/definitions/counter_names.h"
#include "compat/compute/definitions/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double numbers[] = { 1, 2, 3, 6 }, holes[] = { 0, NAN, 4, 8 };

static struct formula_value column_find(void *context, const char *name)
{
	(void)context;
	if (!strcmp(name, "A"))
		return (struct formula_value){ FORMULA_COLUMN, 0, numbers };
	if (!strcmp(name, "B") || !strcmp(name, "B[1]"))
		return (struct formula_value){ FORMULA_COLUMN, 0, holes };
	return (struct formula_value){ .kind = FORMULA_NONE };
}

static struct formula_value variable_find(void *context, const char *name)
{
	(void)context;
	return strcmp(name, "ten") ? (struct formula_value){ .kind = FORMULA_NONE }
				   : (struct formula_value){ FORMULA_NUMBER, 10, NULL };
}

static const struct formula_names names = { 4, column_find, variable_find, NULL };

static double text_evaluate(const char *text)
{
	double number = -1;

	assert_int_equal(formula_evaluate(text, &names, &number), 0);
	return number;
}

static void computes_columns(void **state)
{
	(void)state;
	assert_float_equal(text_evaluate("AVG(A)"), 3, 1e-9);
	assert_float_equal(text_evaluate("AVG(B[1])"), 4, 1e-9);
	assert_float_equal(text_evaluate("MIN((100 * A) / $ten)"), 10, 1e-9);
	assert_float_equal(text_evaluate("SUM(A) - -2 * 3"), 18, 1e-9);
	assert_float_equal(text_evaluate("MEDIAN(A)"), 2.5, 1e-9);
	assert_float_equal(text_evaluate("QUANTILE(A, 0.25)"), 1.75, 1e-9);
	assert_float_equal(text_evaluate("STD(A)"), 2.160246899, 1e-6);
	assert_float_equal(text_evaluate("MIN(MAX(A), 4)"), 4, 1e-9);
	assert_float_equal(text_evaluate("TO_INT(7 / 2)"), 3, 1e-9);
	assert_float_equal(text_evaluate("MOD(0 - 1, 3) + ROUND(2.5, 0)"), 4, 1e-9);
}

/* "x if c else None" leaves rows out. */
static void chooses_rows(void **state)
{
	(void)state;
	assert_float_equal(text_evaluate("AVG((A / B) if (B != 0) else None)"), 0.75, 1e-9);
	assert_float_equal(text_evaluate("AVG(A if (A > 2) else 0)"), 2.25, 1e-9);
	assert_true(isinf(text_evaluate("MAX(A / B)")));
	assert_float_equal(text_evaluate("1 if (2 >= 3) else 5"), 5, 1e-9);
}

static void has_nothing_where_a_counter_is_missing(void **state)
{
	(void)state;
	assert_true(isnan(text_evaluate("AVG(A + MISSING)")));
	assert_true(isnan(text_evaluate("None")));
	assert_true(isnan(text_evaluate("AVG(A / $missing)")));
	assert_float_equal(text_evaluate("AVG(A if (MISSING != 0) else None)"), 3, 1e-9);
	assert_true(isnan(text_evaluate("AVG(A if (MISSING > 0) else None)")));
}

static void refuses_what_is_no_expression(void **state)
{
	static const char *const texts[] = { "",        "A +",       "AVG(A", "NOTHING(A)", "A A",
					     "(A if A", "AVG(A,,A)", "'x'",   "A[1" };
	char deep[2048];
	double number;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_not_equal(formula_evaluate(texts[i], &names, &number), 0);
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_int_not_equal(formula_evaluate(deep, &names, &number), 0);
	memset(deep, '-', sizeof(deep) - 1);
	assert_int_not_equal(formula_evaluate(deep, &names, &number), 0);
}

static void finds_counters_as_amds_does(void **state)
{
	struct pool found = { 0 };

	(void)state;
	assert_int_equal(counter_names_find("AVG(TCC_HIT_sum + TCC_MISS[3] / $numActiveCUs) of "
					    "CPF_ and $GRBM_COUNT_PER_XCD, XSQC_A_",
					    &found),
			 0);
	assert_int_not_equal(pool_find(&found, "TCC_HIT_sum"), POOL_NONE);
	assert_int_not_equal(pool_find(&found, "TCC_MISS["), POOL_NONE);
	assert_int_not_equal(pool_find(&found, "SQ_BUSY_CU_CYCLES"), POOL_NONE);
	assert_int_not_equal(pool_find(&found, "GRBM_GUI_ACTIVE"), POOL_NONE);
	assert_int_not_equal(pool_find(&found, "GRBM_COUNT"), POOL_NONE);
	assert_int_not_equal(pool_find(&found, "SQ_WAVES"), POOL_NONE);
	assert_int_not_equal(pool_find(&found, "SQC_A"), POOL_NONE);
	assert_int_equal(found.count, 7);
	assert_true(counter_name_is_channel("TCC_MISS["));
	pool_done(&found);
}

/* A double has 53 bits: neither of both is one. */
static void subtracts_times_exactly(void **state)
{
	const char *cells[] = {
		"Start", "End", "13386742234691895", "13386742234700548", "1.5", "4"
	};
	const struct csv_table table = { NULL, cells, 2, 2 };
	const struct csv_place begin = { 0, 0 }, end = { 0, 1 };

	(void)state;
	assert_float_equal(csv_table_difference(&table, end, begin), 8653, 0);
	assert_float_equal(csv_table_difference(&table, begin, end), -8653, 0);
	assert_float_equal(csv_table_difference(&table, (struct csv_place){ 1, 1 },
						(struct csv_place){ 1, 0 }),
			   2.5, 0);
	assert_true(isnan(csv_table_difference(&table, (struct csv_place){ 0, -1 }, begin)));
}

static void reads_csv(void **state)
{
	static const char text[] = "a,\"b, c\",d\r\n1,\"x \"\"y\"\"\nz\",2.5\n3\n4,5,6,7,8";
	char path[] = "/tmp/limpet-test-XXXXXX";
	struct csv_table table;
	struct err err = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	assert_int_equal(csv_table_read(&table, path, &err), 0);
	unlink(path);
	assert_int_equal(table.columns, 3);
	assert_int_equal(table.rows, 3);
	assert_int_equal(csv_table_find(&table, "b, c"), 1);
	assert_string_equal(csv_table_cell(&table, 0, 1), "x \"y\"\nz");
	assert_float_equal(csv_table_number(&table, 0, 2), 2.5, 0);
	assert_string_equal(csv_table_cell(&table, 1, 2), "");
	assert_true(isnan(csv_table_number(&table, 1, 1)));
	assert_float_equal(csv_table_number(&table, 2, 2), 6, 0);
	assert_true(isnan(csv_table_number(&table, 2, csv_table_find(&table, "none"))));
	csv_table_done(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(computes_columns),
		cmocka_unit_test(chooses_rows),
		cmocka_unit_test(has_nothing_where_a_counter_is_missing),
		cmocka_unit_test(refuses_what_is_no_expression),
		cmocka_unit_test(finds_counters_as_amds_does),
		cmocka_unit_test(subtracts_times_exactly),
		cmocka_unit_test(reads_csv),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
