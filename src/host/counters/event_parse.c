/*
 * Parses lists of events in the syntax of perf's -e; opens only the kernel's descriptions of its
 * events.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "host/core/text/nearest.h"
#include "host/core/text/print.h"
#include "host/counters/event_names.h"

#define WORD_ENDS  ",{}:/"
#define TYPE_SHIFT 32 /* where the kernel reads the PMU of its own events (Linux 5.13) */

const struct counter_sources counter_sources_system = {
	.devices = "/sys/bus/event_source/devices",
	.tracepoints = "/sys/kernel/tracing/events",
};

/* Letters of a modifier that choose modes, and all that they are chosen from. */
static const struct {
	char letter;
	unsigned leaves, chooses_from;
} modifiers[] = {
	{ 'u', COUNTER_NO_USER, COUNTER_NO_USER | COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR },
	{ 'k', COUNTER_NO_KERNEL, COUNTER_NO_USER | COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR },
	{ 'h', COUNTER_NO_HYPERVISOR, COUNTER_NO_USER | COUNTER_NO_KERNEL | COUNTER_NO_HYPERVISOR },
	{ 'H', COUNTER_NO_HOST, COUNTER_NO_HOST | COUNTER_NO_GUEST },
	{ 'G', COUNTER_NO_GUEST, COUNTER_NO_HOST | COUNTER_NO_GUEST },
};

static const char *const default_groups[] = {
	"task-clock",
	"context-switches",
	"cpu-migrations",
	"page-faults",
	"minor-faults",
	"major-faults",
	"{cycles,instructions}",
	"{branches,branch-misses}",
	"{cache-references,cache-misses}",
};

/* Of some processors only.  A name that no PMU has is none here. */
static const char *const optional_groups[] = {
	"{stalled-cycles-frontend,stalled-cycles-backend}",
	"{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound}",
};

/* By which the whole is compared with the process's own clock. */
static const char *const checks[] = { "task-clock", "context-switches" };

struct events_parser {
	struct counter_events *events;
	const struct counter_sources *sources;
	struct core_pmus pmus;
	struct text rest;
	unsigned group; /* of the next event */
	bool is_in_group;
	struct err *err;
};

static int parser_refuse(struct events_parser *self, const char *what, struct text word)
{
	char shown[COUNTER_NAME_MAX];

	text_copy_printable(word, shown, sizeof(shown));
	return err_usage(self->err,
			 "limpet stat --list shows the names of events; limpet stat --help how "
			 "they are put together",
			 "-e: %s '%s'", what, shown);
}

static void parser_offer(const char *name, void *context)
{
	nearest_offer(context, name);
}

static int parser_refuse_name(struct events_parser *self, const char *name)
{
	struct nearest nearest = { .wanted = name };

	/* It keeps pointers to names: no composed ones here. */
	counter_generic_visit(parser_offer, &nearest);
	err_set(self->err, -ENOENT, "-e: there is no event '%s' here", name);
	if (nearest.best)
		err_fix(self->err, "did you mean '%s'? limpet stat --list shows all", nearest.best);
	else
		err_fix(self->err, "limpet stat --list shows their names");
	return err_exit(self->err, EXIT_USAGE);
}

static struct text parser_take_word(struct events_parser *self, const char *ends)
{
	struct text word = { self->rest.at, self->rest.at };

	while (word.end < self->rest.end && !strchr(ends, *word.end))
		word.end++;
	self->rest.at = word.end;
	return word;
}

static int parser_append(struct events_parser *self, const struct counter_event *event)
{
	struct counter_events *events = self->events;

	if (events->count == COUNTER_EVENTS_MAX) {
		err_set(self->err, -E2BIG, "-e: more than %u events", COUNTER_EVENTS_MAX);
		return err_exit(self->err, EXIT_USAGE);
	}
	events->items[events->count++] = *event;
	return 0;
}

/* The same event on each kind of processor, where a machine has several. */
static int parser_spread(struct events_parser *self, const struct counter_event *event)
{
	for (unsigned i = 0; i < self->pmus.count; i++) {
		struct counter_event one = *event;
		int type = pmu_type(self->sources, self->pmus.names[i]), r;

		if (type < 0)
			continue;
		if (event->type == PERF_TYPE_RAW)
			one.type = (uint32_t)type;
		else
			one.config |= (uint64_t)type << TYPE_SHIFT;
		one.is_partial = true;
		one.group = self->group + i;
		print_into(one.pmu, sizeof(one.pmu), "%s", self->pmus.names[i]);
		print_into(one.name, sizeof(one.name), "%s/%s/", one.pmu, one.base);
		r = parser_append(self, &one);
		if (r)
			return r;
	}
	return 0;
}

/* A name in PMUs only, "slots".  -ENOENT: in none. */
static int parser_add_pmu_name(struct events_parser *self, const char *name)
{
	int found = -ENOENT, r;

	for (unsigned i = 0; i < self->pmus.count; i++) {
		const char *pmu = self->pmus.names[i];
		struct counter_event event = { .group = self->group + i, .needs_pmu = true };
		int type = pmu_type(self->sources, pmu);

		if (type < 0 || !pmu_has_event(self->sources, pmu, name) ||
		    pmu_apply(self->sources, pmu, text_of(name), &event))
			continue;
		event.type = (uint32_t)type;
		event.is_partial = self->pmus.count > 1;
		print_into(event.base, sizeof(event.base), "%s", name);
		print_into(event.pmu, sizeof(event.pmu), "%s", event.is_partial ? pmu : "");
		print_into(event.name, sizeof(event.name), event.is_partial ? "%s/%s/" : "%s%s",
			   event.pmu, name);
		r = parser_append(self, &event);
		if (r)
			return r;
		found = 0;
	}
	return found;
}

/* -ENOENT: nothing has this name. */
static int parser_add_name(struct events_parser *self, const char *name)
{
	struct counter_event event = { .group = self->group };

	print_into(event.base, sizeof(event.base), "%s", name);
	if (counter_generic_find(name, &event) && counter_cache_find(name, &event) &&
	    counter_raw_find(name, &event))
		return parser_add_pmu_name(self, name);
	print_into(event.name, sizeof(event.name), "%s", event.base);
	if (event.needs_pmu && self->pmus.count > 1)
		return parser_spread(self, &event);
	return parser_append(self, &event);
}

static int parser_add_tracepoint(struct events_parser *self, const char *subsystem,
				 struct text word)
{
	struct counter_event event = { .group = self->group };
	char name[COUNTER_NAME_MAX / 2];
	int r;

	text_copy(word, name, sizeof(name));
	r = counter_tracepoint_find(self->sources, subsystem, name, &event);
	if (r == -EACCES) {
		err_set(self->err, r, "-e: the tracepoint %s:%s may not be looked at", subsystem,
			name);
		err_fix(self->err, "sudo limpet stat ...");
		return err_exit(self->err, EXIT_NOT_PERMITTED);
	}
	if (r)
		return parser_refuse_name(self, subsystem);
	print_into(event.base, sizeof(event.base), "%s:%s", subsystem, name);
	print_into(event.name, sizeof(event.name), "%s", event.base);
	return parser_append(self, &event);
}

/* Of several kinds of processors one: it counts there only, in the group of that kind. */
static void parser_note_kind(const struct events_parser *self, struct counter_event *event)
{
	for (unsigned i = 0; self->pmus.count > 1 && i < self->pmus.count; i++)
		if (!strcmp(self->pmus.names[i], event->pmu)) {
			event->is_partial = true;
			event->group += i;
		}
}

/* "cpu/event=0x3c/": its terms follow. */
static int parser_add_terms(struct events_parser *self, const char *pmu)
{
	struct counter_event event = { .group = self->group, .needs_pmu = true };
	int type = strspn(pmu, ".") ? -ENOENT : pmu_type(self->sources, pmu);
	struct text terms = parser_take_word(self, "/");
	char shown[COUNTER_NAME_MAX / 2];

	if (type < 0 || !text_take_char(&self->rest, '/'))
		return parser_refuse(self,
				     type < 0 ? "there is no PMU" : "the second '/' is missing of",
				     text_of(pmu));
	if (strlen(pmu) >= sizeof(event.pmu) || terms.end - terms.at >= (ptrdiff_t)sizeof(shown))
		return parser_refuse(self, "too long:", terms);
	text_copy(terms, shown, sizeof(shown));
	event.type = (uint32_t)type;
	print_into(event.base, sizeof(event.base), "%s", shown);
	print_into(event.pmu, sizeof(event.pmu), "%s", pmu);
	print_into(event.name, sizeof(event.name), "%s/%s/", pmu, shown);
	if (pmu_apply(self->sources, pmu, terms, &event)) {
		if (counter_generic_find(shown, &event) || !event.needs_pmu)
			return parser_refuse(self, "that PMU does not know", terms);
		event.config |= (uint64_t)type << TYPE_SHIFT;
	}
	parser_note_kind(self, &event);
	return parser_append(self, &event);
}

static int parser_modify(struct events_parser *self, size_t first, struct text letters)
{
	unsigned chosen_from = 0, left = 0;

	for (const char *at = letters.at; at < letters.end; at++) {
		size_t i = 0;

		while (i < ARRAY_SIZE(modifiers) && modifiers[i].letter != *at)
			i++;
		if (i == ARRAY_SIZE(modifiers))
			return parser_refuse(self, "u, k, h, H and G can follow an event, not",
					     letters);
		left |= modifiers[i].leaves;
		chosen_from |= modifiers[i].chooses_from;
	}
	for (size_t i = first; chosen_from && i < self->events->count; i++) {
		struct counter_event *event = &self->events->items[i];
		size_t length = strlen(event->name);

		event->exclusions |= chosen_from & ~left;
		print_into(event->name + length, sizeof(event->name) - length, "%s%.*s",
			   length && event->name[length - 1] == '/' ? "" : ":",
			   (int)(letters.end - letters.at), letters.at);
	}
	return 0;
}

/* The modifiers after a name. */
static int parser_take_tail(struct events_parser *self, size_t first, bool is_behind_slash)
{
	if (!text_take_char(&self->rest, ':') && !is_behind_slash)
		return 0;
	return parser_modify(self, first, parser_take_word(self, WORD_ENDS));
}

static int parser_take_event(struct events_parser *self)
{
	size_t first = self->events->count;
	struct text word = parser_take_word(self, WORD_ENDS);
	char name[COUNTER_NAME_MAX / 2];
	int r;

	if (word.at == word.end || word.end - word.at >= (ptrdiff_t)sizeof(name))
		return parser_refuse(
			self, word.at == word.end ? "an event is missing in" : "there is no event",
			(struct text){ word.at, self->rest.end });
	text_copy(word, name, sizeof(name));
	if (!self->is_in_group) {
		self->group = self->events->groups;
		self->events->groups += CORE_PMUS_MAX;
	}
	if (text_take_char(&self->rest, '/')) {
		r = parser_add_terms(self, name);
		return r ? r : parser_take_tail(self, first, /* is_behind_slash */ true);
	}
	r = parser_add_name(self, name);
	if (r == -ENOENT && text_take_char(&self->rest, ':'))
		r = parser_add_tracepoint(self, name, parser_take_word(self, WORD_ENDS));
	else if (r == -ENOENT)
		r = parser_refuse_name(self, name);
	return r ? r : parser_take_tail(self, first, /* is_behind_slash */ false);
}

/* "{a,b}", after its '{'. */
static int parser_take_group(struct events_parser *self)
{
	size_t first = self->events->count;
	struct text whole = self->rest;
	int r;

	self->is_in_group = true;
	self->group = self->events->groups;
	self->events->groups += CORE_PMUS_MAX;
	do
		r = parser_take_event(self);
	while (!r && text_take_char(&self->rest, ','));
	self->is_in_group = false;
	if (!r && !text_take_char(&self->rest, '}'))
		r = parser_refuse(self, "'}' is missing behind", whole);
	return r ? r : parser_take_tail(self, first, /* is_behind_slash */ false);
}

static int parser_run(struct events_parser *self)
{
	struct text whole = self->rest;
	int r;

	do
		r = text_take_char(&self->rest, '{') ? parser_take_group(self)
						     : parser_take_event(self);
	while (!r && text_take_char(&self->rest, ','));
	if (!r && self->rest.at != self->rest.end)
		r = parser_refuse(self, "',' is expected in", whole);
	return r;
}

int counter_events_parse(struct counter_events *events, const char *list,
			 const struct counter_sources *sources, struct err *err)
{
	struct events_parser parser = {
		.events = events, .sources = sources, .rest = text_of(list), .err = err
	};

	core_pmus_read(sources, &parser.pmus);
	return parser_run(&parser);
}

int counter_events_default(struct counter_events *events, const struct counter_sources *sources,
			   struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(default_groups); i++)
		r = counter_events_parse(events, default_groups[i], sources, err);
	for (size_t i = 0; !r && i < ARRAY_SIZE(optional_groups); i++) {
		size_t first = events->count;
		struct err ignored = { 0 };

		if (counter_events_parse(events, optional_groups[i], sources, &ignored))
			events->count = first;
		for (size_t k = first; k < events->count; k++)
			events->items[k].is_optional = true;
	}
	return r;
}

size_t counter_events_find(const struct counter_events *events, const char *base)
{
	size_t i = 0;

	while (i < events->count &&
	       (strcmp(events->items[i].base, base) || events->items[i].exclusions))
		i++;
	return i;
}

void counter_events_add_checks(struct counter_events *events)
{
	struct err ignored = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (counter_events_find(events, checks[i]) == events->count &&
		    !counter_events_parse(events, checks[i], &counter_sources_system, &ignored))
			events->items[events->count - 1].is_hidden = true;
}

void counter_names_visit(const struct counter_sources *sources, counter_name_visitor *visit,
			 void *context)
{
	struct core_pmus pmus;

	counter_generic_visit(visit, context);
	counter_cache_visit(visit, context);
	core_pmus_read(sources, &pmus);
	for (size_t i = 0; i < pmus.count; i++)
		pmu_names_visit(sources, pmus.names[i], visit, context);
}
