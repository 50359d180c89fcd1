/*
 * Arithmetic with pandas' rules: None in a column is NaN, and results of NaN are NaN; sums, means
 * and the like skip it.  None by itself has no arithmetic.
 */
#include "formula_calls.h"

#include "host/core/room.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Functions of two numbers that have no sign. */
enum { SIGN_MIN = 'm', SIGN_MAX = 'M', SIGN_ROUND = 'r', SIGN_WHOLE = 't' };

static const struct formula_value failed = { .kind = FORMULA_FAILED };

void formula_memory_done(struct formula_memory *memory)
{
	for (size_t i = 0; i < memory->count; i++)
		free(memory->columns[i]);
	free(memory->columns);
	*memory = (struct formula_memory){ 0 };
}

static double *column_new(struct formula_memory *memory, int *error)
{
	double *column = malloc((memory->rows + 1) * sizeof(*column));

	if (!column || make_room(&memory->columns, memory->count, &memory->room, sizeof(column))) {
		free(column);
		*error = -ENOMEM;
		return NULL;
	}
	memory->columns[memory->count++] = column;
	return column;
}

static struct formula_value number_value(double number)
{
	return (struct formula_value){ FORMULA_NUMBER, number, NULL };
}

static double value_at(const struct formula_value *value, size_t row)
{
	if (value->kind == FORMULA_NONE)
		return (double)NAN;
	return value->kind == FORMULA_COLUMN ? value->items[row] : value->number;
}

/* As Python's: its sign is the divisor's. */
static double number_modulo(double left, double right)
{
	double rest = fmod(left, right);

	return rest && (rest < 0) != (right < 0) ? rest + right : rest;
}

/* Also of some functions, by a letter of limpet's. */
static double sign_compute(char sign, double left, double right)
{
	double scale;

	switch (sign) {
	case '+':
		return left + right;
	case '-':
		return left - right;
	case '*':
		return left * right;
	case '/':
		return left / right;
	case '%':
		return number_modulo(left, right);
	case '=':
		return left == right;
	case '!':
		return left != right;
	case '<':
		return left < right;
	case '>':
		return left > right;
	case 'g':
		return left >= right;
	case 'l':
		return left <= right;
	case SIGN_MIN:
		return left < right ? left : right;
	case SIGN_MAX:
		return isnan(left) || isnan(right) ? (double)NAN : left > right ? left : right;
	case SIGN_ROUND: /* halves go to the even number, as in Python */
		scale = pow(10, right);
		return rint(left * scale) / scale;
	default:
		return trunc(left);
	}
}

static struct formula_value pair_compute(struct formula_memory *memory, char sign,
					 const struct formula_value *left,
					 const struct formula_value *right, int *error)
{
	double *column;

	if (left->kind != FORMULA_COLUMN && right->kind != FORMULA_COLUMN)
		return number_value(sign_compute(sign, value_at(left, 0), value_at(right, 0)));
	column = column_new(memory, error);
	if (!column)
		return failed;
	for (size_t i = 0; i < memory->rows; i++)
		column[i] = sign_compute(sign, value_at(left, i), value_at(right, i));
	return (struct formula_value){ FORMULA_COLUMN, 0, column };
}

struct formula_value formula_compute(struct formula_memory *memory, char sign,
				     struct formula_value left, struct formula_value right,
				     int *error)
{
	bool is_left = left.kind == FORMULA_NONE, is_right = right.kind == FORMULA_NONE;

	if (*error || left.kind == FORMULA_FAILED || right.kind == FORMULA_FAILED)
		return failed;
	/* None equals only itself; other comparisons are invalid. */
	if ((is_left || is_right) && sign == '=')
		return number_value(is_left && is_right);
	if ((is_left || is_right) && sign == '!')
		return number_value(!(is_left && is_right));
	return is_left || is_right ? failed : pair_compute(memory, sign, &left, &right, error);
}

struct formula_value formula_choose(struct formula_memory *memory, struct formula_value value,
				    struct formula_value truth, struct formula_value other,
				    int *error)
{
	double *column;

	if (*error || value.kind == FORMULA_FAILED || truth.kind == FORMULA_FAILED ||
	    truth.kind == FORMULA_NONE || other.kind == FORMULA_FAILED)
		return failed;
	if (truth.kind != FORMULA_COLUMN)
		return truth.number ? value : other;
	if (value.kind == FORMULA_NONE)
		return failed;
	column = column_new(memory, error);
	if (!column)
		return failed;
	for (size_t i = 0; i < memory->rows; i++)
		column[i] = truth.items[i] ? value_at(&value, i) : value_at(&other, i);
	return (struct formula_value){ FORMULA_COLUMN, 0, column };
}

static int number_compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

/* Numbers of a column without NaN, in order. */
static size_t numbers_sort(const struct formula_memory *memory, const double *items, double *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < memory->rows; i++)
		if (!isnan(items[i]))
			ret[count++] = items[i];
	qsort(ret, count, sizeof(*ret), number_compare);
	return count;
}

static double numbers_sum(const double *numbers, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += numbers[i];
	return sum;
}

static double numbers_mean(const double *numbers, size_t count)
{
	return numbers_sum(numbers, count) / (double)count;
}

static double numbers_least(const double *numbers, size_t count)
{
	return count ? numbers[0] : (double)NAN;
}

static double numbers_most(const double *numbers, size_t count)
{
	return count ? numbers[count - 1] : (double)NAN;
}

/* Between two numbers by the share of the way. */
static double numbers_quantile(const double *numbers, size_t count, double share)
{
	double at = count ? share * (double)(count - 1) : 0;
	size_t below = at > 0 ? (size_t)at : 0;

	if (!count)
		return (double)NAN;
	if (below + 1 >= count)
		return numbers[count - 1];
	return numbers[below] + (at - (double)below) * (numbers[below + 1] - numbers[below]);
}

static double numbers_median(const double *numbers, size_t count)
{
	return numbers_quantile(numbers, count, 0.5);
}

/* Of a sample. */
static double numbers_deviation(const double *numbers, size_t count)
{
	double mean = numbers_mean(numbers, count), squares = 0;

	for (size_t i = 0; i < count; i++)
		squares += (numbers[i] - mean) * (numbers[i] - mean);
	return count > 1 ? sqrt(squares / (double)(count - 1)) : (double)NAN;
}

static const struct {
	const char *name;
	double (*reduce)(const double *numbers, size_t count);
	bool takes_number; /* as it is */
} reductions[] = {
	{ "AVG", numbers_mean, true },       { "MIN", numbers_least, true },
	{ "MAX", numbers_most, true },       { "SUM", numbers_sum, true },
	{ "MEDIAN", numbers_median, false }, { "STD", numbers_deviation, false },
};

static struct formula_value column_reduce(struct formula_memory *memory,
					  const struct formula_value *value, size_t index,
					  int *error)
{
	double *numbers;

	if (value->kind == FORMULA_NUMBER && reductions[index].takes_number)
		return *value;
	if (value->kind != FORMULA_COLUMN)
		return failed;
	numbers = column_new(memory, error);
	return numbers ? number_value(reductions[index].reduce(
				 numbers, numbers_sort(memory, value->items, numbers)))
		       : failed;
}

static const struct {
	const char *name;
	size_t count; /* of arguments */
	char sign;
} functions[] = {
	{ "MIN", 2, SIGN_MIN },      { "MAX", 2, SIGN_MAX }, { "ROUND", 2, SIGN_ROUND },
	{ "TO_INT", 1, SIGN_WHOLE }, { "MOD", 2, '%' },
};

struct formula_value formula_call(struct formula_memory *memory, const char *name,
				  const struct formula_value *arguments, size_t count, int *error)
{
	bool can_compute = true;
	double *numbers;
	size_t values;

	for (size_t i = 0; count == 1 && i < ARRAY_SIZE(reductions); i++)
		if (!strcmp(name, reductions[i].name))
			return column_reduce(memory, &arguments[0], i, error);
	for (size_t i = 0; i < count; i++)
		can_compute &=
			arguments[i].kind == FORMULA_NUMBER || arguments[i].kind == FORMULA_COLUMN;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (!strcmp(name, functions[i].name) && count == functions[i].count)
			return can_compute ? pair_compute(memory, functions[i].sign, &arguments[0],
							  &arguments[count - 1], error)
					   : failed;
	if (!strcmp(name, "QUANTILE") && count == 2) {
		numbers = column_new(memory, error);
		if (!numbers || arguments[0].kind != FORMULA_COLUMN ||
		    arguments[1].kind != FORMULA_NUMBER)
			return failed;
		values = numbers_sort(memory, arguments[0].items, numbers);
		return number_value(numbers_quantile(numbers, values, arguments[1].number));
	}
	if (!strcmp(name, "CONCAT") && count == 2)
		return failed; /* a text, which no table shows */
	*error = -EINVAL;
	return failed;
}
