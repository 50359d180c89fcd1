/*
 * AMD's definitions of counters, in YAML, read by libyaml:
 *
 *   rocprofiler-sdk:
 *     counters:
 *     - name: SQ_WAVES
 *       description: ...
 *       definitions:
 *       - architectures: [gfx942]
 *         block: SQ                     # with event; or expression
 *         event: 4
 *
 * Other keys are passed over with all that is under them.  Anchors and aliases mean nothing here
 * and are refused by their line, as is more nesting than any such file has.
 */
#include "host/counters/amd/definitions.h"

#include "host/core/text/print.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEPTH_MAX         32u
#define ARCHITECTURES_MAX 128u
#define TEXT_LENGTH_MAX   8192u
#define WORD_LENGTH_MAX   31u

/* The mapping or list that is open. */
enum place {
	PLACE_OUTSIDE,
	PLACE_ROOT,
	PLACE_SDK,
	PLACE_COUNTERS, /* a list */
	PLACE_COUNTER,
	PLACE_DEFINITIONS, /* a list */
	PLACE_DEFINITION,
	PLACE_ARCHITECTURES, /* a list */
	PLACE_PASSED_OVER,
	PLACES,
};

/* The transitions; key NULL: an item of a list. */
static const struct {
	enum place from, to;
	const char *key;
	bool is_list;
} ways[] = {
	{ PLACE_OUTSIDE, PLACE_ROOT, NULL, false },
	{ PLACE_ROOT, PLACE_SDK, "rocprofiler-sdk", false },
	{ PLACE_SDK, PLACE_COUNTERS, "counters", true },
	{ PLACE_COUNTERS, PLACE_COUNTER, NULL, false },
	{ PLACE_COUNTER, PLACE_DEFINITIONS, "definitions", true },
	{ PLACE_DEFINITIONS, PLACE_DEFINITION, NULL, false },
	{ PLACE_DEFINITION, PLACE_ARCHITECTURES, "architectures", true },
};

struct definition_reader {
	struct amd_counters *counters;
	const char *file;
	enum place places[DEPTH_MAX];
	unsigned depth;
	char key[64]; /* of the open mapping; "": a key is next */
	bool has_key;
	/* of the counter */
	char *name, *description;
	/* of the definition */
	char *block, *event, *expression;
	const char *architectures[ARCHITECTURES_MAX];
	size_t architecture_count;
};

static int reader_refuse(const struct definition_reader *self, const yaml_mark_t *mark,
			 const char *why, struct err *err)
{
	err_set(err, -EINVAL, "read '%s': line %zu is not understood", self->file, mark->line + 1);
	err_why(err, "%s", why);
	return err_exit(err, EXIT_USAGE);
}

/* Blocks and architectures are words of the tracer's request: none may contain a separator. */
static bool is_word(const char *text)
{
	size_t length = strlen(text);

	return length >= 1 && length <= WORD_LENGTH_MAX &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
		       length;
}

static int refuse_word(const struct definition_reader *self, const yaml_mark_t *mark,
		       const char *why, struct err *err)
{
	reader_refuse(self, mark, why, err);
	err_fix(err, "a name of 1 to 31 letters, digits and underscores");
	return err->code;
}

static enum place reader_place(const struct definition_reader *self)
{
	return self->places[self->depth];
}

static bool is_list(enum place place)
{
	return place == PLACE_COUNTERS || place == PLACE_DEFINITIONS ||
	       place == PLACE_ARCHITECTURES;
}

static enum place way_find(const struct definition_reader *self, bool is_sequence)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (ways[i].from == reader_place(self) && ways[i].is_list == is_sequence &&
		    (!ways[i].key || (self->has_key && !strcmp(self->key, ways[i].key))))
			return ways[i].to;
	return PLACE_PASSED_OVER;
}

static void definition_clear(struct definition_reader *self)
{
	free(self->block);
	free(self->event);
	free(self->expression);
	self->block = self->event = self->expression = NULL;
	self->architecture_count = 0;
}

static void counter_clear(struct definition_reader *self)
{
	definition_clear(self);
	free(self->name);
	free(self->description);
	self->name = self->description = NULL;
}

static int reader_begin(struct definition_reader *self, const yaml_event_t *event, struct err *err)
{
	enum place to = way_find(self, event->type == YAML_SEQUENCE_START_EVENT);

	if (self->depth + 1 == DEPTH_MAX)
		return reader_refuse(self, &event->start_mark, "too much is nested", err);
	if (to == PLACE_COUNTER)
		counter_clear(self);
	if (to == PLACE_DEFINITION)
		definition_clear(self);
	self->places[++self->depth] = to;
	self->has_key = false;
	return 0;
}

/* A definition is complete: one for each of its architectures. */
static int definition_add(struct definition_reader *self, const yaml_mark_t *mark, struct err *err)
{
	struct amd_counter counter = { .name = self->name,
				       .description = self->description ? self->description : "",
				       .block = self->block,
				       .expression = self->expression };
	int r = 0;

	if (!self->name || !self->name[0] || strlen(self->name) >= DEFINITION_NAME_MAX)
		return reader_refuse(self, mark, "a counter has no name, or none that is one", err);
	if (!self->expression == !(self->block && self->event))
		return reader_refuse(self, mark,
				     "a counter has a block and an event, or an expression", err);
	if (self->block && !is_word(self->block))
		return refuse_word(self, mark, "a block is no name", err);
	if (self->event && text_parse_number(self->event, UINT64_MAX, &counter.event))
		return reader_refuse(self, mark, "an event is a number", err);
	for (size_t i = 0; !r && i < self->architecture_count; i++) {
		counter.architecture = self->architectures[i];
		counter.number = self->counters->names;
		r = amd_counters_add(self->counters, &counter);
	}
	if (r == -E2BIG)
		return reader_refuse(self, mark,
				     self->counters->is_limited
					     ? "a tool has more definitions than 16384"
					     : "there are more definitions than 65536",
				     err);
	return r ? err_set(err, r, "read '%s': no memory", self->file) : 0;
}

static int reader_end(struct definition_reader *self, const yaml_event_t *event, struct err *err)
{
	enum place place = reader_place(self);
	int r = place == PLACE_DEFINITION ? definition_add(self, &event->start_mark, err) : 0;

	if (place == PLACE_COUNTER)
		self->counters->names++;
	self->depth--;
	self->has_key = false;
	return r;
}

static char **reader_slot(struct definition_reader *self)
{
	const struct {
		enum place place;
		const char *key;
		char **slot;
	} slots[] = {
		{ PLACE_COUNTER, "name", &self->name },
		{ PLACE_COUNTER, "description", &self->description },
		{ PLACE_DEFINITION, "block", &self->block },
		{ PLACE_DEFINITION, "event", &self->event },
		{ PLACE_DEFINITION, "expression", &self->expression },
	};

	for (size_t i = 0; i < ARRAY_SIZE(slots); i++)
		if (reader_place(self) == slots[i].place && !strcmp(self->key, slots[i].key))
			return slots[i].slot;
	return NULL;
}

static int reader_value(struct definition_reader *self, const yaml_event_t *event, struct err *err)
{
	const char *value = (const char *)event->data.scalar.value;
	char **slot = reader_slot(self);

	self->has_key = false;
	if (slot && text_set(slot, value))
		return err_set(err, -ENOMEM, "read '%s': no memory", self->file);
	return 0;
}

static int reader_architecture(struct definition_reader *self, const yaml_event_t *event,
			       struct err *err)
{
	const char *kept;

	if (self->architecture_count == ARCHITECTURES_MAX)
		return reader_refuse(self, &event->start_mark, "too many architectures", err);
	if (!is_word((const char *)event->data.scalar.value))
		return refuse_word(self, &event->start_mark, "an architecture is no name", err);
	kept = pool_keep(&self->counters->texts, (const char *)event->data.scalar.value);
	if (!kept)
		return err_set(err, -ENOMEM, "read '%s': no memory", self->file);
	self->architectures[self->architecture_count++] = kept;
	return 0;
}

static int reader_scalar(struct definition_reader *self, const yaml_event_t *event, struct err *err)
{
	const char *value = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length;

	if (reader_place(self) == PLACE_PASSED_OVER)
		return 0;
	if (length > TEXT_LENGTH_MAX || strlen(value) != length)
		return reader_refuse(self, &event->start_mark, "a text is too long, or holds zeros",
				     err);
	if (reader_place(self) == PLACE_ARCHITECTURES)
		return reader_architecture(self, event, err);
	if (is_list(reader_place(self)) || reader_place(self) == PLACE_OUTSIDE)
		return reader_refuse(self, &event->start_mark, "a mapping is expected", err);
	if (self->has_key)
		return reader_value(self, event, err);
	print_into(self->key, sizeof(self->key), "%s", value);
	self->has_key = true;
	return 0;
}

static bool has_anchor(const yaml_event_t *event)
{
	return event->type == YAML_ALIAS_EVENT ||
	       (event->type == YAML_SCALAR_EVENT && event->data.scalar.anchor) ||
	       (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.anchor) ||
	       (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.anchor);
}

static int reader_take(struct definition_reader *self, const yaml_event_t *event, struct err *err)
{
	if (has_anchor(event))
		return reader_refuse(self, &event->start_mark, "anchors and aliases mean nothing",
				     err);
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return reader_scalar(self, event, err);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return reader_begin(self, event, err);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return reader_end(self, event, err);
	default:
		return 0;
	}
}

static int parser_run(struct definition_reader *self, yaml_parser_t *parser, struct err *err)
{
	bool is_over = false;
	int r = 0;

	while (!r && !is_over) {
		yaml_event_t event;

		if (!yaml_parser_parse(parser, &event))
			return reader_refuse(self, &parser->problem_mark, "it is no YAML", err);
		is_over = event.type == YAML_STREAM_END_EVENT;
		r = reader_take(self, &event, err);
		yaml_event_delete(&event);
	}
	return r;
}

int amd_counters_parse(struct amd_counters *counters, const char *text, size_t size,
		       const char *name, struct err *err)
{
	struct definition_reader self = { .counters = counters, .file = name };
	size_t before = counters->count;
	yaml_parser_t parser;
	int r;

	if (!yaml_parser_initialize(&parser))
		return err_set(err, -ENOMEM, "read '%s': no memory", name);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	r = parser_run(&self, &parser, err);
	yaml_parser_delete(&parser);
	counter_clear(&self);
	if (r || counters->count > before || counters->path[0])
		return r;
	err_set(err, -EINVAL, "read '%s': it defines no counter", name);
	err_why(err, "definitions of counters stand under rocprofiler-sdk: counters:");
	return err_exit(err, EXIT_USAGE);
}
