/*
 * Fuzzes formulas of metrics, as rocprof-compute's definitions have them.
 */
#include "fuzz.h"

#include "definitions/formula.h"

#include <string.h>

static const double items[] = { 1, 2, 3 };

static struct formula_value column_find(void *context, const char *name)
{
	(void)context;
	return name[0] == 'S' ? (struct formula_value){ .kind = FORMULA_COLUMN, .items = items }
			      : (struct formula_value){ .kind = FORMULA_NONE };
}

static struct formula_value variable_find(void *context, const char *name)
{
	(void)context;
	return (struct formula_value){ .kind = FORMULA_NUMBER, .number = (double)strlen(name) };
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct formula_names names = { 3, column_find, variable_find, NULL };
	struct formula_value value = { .kind = FORMULA_NONE };
	double number, *made = NULL;
	char *text = malloc(size + 1); /* of its exact size */

	must(text != NULL);
	memcpy(text, bytes, size);
	text[size] = '\0';
	must(formula_evaluate(text, &names, &number) <= 0);
	if (!formula_evaluate_column(text, &names, &value, &made))
		must(value.kind <= FORMULA_FAILED);
	free(made);
	free(text);
	return 0;
}
