/*
 * Evaluates the formulas of counters.
 */
#include "host/counters/amd/formulas.h"

#include "shared/wire/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_MASK (((uint64_t)1 << COUNT_EVENT_SHIFT) - 1)

void counter_formulas_init(struct counter_formulas *ret, const struct recorded_counter *facts,
			   uint32_t fact_count)
{
	*ret = (struct counter_formulas){ .facts = facts };
	while (ret->event_count < fact_count && facts[ret->event_count].is_event)
		ret->event_count++;
	ret->count = MIN(fact_count - ret->event_count, FORMULAS_MAX);
}

void counter_formulas_done(struct counter_formulas *formulas)
{
	for (uint32_t i = 0; i < FORMULAS_MAX; i++)
		free(formulas->items[i]);
	*formulas = (struct counter_formulas){ 0 };
}

/* The event of that name with that accumulation.  Without accumulation it may have other flags:
 * then the first of that name.  Their number: there is none. */
static uint32_t event_find(const struct counter_formulas *formulas, struct text name,
			   enum accumulation accumulation)
{
	uint32_t first = formulas->event_count;

	for (uint32_t i = 0; i < formulas->event_count; i++) {
		if (!text_equals(name, formulas->facts[i].name))
			continue;
		if (formulas->facts[i].flags == accumulation)
			return i;
		first = MIN(first, i);
	}
	return accumulation ? formulas->event_count : first;
}

struct values_search {
	const struct counter_formulas *formulas;
	const struct event_counts *counts;
};

bool device_property_find(const char *properties, struct text name, uint64_t *ret)
{
	size_t length = (size_t)(name.end - name.at);
	struct text rest = text_of(properties ? properties : ""), line;

	while (text_take_line(&rest, &line))
		if ((size_t)(line.end - line.at) > length && !memcmp(line.at, name.at, length) &&
		    (line.at[length] == ' ' || line.at[length] == '=')) {
			line.at += length + 1;
			text_skip_blanks(&line);
			return text_take_number(&line, 10, ret);
		}
	return false;
}

/* Other names are properties of the device. */
static int property_value(const struct event_counts *counts, struct text name,
			  struct counter_values *ret)
{
	uint64_t number;

	if (!device_property_find(counts->properties, name, &number))
		return -ENOENT;
	ret->items = calloc(1, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	ret->items[0].value = (double)number;
	ret->count = 1;
	return 0;
}

/* Values of one event. */
static int values_find(struct text name, enum accumulation accumulation, struct counter_values *ret,
		       void *context)
{
	const struct values_search *search = context;
	const struct event_counts *counts = search->counts;
	uint32_t event = event_find(search->formulas, name, accumulation);

	if (event == search->formulas->event_count)
		return property_value(counts, name, ret);
	ret->items = calloc(MAX(counts->count, (size_t)1), sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (size_t i = 0; i < counts->count; i++)
		if (counts->items[i].id >> COUNT_EVENT_SHIFT == event)
			ret->items[ret->count++] =
				(struct counter_value){ counts->items[i].id & PLACE_MASK,
							(double)counts->items[i].value };
	if (ret->count)
		return 0;
	free(ret->items); /* this device does not count it */
	ret->items = NULL;
	return -ENOENT;
}

/* NULL: no memory, or it is none. */
static const struct expression *formula_of(struct counter_formulas *formulas, uint32_t index)
{
	struct expression *made;
	struct err ignored = { 0 };

	if (formulas->is_tried[index])
		return formulas->items[index];
	formulas->is_tried[index] = true;
	made = malloc(sizeof(*made));
	if (made &&
	    expression_read(made, counter_formula_fact(formulas, index)->expanded, &ignored)) {
		free(made);
		made = NULL;
	}
	formulas->items[index] = made;
	return made;
}

int counter_formula_values(struct counter_formulas *formulas, uint32_t index,
			   const struct event_counts *counts, struct counter_values *ret)
{
	const struct expression *formula = formula_of(formulas, index);
	struct values_search search = { formulas, counts };

	*ret = (struct counter_values){ 0 };
	return formula ? expression_evaluate(formula, values_find, &search, ret) : -EINVAL;
}

static bool is_event(struct text name, const void *context)
{
	const struct counter_formulas *formulas = context;

	return event_find(formulas, name, ACCUMULATE_NONE) < formulas->event_count;
}

bool counter_formula_adds_up(struct counter_formulas *formulas, uint32_t index)
{
	const struct expression *formula = formula_of(formulas, index);

	return formula && expression_adds_up(formula, is_event, formulas);
}
