/*
 * Evaluates while parsing: every part is needed, and once.  Implements the operations of pandas on
 * columns that AMD's expressions use.
 */
#include "formula.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 256u

struct formula_reader {
	const char *at;
	const struct formula_names *names;
	struct formula_memory memory;
	unsigned depth;
	int error; /* the first one */
};

static const struct formula_value failed = { .kind = FORMULA_FAILED };

static struct formula_value reader_fail(struct formula_reader *self, int error)
{
	if (!self->error)
		self->error = error;
	return failed;
}

static void blanks_skip(struct formula_reader *self)
{
	while (isspace((unsigned char)*self->at))
		self->at++;
}

static bool sign_take(struct formula_reader *self, const char *sign)
{
	size_t length = strlen(sign);

	blanks_skip(self);
	if (strncmp(self->at, sign, length))
		return false;
	self->at += length;
	return true;
}

static bool is_word_letter(char letter)
{
	return isalnum((unsigned char)letter) || letter == '_';
}

static bool word_take(struct formula_reader *self, const char *word)
{
	size_t length = strlen(word);

	blanks_skip(self);
	if (strncmp(self->at, word, length) || is_word_letter(self->at[length]))
		return false;
	self->at += length;
	return true;
}

static struct formula_value condition_read(struct formula_reader *self);

/* NAME, or NAME[3], which is the name of a column too. */
static bool name_read(struct formula_reader *self, char *ret, size_t room)
{
	size_t length = 0;

	while (is_word_letter(self->at[length]))
		length++;
	if (self->at[length] == '[')
		length += strcspn(self->at + length, "]") + 1;
	if (!length || length >= room || memchr(self->at, '\0', length))
		return false;
	memcpy(ret, self->at, length);
	ret[length] = '\0';
	self->at += length;
	return true;
}

static struct formula_value call_read(struct formula_reader *self, const char *name)
{
	struct formula_value arguments[FORMULA_ARGUMENTS_MAX];
	size_t count = 0;

	do {
		if (count == FORMULA_ARGUMENTS_MAX)
			return reader_fail(self, -EINVAL);
		arguments[count++] = condition_read(self);
	} while (!self->error && sign_take(self, ","));
	if (self->error || !sign_take(self, ")"))
		return reader_fail(self, -EINVAL);
	return formula_call(&self->memory, name, arguments, count, &self->error);
}

static struct formula_value named_read(struct formula_reader *self)
{
	bool is_variable = *self->at == '$';
	char name[160];

	self->at += is_variable;
	if (!name_read(self, name, sizeof(name)))
		return reader_fail(self, -EINVAL);
	if (is_variable)
		return self->names->variable(self->names->context, name);
	if (!strcmp(name, "None"))
		return (struct formula_value){ .kind = FORMULA_NONE };
	if (sign_take(self, "("))
		return call_read(self, name);
	return self->names->column(self->names->context, name);
}

static struct formula_value value_read(struct formula_reader *self)
{
	struct formula_value value = { .kind = FORMULA_NUMBER };
	char *end;

	if (sign_take(self, "(")) {
		value = condition_read(self);
		return sign_take(self, ")") ? value : reader_fail(self, -EINVAL);
	}
	if (!isdigit((unsigned char)*self->at) && *self->at != '.')
		return named_read(self);
	value.number = strtod(self->at, &end);
	if (end == self->at)
		return reader_fail(self, -EINVAL);
	self->at = end;
	return value;
}

/* Two signs in a row are one, or none. */
static struct formula_value signed_read(struct formula_reader *self)
{
	const struct formula_value minus_one = { FORMULA_NUMBER, -1, NULL };
	bool is_negative = false, is_sign = true;
	struct formula_value value;

	while (is_sign) {
		bool is_minus = sign_take(self, "-");

		is_negative ^= is_minus;
		is_sign = is_minus || sign_take(self, "+");
	}
	value = value_read(self);
	return is_negative ? formula_compute(&self->memory, '*', value, minus_one, &self->error)
			   : value;
}

/* One of these signs; 0: none. */
static char letter_take(struct formula_reader *self, const char *signs)
{
	blanks_skip(self);
	return *self->at && strchr(signs, *self->at) ? *self->at++ : '\0';
}

static struct formula_value product_read(struct formula_reader *self)
{
	struct formula_value left = signed_read(self);
	char sign;

	while ((sign = letter_take(self, "*/%")) && !self->error)
		left = formula_compute(&self->memory, sign, left, signed_read(self), &self->error);
	return left;
}

static struct formula_value sum_read(struct formula_reader *self)
{
	struct formula_value left = product_read(self);
	char sign;

	while ((sign = letter_take(self, "+-")) && !self->error)
		left = formula_compute(&self->memory, sign, left, product_read(self), &self->error);
	return left;
}

/* Signs of two letters first. */
static struct formula_value comparison_read(struct formula_reader *self)
{
	static const struct {
		const char *sign;
		char letter;
	} signs[] = { { "==", '=' }, { "!=", '!' }, { ">=", 'g' },
		      { "<=", 'l' }, { ">", '>' },  { "<", '<' } };
	struct formula_value left = sum_read(self);

	for (size_t i = 0; !self->error && i < ARRAY_SIZE(signs); i++)
		if (sign_take(self, signs[i].sign))
			return formula_compute(&self->memory, signs[i].letter, left, sum_read(self),
					       &self->error);
	return left;
}

/* value if truth else other */
static struct formula_value condition_read(struct formula_reader *self)
{
	struct formula_value value = failed, truth, other;

	if (self->depth == DEPTH_MAX || self->error)
		return reader_fail(self, -EINVAL);
	self->depth++;
	value = comparison_read(self);
	if (!self->error && word_take(self, "if")) {
		truth = comparison_read(self);
		if (!word_take(self, "else"))
			return reader_fail(self, -EINVAL);
		other = condition_read(self);
		value = formula_choose(&self->memory, value, truth, other, &self->error);
	}
	self->depth--;
	return value;
}

int formula_evaluate_column(const char *text, const struct formula_names *names,
			    struct formula_value *ret, double **ret_items)
{
	struct formula_reader self = { .at = text, .names = names };

	self.memory.rows = names->rows;
	*ret_items = NULL;
	*ret = condition_read(&self);
	blanks_skip(&self);
	if (!self.error && *self.at)
		self.error = -EINVAL;
	if (!self.error && ret->kind == FORMULA_COLUMN) {
		*ret_items = malloc((names->rows + 1) * sizeof(**ret_items));
		if (*ret_items)
			memcpy(*ret_items, ret->items, names->rows * sizeof(**ret_items));
		self.error = *ret_items ? 0 : -ENOMEM;
		ret->items = *ret_items;
	}
	formula_memory_done(&self.memory);
	return self.error;
}

int formula_evaluate(const char *text, const struct formula_names *names, double *ret)
{
	struct formula_value value;
	double *items;
	int r = formula_evaluate_column(text, names, &value, &items);

	free(items);
	*ret = !r && value.kind == FORMULA_NUMBER ? value.number : (double)NAN;
	return r;
}
