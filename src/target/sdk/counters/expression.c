/*
 * On threads of tools, in their turn.  The text is a tool's: what it may nest, and how long it may
 * get, is limited.
 */
#include "target/sdk/counters/expression.h"

#define DEPTH_MAX  64u
#define LOW_RES    1u /* flags of an event that the device sums up over time */
#define HIGH_RES   2u
#define PLACES_MAX 64u

struct expression_parser {
	struct expression *into;
	const char *at, *end;
	const struct catalog *catalog;
	const struct catalog_device *device;
	unsigned depth;
};

struct expression_word {
	const char *at;
	size_t length;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void blanks_skip(struct expression_parser *self)
{
	while (self->at < self->end && (*self->at == ' ' || *self->at == '\t'))
		self->at++;
}

static bool char_take(struct expression_parser *self, char wanted)
{
	blanks_skip(self);
	if (self->at == self->end || *self->at != wanted)
		return false;
	self->at++;
	return true;
}

static bool word_take(struct expression_parser *self, struct expression_word *ret)
{
	blanks_skip(self);
	*ret = (struct expression_word){ self->at, 0 };
	while (self->at < self->end &&
	       (is_letter(*self->at) || (ret->length && is_digit(*self->at)))) {
		self->at++;
		ret->length++;
	}
	return ret->length;
}

static bool word_is(const struct expression_word *word, const char *text)
{
	size_t i = 0;

	while (i < word->length && text[i] && word->at[i] == text[i])
		i++;
	return i == word->length && !text[i];
}

/* Which of the list; its length: none. */
static unsigned word_find(const struct expression_word *word, const char *const *list,
			  unsigned count)
{
	unsigned i = 0;

	while (i < count && !word_is(word, list[i]))
		i++;
	return i;
}

static bool node_add(struct expression_parser *self, const struct catalog_node *node)
{
	if (self->into->count == CATALOG_NODES_MAX)
		return false;
	self->into->nodes[self->into->count++] = *node;
	return true;
}

static uint32_t node_last(const struct expression_parser *self)
{
	return self->into->count - 1;
}

static const struct catalog_counter *counter_named(const struct expression_parser *self,
						   const struct expression_word *name)
{
	const struct catalog_counter *counters = catalog_list(self->catalog, CATALOG_COUNTERS);

	for (uint32_t i = 0; i < self->device->count; i++) {
		const struct catalog_counter *counter = &counters[self->device->first + i];

		if (word_is(name, catalog_text(self->catalog, counter->name)))
			return counter;
	}
	return NULL;
}

/* What it is made of, in its place. */
static bool counter_add(struct expression_parser *self, const struct expression_word *name)
{
	const struct catalog_counter *counter = counter_named(self, name);
	const struct catalog_node *nodes = catalog_list(self->catalog, CATALOG_NODES);
	uint32_t first = self->into->count;

	for (uint32_t i = 0; counter && i < counter->count; i++) {
		struct catalog_node node = nodes[counter->first + i];

		node.left += first;
		node.right += first;
		if (!node_add(self, &node))
			return false;
	}
	return counter && counter->count;
}

static bool sum_read(struct expression_parser *self);

static const char *const dimensions[CATALOG_DIMENSIONS] = {
	"DIMENSION_XCC",          "DIMENSION_AID", "DIMENSION_SHADER_ENGINE",
	"DIMENSION_SHADER_ARRAY", "DIMENSION_WGP", "DIMENSION_INSTANCE",
};

static bool dimension_read(struct expression_parser *self, unsigned *ret)
{
	struct expression_word word;

	*ret = word_take(self, &word) ? word_find(&word, dimensions, CATALOG_DIMENSIONS)
				      : CATALOG_DIMENSIONS;
	return *ret < CATALOG_DIMENSIONS;
}

/* "[DIMENSION_XCC,DIMENSION_WGP]" */
static bool dimensions_read(struct expression_parser *self, struct catalog_node *node)
{
	unsigned dimension;

	if (!char_take(self, '['))
		return false;
	do {
		if (!dimension_read(self, &dimension))
			return false;
		node->dimensions |= (uint16_t)(1u << dimension);
	} while (char_take(self, ','));
	return char_take(self, ']');
}

static bool place_read(struct expression_parser *self, uint64_t *ret)
{
	blanks_skip(self);
	if (self->at == self->end || !is_digit(*self->at))
		return false;
	for (*ret = 0; self->at < self->end && is_digit(*self->at); self->at++)
		*ret = MIN(*ret * 10 + (uint64_t)(*self->at - '0'), PLACES_MAX);
	return *ret < PLACES_MAX;
}

/* "0:3,5" */
static bool places_read(struct expression_parser *self, uint64_t *bits)
{
	do {
		uint64_t first, last;

		if (!place_read(self, &first))
			return false;
		last = first;
		if (char_take(self, ':') && (!place_read(self, &last) || last < first))
			return false;
		for (; first <= last; first++)
			*bits |= (uint64_t)1 << first;
	} while (char_take(self, ','));
	return true;
}

/* "[DIMENSION_XCC=[0:3,5],...]" */
static bool choices_read(struct expression_parser *self, struct catalog_node *node,
			 struct catalog_choice *choice)
{
	unsigned dimension;

	if (!char_take(self, '['))
		return false;
	do {
		if (!dimension_read(self, &dimension) || !char_take(self, '=') ||
		    !char_take(self, '[') || !places_read(self, &choice->numbers[dimension]) ||
		    !char_take(self, ']'))
			return false;
		node->dimensions |= (uint16_t)(1u << dimension);
	} while (char_take(self, ','));
	return char_take(self, ']');
}

/* Behind "reduce(". */
static bool reduce_read(struct expression_parser *self)
{
	static const char *const words[CATALOG_REDUCTIONS] = { "sum", "max", "min", "avr" };
	struct catalog_node node = { .kind = CATALOG_REDUCE };
	struct expression_word word;

	if (!sum_read(self) || !char_take(self, ',') || !word_take(self, &word))
		return false;
	node.left = node_last(self);
	node.what = word_find(&word, words, CATALOG_REDUCTIONS);
	return node.what < CATALOG_REDUCTIONS &&
	       (!char_take(self, ',') || dimensions_read(self, &node)) && char_take(self, ')') &&
	       node_add(self, &node);
}

/* Behind "select(". */
static bool select_read(struct expression_parser *self)
{
	struct expression *into = self->into;
	struct catalog_node node = { .kind = CATALOG_SELECT };
	struct catalog_choice choice = { { 0 } };

	if (!sum_read(self) || !char_take(self, ','))
		return false;
	node.left = node_last(self);
	if (!choices_read(self, &node, &choice) || !char_take(self, ')') ||
	    into->choice_count == EXPRESSION_CHOICES_MAX)
		return false;
	node.what = self->catalog->lists[CATALOG_CHOICES].count + into->choice_count;
	into->choices[into->choice_count++] = choice;
	return node_add(self, &node);
}

/* Behind "accumulate(": the same event, with other flags. */
static bool accumulate_read(struct expression_parser *self)
{
	struct expression *into = self->into;
	const struct catalog_event *events = catalog_list(self->catalog, CATALOG_EVENTS);
	struct expression_word name, word;
	struct catalog_event event;

	if (!word_take(self, &name) || !counter_add(self, &name) || !char_take(self, ',') ||
	    !word_take(self, &word) || !char_take(self, ')') ||
	    into->nodes[node_last(self)].kind != CATALOG_EVENT ||
	    into->event_count == EXPRESSION_EVENTS_MAX)
		return false;
	event = events[into->nodes[node_last(self)].what];
	event.flags = word_is(&word, "LOW_RES") ? LOW_RES : HIGH_RES;
	into->nodes[node_last(self)].what =
		self->catalog->lists[CATALOG_EVENTS].count + into->event_count;
	into->events[into->event_count++] = event;
	return event.flags == LOW_RES || word_is(&word, "HIGH_RES");
}

static bool name_read(struct expression_parser *self)
{
	static const struct {
		const char *name;
		bool (*read)(struct expression_parser *self);
	} functions[] = { { "reduce", reduce_read },
			  { "select", select_read },
			  { "accumulate", accumulate_read } };
	struct expression_word word;

	if (!word_take(self, &word))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (word_is(&word, functions[i].name) && char_take(self, '('))
			return functions[i].read(self);
	return counter_add(self, &word);
}

static bool number_read(struct expression_parser *self)
{
	struct catalog_node node = { .kind = CATALOG_NUMBER };
	double unit = 1;

	for (; self->at < self->end && is_digit(*self->at); self->at++)
		node.number = node.number * 10 + (*self->at - '0');
	if (self->at < self->end && *self->at == '.')
		for (self->at++; self->at < self->end && is_digit(*self->at); self->at++)
			node.number += (*self->at - '0') * (unit /= 10);
	return node_add(self, &node);
}

static bool atom_read(struct expression_parser *self)
{
	blanks_skip(self);
	if (self->at < self->end && is_digit(*self->at))
		return number_read(self);
	if (char_take(self, '('))
		return sum_read(self) && char_take(self, ')');
	return name_read(self);
}

/* Operands of the same rank, from the left. */
static bool chain_read(struct expression_parser *self, const char *letters, uint16_t first,
		       bool (*read)(struct expression_parser *self))
{
	if (!read(self))
		return false;
	for (;;) {
		struct catalog_node node = { .left = node_last(self) };
		uint16_t which = char_take(self, letters[0])   ? 0
				 : char_take(self, letters[1]) ? 1
							       : 2;

		if (which == 2)
			return true;
		node.kind = (uint16_t)(first + which);
		if (!read(self))
			return false;
		node.right = node_last(self);
		if (!node_add(self, &node))
			return false;
	}
}

static bool product_read(struct expression_parser *self)
{
	return chain_read(self, "*/", CATALOG_MULTIPLY, atom_read);
}

static bool sum_read(struct expression_parser *self)
{
	bool is_read;

	if (self->depth++ == DEPTH_MAX)
		return false;
	is_read = chain_read(self, "+-", CATALOG_ADD, product_read);
	self->depth--;
	return is_read;
}

bool expression_read(struct expression *ret, const char *text, size_t length,
		     const struct catalog *catalog, const struct catalog_device *device)
{
	struct expression_parser self = { ret, text, text + length, catalog, device, 0 };

	ret->count = ret->choice_count = ret->event_count = 0;
	if (!sum_read(&self))
		return false;
	blanks_skip(&self);
	return self.at == self.end;
}
