/*
 * From the text of an expression to its nodes: each follows its operands.
 */
#include "shared/counters/expression.h"

#define PLACES_MAX   64u
#define DIGITS_MAX   18u /* that a number keeps exactly */
#define EXPONENT_MAX 1000000

struct expression_parser {
	struct expression *into;
	const char *at, *end;
	unsigned depth;
	const char *why; /* it is not understood */
};

static bool parser_refuse(struct expression_parser *self, const char *why)
{
	self->why = why;
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next character; 0 at the end. */
static char parser_peek(const struct expression_parser *self)
{
	return self->at < self->end ? *self->at : '\0';
}

static void blanks_skip(struct expression_parser *self)
{
	while (is_blank(parser_peek(self)))
		self->at++;
}

static bool char_take(struct expression_parser *self, char wanted)
{
	blanks_skip(self);
	if (parser_peek(self) != wanted)
		return false;
	self->at++;
	return true;
}

/* "',' is expected": the character is the second of it. */
static bool char_expect(struct expression_parser *self, const char *why)
{
	return char_take(self, why[1]) || parser_refuse(self, why);
}

static bool name_take(struct expression_parser *self, struct expression_name *ret)
{
	blanks_skip(self);
	*ret = (struct expression_name){ self->at, 0 };
	while (is_letter(parser_peek(self)) || (ret->length && is_digit(parser_peek(self)))) {
		self->at++;
		ret->length++;
	}
	return ret->length;
}

static bool name_is(const struct expression_name *name, const char *text)
{
	size_t i = 0;

	while (i < name->length && text[i] && name->at[i] == text[i])
		i++;
	return i == name->length && !text[i];
}

/* The index of the next word; their number: none of them. */
static unsigned word_take(struct expression_parser *self, const char *const *words, unsigned count)
{
	struct expression_name name;
	unsigned i = 0;

	if (!name_take(self, &name))
		return count;
	while (i < count && !name_is(&name, words[i]))
		i++;
	return i;
}

static bool node_add(struct expression_parser *self, const struct expression_node *node)
{
	if (self->into->count == EXPRESSION_NODES_MAX)
		return parser_refuse(self, "it is too long");
	self->into->nodes[self->into->count++] = *node;
	return true;
}

static uint32_t node_last(const struct expression_parser *self)
{
	return self->into->count - 1;
}

static bool sum_read(struct expression_parser *self);

static bool dimension_read(struct expression_parser *self, struct expression_node *node,
			   unsigned *ret)
{
	struct expression_name name;

	*ret = name_take(self, &name) ? dimension_find(name.at, name.length) : DIMENSIONS;
	if (*ret == DIMENSIONS)
		return parser_refuse(self, "there is no such dimension");
	node->dimensions |= 1u << *ret;
	return true;
}

/* "[DIMENSION_XCC,DIMENSION_WGP]" */
static bool dimensions_read(struct expression_parser *self, struct expression_node *node)
{
	unsigned dimension;

	if (!char_expect(self, "'[' is expected"))
		return false;
	do {
		if (!dimension_read(self, node, &dimension))
			return false;
	} while (char_take(self, ','));
	return char_expect(self, "']' is expected");
}

static bool place_read(struct expression_parser *self, unsigned *ret)
{
	blanks_skip(self);
	if (!is_digit(parser_peek(self)))
		return parser_refuse(self, "a number is expected");
	for (*ret = 0; is_digit(parser_peek(self)); self->at++)
		*ret = MIN(*ret * 10 + (unsigned)(*self->at - '0'), PLACES_MAX);
	return true;
}

/* "0", "0:3" */
static bool range_read(struct expression_parser *self, uint64_t *bits)
{
	unsigned first, last;

	if (!place_read(self, &first))
		return false;
	last = first;
	if (char_take(self, ':') && !place_read(self, &last))
		return false;
	if (first > last || last >= PLACES_MAX)
		return parser_refuse(self, "numbers of places are below 64, and ascend");
	for (; first <= last; first++)
		*bits |= (uint64_t)1 << first;
	return true;
}

/* "DIMENSION_XCC=[0:3,5]" */
static bool choice_read(struct expression_parser *self, struct expression_node *node)
{
	unsigned dimension;

	if (!dimension_read(self, node, &dimension) || !char_expect(self, "'=' is expected") ||
	    !char_expect(self, "'[' is expected"))
		return false;
	do {
		if (!range_read(self, &node->chosen.numbers[dimension]))
			return false;
	} while (char_take(self, ','));
	return char_expect(self, "']' is expected");
}

static bool choices_read(struct expression_parser *self, struct expression_node *node)
{
	if (!char_expect(self, "'[' is expected"))
		return false;
	do {
		if (!choice_read(self, node))
			return false;
	} while (char_take(self, ','));
	return char_expect(self, "']' is expected");
}

/* Behind "reduce(". */
static bool reduce_read(struct expression_parser *self)
{
	static const char *const words[CATALOG_REDUCTIONS] = { "sum", "max", "min", "avr" };
	struct expression_node node = { .kind = EXPRESSION_REDUCE };

	if (!sum_read(self) || !char_expect(self, "',' is expected"))
		return false;
	node.left = node_last(self);
	node.reduction = word_take(self, words, CATALOG_REDUCTIONS);
	if (node.reduction == CATALOG_REDUCTIONS)
		return parser_refuse(self, "sum, max, min or avr is expected");
	return (!char_take(self, ',') || dimensions_read(self, &node)) &&
	       char_expect(self, "')' is expected") && node_add(self, &node);
}

/* Behind "select(". */
static bool select_read(struct expression_parser *self)
{
	struct expression_node node = { .kind = EXPRESSION_SELECT };

	if (!sum_read(self) || !char_expect(self, "',' is expected"))
		return false;
	node.left = node_last(self);
	return choices_read(self, &node) && char_expect(self, "')' is expected") &&
	       node_add(self, &node);
}

/* Behind "accumulate(". */
static bool accumulate_read(struct expression_parser *self)
{
	static const char *const words[] = { "NONE", "LOW_RES", "HIGH_RES" };
	struct expression_node node = { .kind = EXPRESSION_ACCUMULATE };
	unsigned which;

	if (!name_take(self, &node.name))
		return parser_refuse(self, "a name is expected");
	if (!char_expect(self, "',' is expected"))
		return false;
	which = word_take(self, words, ARRAY_SIZE(words));
	if (which == ARRAY_SIZE(words))
		return parser_refuse(self, "HIGH_RES or LOW_RES is expected");
	node.accumulation = (enum accumulation)which;
	return char_expect(self, "')' is expected") && node_add(self, &node);
}

static bool word_read(struct expression_parser *self)
{
	static const struct {
		const char *name;
		bool (*read)(struct expression_parser *self);
	} functions[] = { { "reduce", reduce_read },
			  { "select", select_read },
			  { "accumulate", accumulate_read } };
	struct expression_node node = { .kind = EXPRESSION_NAME };

	if (!name_take(self, &node.name))
		return parser_refuse(self, "a number or a name is expected");
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (name_is(&node.name, functions[i].name) && char_take(self, '('))
			return functions[i].read(self);
	return node_add(self, &node);
}

/* A number as it is written: digits, and how far its point is from behind them. */
struct written_number {
	uint64_t digits;
	unsigned kept;
	int exponent;
	bool is_any;
};

static void digits_take(struct expression_parser *self, struct written_number *number,
			bool is_fraction)
{
	for (; is_digit(parser_peek(self)); self->at++) {
		bool is_kept = number->kept < DIGITS_MAX;

		if (is_kept) {
			number->digits = number->digits * 10 + (uint64_t)(*self->at - '0');
			number->kept += number->digits != 0;
		}
		if (is_kept == is_fraction && number->exponent < EXPONENT_MAX &&
		    number->exponent > -EXPONENT_MAX)
			number->exponent += is_fraction ? -1 : 1;
		number->is_any = true;
	}
}

/* "e-05"; without digits it is none. */
static void exponent_take(struct expression_parser *self, struct written_number *number)
{
	const char *from = self->at;
	int exponent = 0, sign = 1;

	if (parser_peek(self) != 'e' && parser_peek(self) != 'E')
		return;
	self->at++;
	if (parser_peek(self) == '-' || parser_peek(self) == '+')
		sign = *self->at++ == '-' ? -1 : 1;
	if (!is_digit(parser_peek(self))) {
		self->at = from;
		return;
	}
	for (; is_digit(parser_peek(self)); self->at++)
		exponent = MIN(exponent * 10 + (*self->at - '0'), EXPONENT_MAX);
	number->exponent += sign * exponent;
}

/* Powers of ten up to the 22nd are exact: so is what has few digits. */
static double number_value(const struct written_number *number)
{
	double value = (double)number->digits, power = 1;
	int left = number->exponent;

	for (; value != 0 && left; left += left > 0 ? -1 : 1) {
		power *= 10;
		if (power < 1e22 && left != 1 && left != -1)
			continue;
		value = left > 0 ? value * power : value / power;
		power = 1;
		if (!__builtin_isfinite(value))
			break;
	}
	return value;
}

/* AMD's parser drops the digits after a point, and an exponent; these are kept here. */
static bool number_read(struct expression_parser *self)
{
	struct expression_node node = { .kind = EXPRESSION_NUMBER };
	struct written_number number = { 0 };

	digits_take(self, &number, /* is_fraction */ false);
	if (parser_peek(self) == '.') {
		self->at++;
		digits_take(self, &number, /* is_fraction */ true);
	}
	if (!number.is_any)
		return parser_refuse(self, "it is no number");
	exponent_take(self, &number);
	node.number = number_value(&number);
	if (!__builtin_isfinite(node.number))
		return parser_refuse(self, "the number is too large");
	return node_add(self, &node);
}

static bool atom_read(struct expression_parser *self)
{
	blanks_skip(self);
	if (is_digit(parser_peek(self)) || parser_peek(self) == '.')
		return number_read(self);
	if (char_take(self, '('))
		return sum_read(self) && char_expect(self, "')' is expected");
	return word_read(self);
}

/* Operands of the same rank, from left to right. */
static bool chain_read(struct expression_parser *self, const char *letters,
		       enum expression_kind first, bool (*read)(struct expression_parser *self))
{
	if (!read(self))
		return false;
	for (;;) {
		struct expression_node node = { .left = node_last(self) };
		unsigned which = char_take(self, letters[0])   ? 0
				 : char_take(self, letters[1]) ? 1
							       : 2;

		if (which == 2)
			return true;
		node.kind = (enum expression_kind)(first + which);
		if (!read(self))
			return false;
		node.right = node_last(self);
		if (!node_add(self, &node))
			return false;
	}
}

static bool product_read(struct expression_parser *self)
{
	return chain_read(self, "*/", EXPRESSION_MULTIPLY, atom_read);
}

static bool sum_read(struct expression_parser *self)
{
	bool is_read;

	if (self->depth++ == EXPRESSION_DEPTH_MAX)
		return parser_refuse(self, "too much is nested");
	is_read = chain_read(self, "+-", EXPRESSION_ADD, product_read);
	self->depth--;
	return is_read;
}

bool expression_parse(struct expression *ret, const char *text, size_t length,
		      struct expression_fault *ret_fault)
{
	struct expression_parser self = { .into = ret, .at = text, .end = text + length };

	ret->count = 0;
	if (sum_read(&self)) {
		blanks_skip(&self);
		if (self.at == self.end)
			return true;
		self.why = "an operator is expected";
	}
	*ret_fault = (struct expression_fault){ (size_t)(self.at - text), self.why };
	return false;
}

struct catalog_node expression_catalog_node(const struct expression_node *node)
{
	static const uint16_t kinds[] = {
		[EXPRESSION_NUMBER] = CATALOG_NUMBER,     [EXPRESSION_NAME] = CATALOG_EVENT,
		[EXPRESSION_ACCUMULATE] = CATALOG_EVENT,  [EXPRESSION_ADD] = CATALOG_ADD,
		[EXPRESSION_SUBTRACT] = CATALOG_SUBTRACT, [EXPRESSION_MULTIPLY] = CATALOG_MULTIPLY,
		[EXPRESSION_DIVIDE] = CATALOG_DIVIDE,     [EXPRESSION_REDUCE] = CATALOG_REDUCE,
		[EXPRESSION_SELECT] = CATALOG_SELECT,
	};

	return (struct catalog_node){ .kind = kinds[node->kind],
				      .dimensions = (uint16_t)node->dimensions,
				      .what = node->kind == EXPRESSION_REDUCE ? node->reduction : 0,
				      .number = node->number };
}
