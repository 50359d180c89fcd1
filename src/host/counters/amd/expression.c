/*
 * From the text of an expression to its nodes: each stands behind those that it is made of.
 */
#include "host/counters/amd/expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct expression_parser {
	struct expression *into;
	struct text rest;
	const char *begin;
	unsigned depth;
	struct err *err;
};

static int parser_refuse(const struct expression_parser *self, const char *why)
{
	err_set(self->err, -EINVAL, "expression '%.120s' is not understood", self->begin);
	err_why(self->err, "at character %zu: %s", (size_t)(self->rest.at - self->begin) + 1, why);
	return err_exit(self->err, EXIT_USAGE);
}

static int node_add(struct expression_parser *self, const struct expression_node *node)
{
	if (self->into->count == EXPRESSION_NODES_MAX)
		return parser_refuse(self, "it is too long");
	self->into->nodes[self->into->count++] = *node;
	return 0;
}

static bool parser_has(struct expression_parser *self, char wanted)
{
	text_skip_blanks(&self->rest);
	return text_take_char(&self->rest, wanted);
}

static int parser_expect(struct expression_parser *self, char wanted)
{
	char why[32] = "' ' is expected";

	why[1] = wanted;
	return parser_has(self, wanted) ? 0 : parser_refuse(self, why);
}

static bool is_letter(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool parser_take_name(struct expression_parser *self, struct text *ret)
{
	text_skip_blanks(&self->rest);
	*ret = (struct text){ self->rest.at, self->rest.at };
	while (ret->end < self->rest.end &&
	       (is_letter(*ret->end) || (ret->end > ret->at && isdigit((unsigned char)*ret->end))))
		ret->end++;
	self->rest.at = ret->end;
	return ret->end > ret->at;
}

static int parse_sum(struct expression_parser *self);

/* "[DIMENSION_XCC,DIMENSION_WGP]" */
static int parse_dimensions(struct expression_parser *self, struct expression_node *node)
{
	int r = parser_expect(self, '[');

	while (!r) {
		struct text name;
		int dimension = parser_take_name(self, &name) ? dimension_find(name) : -ENOENT;

		if (dimension < 0)
			return parser_refuse(self, "there is no such dimension");
		node->dimensions |= 1u << dimension;
		if (!parser_has(self, ','))
			return parser_expect(self, ']');
	}
	return r;
}

/* "0", "0:3" */
static int parse_range(struct expression_parser *self, uint64_t *bits)
{
	uint64_t first, last;

	text_skip_blanks(&self->rest);
	if (!text_take_number(&self->rest, 10, &first))
		return parser_refuse(self, "a number is expected");
	last = first;
	if (parser_has(self, ':') && !text_take_number(&self->rest, 10, &last))
		return parser_refuse(self, "a number is expected");
	if (first > last || last >= 64)
		return parser_refuse(self, "numbers of places are below 64, and ascend");
	for (uint64_t i = first; i <= last; i++)
		*bits |= (uint64_t)1 << i;
	return 0;
}

/* "DIMENSION_XCC=[0:3,5]" */
static int parse_choice(struct expression_parser *self, struct expression_node *node)
{
	struct text name;
	int dimension = parser_take_name(self, &name) ? dimension_find(name) : -ENOENT, r;

	if (dimension < 0)
		return parser_refuse(self, "there is no such dimension");
	node->dimensions |= 1u << dimension;
	r = parser_expect(self, '=');
	if (!r)
		r = parser_expect(self, '[');
	do {
		if (!r)
			r = parse_range(self, &node->chosen[dimension]);
	} while (!r && parser_has(self, ','));
	return r ? r : parser_expect(self, ']');
}

static int parse_choices(struct expression_parser *self, struct expression_node *node)
{
	int r = parser_expect(self, '[');

	do {
		if (!r)
			r = parse_choice(self, node);
	} while (!r && parser_has(self, ','));
	return r ? r : parser_expect(self, ']');
}

static int word_find(struct text word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (words[i] && text_equals(word, words[i]))
			return (int)i;
	return -ENOENT;
}

/* Behind "reduce(". */
static int parse_reduce(struct expression_parser *self)
{
	static const char *const words[REDUCTIONS] = { "sum", "max", "min", "avr" };
	struct expression_node node = { .kind = EXPRESSION_REDUCE };
	struct text word;
	int r = parse_sum(self), found;

	node.left = self->into->count - 1;
	if (!r)
		r = parser_expect(self, ',');
	if (r)
		return r;
	found = parser_take_name(self, &word) ? word_find(word, words, REDUCTIONS) : -ENOENT;
	if (found < 0)
		return parser_refuse(self, "sum, max, min or avr is expected");
	node.reduction = (enum reduction)found;
	if (parser_has(self, ','))
		r = parse_dimensions(self, &node);
	if (!r)
		r = parser_expect(self, ')');
	return r ? r : node_add(self, &node);
}

/* Behind "select(". */
static int parse_select(struct expression_parser *self)
{
	struct expression_node node = { .kind = EXPRESSION_SELECT };
	int r = parse_sum(self);

	node.left = self->into->count - 1;
	if (!r)
		r = parser_expect(self, ',');
	if (!r)
		r = parse_choices(self, &node);
	if (!r)
		r = parser_expect(self, ')');
	return r ? r : node_add(self, &node);
}

/* Behind "accumulate(". */
static int parse_accumulate(struct expression_parser *self)
{
	static const char *const words[] = { "NONE", "LOW_RES", "HIGH_RES" };
	struct expression_node node = { .kind = EXPRESSION_ACCUMULATE };
	struct text word;
	int r = parser_take_name(self, &node.name) ? parser_expect(self, ',')
						   : parser_refuse(self, "a name is expected");
	int found;

	if (r)
		return r;
	found = parser_take_name(self, &word) ? word_find(word, words, ARRAY_SIZE(words)) : -ENOENT;
	if (found < 0)
		return parser_refuse(self, "HIGH_RES or LOW_RES is expected");
	node.accumulation = (enum accumulation)found;
	r = parser_expect(self, ')');
	return r ? r : node_add(self, &node);
}

static int parse_word(struct expression_parser *self)
{
	static const struct {
		const char *name;
		int (*parse)(struct expression_parser *self);
	} functions[] = { { "reduce", parse_reduce },
			  { "select", parse_select },
			  { "accumulate", parse_accumulate } };
	struct expression_node node = { .kind = EXPRESSION_NAME };

	if (!parser_take_name(self, &node.name))
		return parser_refuse(self, "a number or a name is expected");
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (text_equals(node.name, functions[i].name) && parser_has(self, '('))
			return functions[i].parse(self);
	return node_add(self, &node);
}

/* Where AMD's parser drops what stands behind a point, it is kept here. */
static int parse_number(struct expression_parser *self)
{
	struct expression_node node = { .kind = EXPRESSION_NUMBER };
	char digits[64];
	size_t length = 0;

	while (self->rest.at < self->rest.end && length + 1 < sizeof(digits) &&
	       (isdigit((unsigned char)*self->rest.at) || *self->rest.at == '.'))
		digits[length++] = *self->rest.at++;
	digits[length] = '\0';
	if (strchr(digits, '.') != strrchr(digits, '.'))
		return parser_refuse(self, "it is no number");
	node.number = strtod(digits, NULL);
	return node_add(self, &node);
}

static int parse_atom(struct expression_parser *self)
{
	int r;

	text_skip_blanks(&self->rest);
	if (self->rest.at < self->rest.end &&
	    (isdigit((unsigned char)*self->rest.at) || *self->rest.at == '.'))
		return parse_number(self);
	if (!parser_has(self, '('))
		return parse_word(self);
	r = parse_sum(self);
	return r ? r : parser_expect(self, ')');
}

struct operation {
	char letter;
	enum expression_kind kind;
};

/* Operands of the same rank, from the left. */
static int parse_chain(struct expression_parser *self, const struct operation *operations,
		       int (*parse)(struct expression_parser *self))
{
	int r = parse(self);

	while (!r) {
		struct expression_node node = { .left = self->into->count - 1 };
		unsigned i = parser_has(self, operations[0].letter)   ? 0
			     : parser_has(self, operations[1].letter) ? 1
								      : 2;

		if (i == 2)
			break;
		node.kind = operations[i].kind;
		r = parse(self);
		node.right = self->into->count - 1;
		if (!r)
			r = node_add(self, &node);
	}
	return r;
}

static int parse_product(struct expression_parser *self)
{
	static const struct operation operations[] = { { '*', EXPRESSION_MULTIPLY },
						       { '/', EXPRESSION_DIVIDE } };

	return parse_chain(self, operations, parse_atom);
}

static int parse_sum(struct expression_parser *self)
{
	static const struct operation operations[] = { { '+', EXPRESSION_ADD },
						       { '-', EXPRESSION_SUBTRACT } };
	int r;

	if (++self->depth > EXPRESSION_DEPTH_MAX)
		return parser_refuse(self, "too much is nested");
	r = parse_chain(self, operations, parse_product);
	self->depth--;
	return r;
}

int expression_parse(struct expression *ret, const char *text, struct err *err)
{
	struct expression_parser self = {
		.into = ret, .rest = text_of(text), .begin = text, .err = err
	};
	int r;

	ret->count = 0;
	r = parse_sum(&self);
	text_skip_blanks(&self.rest);
	if (!r && self.rest.at < self.rest.end)
		r = parser_refuse(&self, "an operator is expected");
	return r;
}

enum growth { GROWTH_NONE, GROWTH_ADDS, GROWTH_OTHER };

static enum growth node_growth(const struct expression_node *node, const enum growth *of,
			       bool is_counted)
{
	enum growth left = of[node->left], right = of[node->right];

	switch (node->kind) {
	case EXPRESSION_NUMBER:
		return GROWTH_NONE;
	case EXPRESSION_NAME:
	case EXPRESSION_ACCUMULATE:
		return is_counted ? GROWTH_ADDS : GROWTH_NONE;
	case EXPRESSION_ADD:
	case EXPRESSION_SUBTRACT:
		return left == right ? left : GROWTH_OTHER;
	case EXPRESSION_MULTIPLY:
		return left == GROWTH_NONE ? right : right == GROWTH_NONE ? left : GROWTH_OTHER;
	case EXPRESSION_DIVIDE:
		return right == GROWTH_NONE ? left : GROWTH_OTHER;
	default:
		return left;
	}
}

bool expression_adds_up(const struct expression *expression, name_judge *is_counted,
			const void *context)
{
	enum growth growth[EXPRESSION_NODES_MAX];

	for (uint32_t i = 0; i < expression->count; i++) {
		const struct expression_node *node = &expression->nodes[i];
		bool is_name = node->kind == EXPRESSION_NAME || node->kind == EXPRESSION_ACCUMULATE;

		growth[i] = node_growth(node, growth, is_name && is_counted(node->name, context));
	}
	return expression->count && growth[expression->count - 1] == GROWTH_ADDS;
}
