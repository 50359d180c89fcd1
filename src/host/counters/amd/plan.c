/*
 * From the names of counters to events of blocks, and from those to passes.
 */
#include "host/counters/amd/plan.h"

#include "host/core/cleanup.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define EXPANSIONS_DEEP 16u

struct planner {
	struct counter_plan *plan;
	const struct amd_counters *definitions;
	const struct plan_devices *devices;
	const struct counter_device *device; /* of them */
	char *text;                          /* of EXPANDED_MAX bytes: the expansion so far */
	size_t length;
	unsigned depth;
	struct err *err;
};

static const struct block_limit {
	const char *prefix, *block;
	unsigned counters;
} block_limits[] = {
#define BLOCK(prefix, block, counters) { prefix, block, counters },
#include "host/counters/amd/blocks.def"
#undef BLOCK
};

unsigned block_counters(const char *architecture, const char *block)
{
	for (size_t i = 0; i < ARRAY_SIZE(block_limits); i++)
		if (!strncmp(architecture, block_limits[i].prefix,
			     strlen(block_limits[i].prefix)) &&
		    !strcmp(block, block_limits[i].block))
			return block_limits[i].counters;
	return 0;
}

static int plan_refuse(struct err *err, const char *counter, const char *why)
{
	err_usage(err, NULL, "counter '%s' cannot be collected", counter);
	return err_why(err, "%s", why);
}

static void planner_print(struct planner *self, const char *format, ...) PRINTF_LIKE(2, 3);

/* A long text is cut, which shows by its length. */
static void planner_print(struct planner *self, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_list(self->text + self->length, EXPANDED_MAX - self->length, format, arguments);
	va_end(arguments);
	self->length += strlen(self->text + self->length);
}

static bool planner_is_full(const struct planner *self)
{
	return self->length + 1 >= EXPANDED_MAX;
}

static int event_add(struct planner *self, const struct amd_counter *counter, uint32_t flags)
{
	struct counter_plan *plan = self->plan;
	uint32_t own = flags ? flags : (uint32_t)(counter->event >> 32);

	for (size_t i = 0; i < plan->event_count; i++)
		if (plan->events[i].name == counter->name && plan->events[i].flags == own)
			return 0;
	if (plan->event_count == PLAN_EVENTS_MAX)
		return plan_refuse(self->err, counter->name, "too many events are needed at once");
	plan->events[plan->event_count++] = (struct planned_event){
		.name = counter->name,
		.block = counter->block,
		.event = (uint32_t)counter->event,
		.flags = own,
	};
	return 0;
}

static int counter_expand(struct planner *self, const struct amd_counter *counter);

/* Devices of one architecture may differ in how much they have. */
static bool property_is_common(const struct planner *self, struct text name, uint64_t value)
{
	for (size_t i = 0; i < self->devices->count; i++) {
		const struct counter_device *other = &self->devices->items[i];
		uint64_t others;

		if (!strcmp(other->architecture, self->device->architecture) &&
		    (!device_property_find(other->properties, name, &others) || others != value))
			return false;
	}
	return true;
}

static int name_expand(struct planner *self, const struct expression_node *node)
{
	const struct text named = expression_name_text(node);
	char name[DEFINITION_NAME_MAX];
	const struct amd_counter *counter;
	uint64_t value;
	int r;

	text_copy(named, name, sizeof(name));
	counter = amd_counter_find(self->definitions, self->device->architecture, name);
	if (!counter && device_property_find(self->device->properties, named, &value)) {
		if (property_is_common(self, named, value))
			planner_print(self, "%llu", (unsigned long long)value);
		else /* resolved during the evaluation */
			planner_print(self, "%s", name);
		return 0;
	}
	if (!counter) {
		char why[256];

		print_into(why, sizeof(why), "it needs '%s', which %s does not have", name,
			   self->device->architecture);
		return plan_refuse(self->err, name, why);
	}
	if (node->kind == EXPRESSION_NAME && counter->expression) {
		planner_print(self, "(");
		r = counter_expand(self, counter);
		planner_print(self, ")");
		return r;
	}
	if (counter->expression)
		return plan_refuse(self->err, name, "only what a block counts can be accumulated");
	if (node->accumulation && strcmp(counter->block, "SQ"))
		return plan_refuse(self->err, name, "only counters of SQ can be accumulated");
	if (node->kind == EXPRESSION_NAME)
		planner_print(self, "%s", name);
	else
		planner_print(self, "accumulate(%s,%s)", name,
			      node->accumulation == ACCUMULATE_HIGH_RES  ? "HIGH_RES"
			      : node->accumulation == ACCUMULATE_LOW_RES ? "LOW_RES"
									 : "NONE");
	return event_add(self, counter, node->accumulation);
}

static void dimensions_print(struct planner *self, const struct expression_node *node)
{
	const char *before = ",[";

	for (unsigned i = 0; i < DIMENSIONS; i++) {
		const char *comma = "=[";

		if (!(node->dimensions & 1u << i))
			continue;
		planner_print(self, "%s%s", before, dimension_names[i].name);
		before = ",";
		for (unsigned j = 0; node->kind == EXPRESSION_SELECT && j < 64; j++)
			if (node->chosen.numbers[i] >> j & 1) {
				planner_print(self, "%s%u", comma, j);
				comma = ",";
			}
		if (node->kind == EXPRESSION_SELECT)
			planner_print(self, "]");
	}
	if (node->dimensions)
		planner_print(self, "]");
}

/* The shortest exact form. */
static void number_print(struct planner *self, double number)
{
	char brief[32];

	print_into(brief, sizeof(brief), "%.15g", number);
	if (strtod(brief, NULL) == number)
		planner_print(self, "%s", brief);
	else
		planner_print(self, "%.17g", number);
}

static int node_expand(struct planner *self, const struct expression *expression, uint32_t index);

static int function_expand(struct planner *self, const struct expression *expression,
			   const struct expression_node *node)
{
	static const char *const words[] = { "sum", "max", "min", "avr" };
	bool is_reduce = node->kind == EXPRESSION_REDUCE;
	int r;

	planner_print(self, is_reduce ? "reduce(" : "select(");
	r = node_expand(self, expression, node->left);
	if (is_reduce)
		planner_print(self, ",%s", words[node->reduction]);
	dimensions_print(self, node);
	planner_print(self, ")");
	return r;
}

static int node_expand(struct planner *self, const struct expression *expression, uint32_t index)
{
	static const char letters[] = { [EXPRESSION_ADD] = '+',
					[EXPRESSION_SUBTRACT] = '-',
					[EXPRESSION_MULTIPLY] = '*',
					[EXPRESSION_DIVIDE] = '/' };
	const struct expression_node *node = &expression->nodes[index];
	int r;

	if (planner_is_full(self))
		return plan_refuse(self->err, "", "what it is made of comes to too much");
	switch (node->kind) {
	case EXPRESSION_NUMBER:
		number_print(self, node->number);
		return 0;
	case EXPRESSION_NAME:
	case EXPRESSION_ACCUMULATE:
		return name_expand(self, node);
	case EXPRESSION_REDUCE:
	case EXPRESSION_SELECT:
		return function_expand(self, expression, node);
	default:
		planner_print(self, "(");
		r = node_expand(self, expression, node->left);
		planner_print(self, "%c", letters[node->kind]);
		if (!r)
			r = node_expand(self, expression, node->right);
		planner_print(self, ")");
		return r;
	}
}

static int expression_expand(struct planner *self, const struct amd_counter *counter)
{
	CLEANUP(free) struct expression *expression = malloc(sizeof(*expression));
	int r;

	if (!expression)
		return err_set(self->err, -ENOMEM, "no memory for expressions");
	r = expression_read(expression, counter->expression, self->err);
	if (r)
		return err_while(self->err, "counter '%s'", counter->name);
	return node_expand(self, expression, expression->count - 1);
}

/* Into self->out. */
static int counter_expand(struct planner *self, const struct amd_counter *counter)
{
	int r;

	if (!counter->expression) {
		planner_print(self, "%s", counter->name);
		return event_add(self, counter, ACCUMULATE_NONE);
	}
	if (self->depth == EXPANSIONS_DEEP)
		return plan_refuse(self->err, counter->name, "it is made of itself");
	self->depth++;
	r = expression_expand(self, counter);
	self->depth--;
	return r;
}

/* It is read again where values are computed: an expression may nest, or add up one behind the
 * other, no more than EXPRESSION_DEPTH_MAX. */
static int expanded_check(struct planner *self, const char *name)
{
	CLEANUP(free) struct expression *expression = malloc(sizeof(*expression));
	struct err ignored = { 0 };

	if (!expression)
		return err_set(self->err, -ENOMEM, "no memory for expressions");
	return planner_is_full(self) || expression_read(expression, self->text, &ignored)
		       ? plan_refuse(self->err, name, "what it is made of comes to too much")
		       : 0;
}

static int counter_plan_add(struct planner *self, const struct amd_counter *counter)
{
	struct counter_plan *plan = self->plan;
	struct planned_counter *into = &plan->counters[plan->counter_count];
	int r;

	if (plan->counter_count == PLAN_COUNTERS_MAX)
		return plan_refuse(self->err, counter->name, "more than 64 counters are asked for");
	self->length = 0;
	self->text[0] = '\0';
	r = counter_expand(self, counter);
	if (!r)
		r = expanded_check(self, counter->name);
	if (r)
		return r;
	*into = (struct planned_counter){ counter, strdup(self->text) };
	if (!into->expanded)
		return err_set(self->err, -ENOMEM, "no memory for expressions");
	plan->counter_count++;
	return 0;
}

static bool plan_has(const struct counter_plan *plan, const struct amd_counter *counter)
{
	for (size_t i = 0; i < plan->counter_count; i++)
		if (plan->counters[i].definition == counter)
			return true;
	return false;
}

/* First fit: an event is put into the first pass in which its block has a counter left. */
static void plan_pack(struct counter_plan *plan)
{
	plan->passes = plan->event_count ? 1 : 0;
	for (size_t i = 0; i < plan->event_count; i++) {
		struct planned_event *event = &plan->events[i];
		unsigned limit = block_counters(plan->architecture, event->block);

		for (event->pass = 0; limit; event->pass++) {
			unsigned used = 0;

			for (size_t j = 0; j < i; j++)
				used += plan->events[j].pass == event->pass &&
					!strcmp(plan->events[j].block, event->block);
			if (used < limit)
				break;
		}
		plan->passes = MAX(plan->passes, event->pass + 1);
	}
}

static int refuse_architecture(const struct amd_counters *definitions,
			       const struct counter_device *device, struct err *err)
{
	err_set(err, -ENOENT, "device %u is a %s, of which no counter is defined", device->node,
		device->architecture[0] ? device->architecture : "device of no known architecture");
	err_why(err, "'%s' has none for it", definitions->path);
	err_fix(err, "a newer rocprofiler-sdk, or a folder that has them: "
		     "ROCPROFILER_METRICS_PATH=FOLDER (of rocprofv3 also --config-dir FOLDER)");
	return err_exit(err, EXIT_USAGE);
}

static int refuse_unknown(const struct counter_plan *plan, struct err *err)
{
	err_set(err, -ENOENT, "Unable to find all counters for agent of %s: none is left",
		plan->architecture);
	err_why(err, "not defined for it: %s", plan->unknown);
	err_fix(err, "rocprofv3 -L, or limpet stat --list, lists those that are");
	return err_exit(err, EXIT_USAGE);
}

static int names_plan(struct planner *self, const char *const *names, size_t count)
{
	struct counter_plan *plan = self->plan;
	int r = 0;

	for (size_t i = 0; !r && i < count; i++) {
		const struct amd_counter *counter =
			amd_counter_find(self->definitions, plan->architecture, names[i]);

		if (!counter) {
			size_t at = strlen(plan->unknown);

			print_into(plan->unknown + at, sizeof(plan->unknown) - at, "%s%s",
				   at ? " " : "", names[i]);
		} else if (!plan_has(plan, counter)) {
			r = counter_plan_add(self, counter);
		}
	}
	return r;
}

int counter_plan_make(struct counter_plan *ret, const struct amd_counters *definitions,
		      const struct plan_devices *devices, const char *const *names, size_t count,
		      struct err *err)
{
	CLEANUP(free) char *text = malloc(EXPANDED_MAX);
	const struct counter_device *device = &devices->items[devices->index];
	struct planner self = { .plan = ret,
				.definitions = definitions,
				.devices = devices,
				.device = device,
				.text = text,
				.err = err };
	int r;

	*ret = (struct counter_plan){ 0 };
	print_into(ret->architecture, sizeof(ret->architecture), "%s", device->architecture);
	if (!amd_counters_know(definitions, device->architecture))
		return refuse_architecture(definitions, device, err);
	r = text ? names_plan(&self, names, count)
		 : err_set(err, -ENOMEM, "no memory for expressions");
	if (!r && !ret->counter_count)
		r = refuse_unknown(ret, err);
	if (r)
		counter_plan_done(ret);
	else
		plan_pack(ret);
	return r;
}

void counter_plan_done(struct counter_plan *plan)
{
	for (size_t i = 0; i < plan->counter_count; i++)
		free(plan->counters[i].expanded);
	plan->counter_count = plan->event_count = 0;
}

static void names_print(const struct counter_plan *plan, bool is_first, char *text, size_t room)
{
	text[0] = '\0';
	for (size_t i = 0; i < plan->event_count; i++) {
		size_t at = strlen(text);

		if ((plan->events[i].pass == 0) == is_first)
			print_into(text + at, room - at, "%s%s", at ? " " : "",
				   plan->events[i].name);
	}
}

int counter_plan_check(const struct counter_plan *plan, struct err *err)
{
	char fit[256], rest[256];

	if (plan->passes <= 1)
		return 0;
	names_print(plan, true, fit, sizeof(fit));
	names_print(plan, false, rest, sizeof(rest));
	err_set(err, -E2BIG,
		"Request exceeds the capabilities of the hardware to collect: %u passes would be "
		"needed, and a running process is there once",
		plan->passes);
	err_why(err, "blocks of %s have too few counters for: %s", plan->architecture, rest);
	err_fix(err, "leave those out; these fit at once: %s", fit);
	return err_exit(err, EXIT_USAGE);
}
