/*
 * AMD's definitions of counters, in YAML:
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
 * Other keys are passed over with all that is under them.
 */
#include "host/counters/amd/definitions.h"

#include "host/core/cleanup.h"
#include "host/core/yaml_tree.h"

#include <errno.h>
#include <string.h>

#define ARCHITECTURES_MAX 128u
#define TEXT_LENGTH_MAX   8192u
#define WORD_LENGTH_MAX   31u

struct definition_reader {
	struct amd_counters *counters;
	const char *file;
	/* Of the counter, of the definition: texts of the tree. */
	const char *name, *description;
	const char *block, *event, *expression;
	const char *architectures[ARCHITECTURES_MAX];
	size_t architecture_count;
};

typedef int member_reader(struct definition_reader *self, const char *key,
			  const struct yaml_node *value, struct err *err);
typedef int mapping_reader(struct definition_reader *self, const struct yaml_node *mapping,
			   struct err *err);

static int word_refuse(const struct definition_reader *self, size_t line, const char *why,
		       struct err *err)
{
	yaml_refuse(self->file, line, why, err);
	err_fix(err, "a name of 1 to 31 letters, digits and underscores");
	return err->code;
}

/* Blocks and architectures are words of the tracer's request: none may contain a separator. */
static bool is_word(const char *text)
{
	size_t length = strlen(text);

	return length >= 1 && length <= WORD_LENGTH_MAX &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
		       length;
}

static int text_check(const struct definition_reader *self, const struct yaml_node *node,
		      struct err *err)
{
	if (node->kind == YAML_TEXT &&
	    (node->length > TEXT_LENGTH_MAX || strlen(node->text) != node->length))
		return yaml_refuse(self->file, node->line, "a text is too long, or holds zeros",
				   err);
	return 0;
}

static int members_read(struct definition_reader *self, const struct yaml_node *mapping,
			member_reader *read, struct err *err)
{
	int r = 0;

	for (const struct yaml_node *key = yaml_keys(mapping); !r && key; key = key->next->next) {
		r = text_check(self, key, err);
		if (!r)
			r = text_check(self, key->next, err);
		if (!r && key->kind == YAML_TEXT)
			r = read(self, key->text, key->next, err);
	}
	return r;
}

/* This item and those behind it. */
static int mappings_read(struct definition_reader *self, const struct yaml_node *item,
			 mapping_reader *read, struct err *err)
{
	int r = 0;

	for (; !r && item; item = item->next) {
		r = text_check(self, item, err);
		if (!r && item->kind == YAML_TEXT)
			r = yaml_refuse(self->file, item->line, "a mapping is expected", err);
		if (!r && item->kind == YAML_MAPPING)
			r = read(self, item, err);
	}
	return r;
}

/* A definition is complete: one for each of its architectures. */
static int definition_add(struct definition_reader *self, size_t line, struct err *err)
{
	struct amd_counter counter = { .name = self->name,
				       .description = self->description ? self->description : "",
				       .block = self->block,
				       .expression = self->expression,
				       .number = self->counters->names };
	int r = 0;

	if (!self->name || !self->name[0] || strlen(self->name) >= DEFINITION_NAME_MAX)
		return yaml_refuse(self->file, line, "a counter has no name, or none that is one",
				   err);
	if (!self->expression == !(self->block && self->event))
		return yaml_refuse(self->file, line,
				   "a counter has a block and an event, or an expression", err);
	if (self->block && !is_word(self->block))
		return word_refuse(self, line, "a block is no name", err);
	if (self->event && text_parse_number(self->event, UINT64_MAX, &counter.event))
		return yaml_refuse(self->file, line, "an event is a number", err);
	for (size_t i = 0; !r && i < self->architecture_count; i++) {
		counter.architecture = self->architectures[i];
		r = amd_counters_add(self->counters, &counter);
	}
	if (r == -E2BIG)
		return yaml_refuse(self->file, line,
				   self->counters->is_limited
					   ? "a tool has more definitions than 16384"
					   : "there are more definitions than 65536",
				   err);
	return r ? err_set(err, r, "read '%s': no memory", self->file) : 0;
}

static int architecture_add(struct definition_reader *self, const struct yaml_node *node,
			    struct err *err)
{
	int r = text_check(self, node, err);

	if (r || node->kind != YAML_TEXT)
		return r;
	if (self->architecture_count == ARCHITECTURES_MAX)
		return yaml_refuse(self->file, node->line, "too many architectures", err);
	if (!is_word(node->text))
		return word_refuse(self, node->line, "an architecture is no name", err);
	self->architectures[self->architecture_count++] = node->text;
	return 0;
}

static int definition_member(struct definition_reader *self, const char *key,
			     const struct yaml_node *value, struct err *err)
{
	const struct yaml_node *item = strcmp(key, "architectures") != 0 ? NULL : yaml_items(value);
	const char *text = yaml_text(value);
	int r = 0;

	for (; !r && item; item = item->next)
		r = architecture_add(self, item, err);
	if (text && !strcmp(key, "block"))
		self->block = text;
	else if (text && !strcmp(key, "event"))
		self->event = text;
	else if (text && !strcmp(key, "expression"))
		self->expression = text;
	return r;
}

static int definition_read(struct definition_reader *self, const struct yaml_node *definition,
			   struct err *err)
{
	int r;

	self->block = self->event = self->expression = NULL;
	self->architecture_count = 0;
	r = members_read(self, definition, definition_member, err);
	return r ? r : definition_add(self, definition->end_line, err);
}

static int counter_member(struct definition_reader *self, const char *key,
			  const struct yaml_node *value, struct err *err)
{
	const char *text = yaml_text(value);

	if (text && !strcmp(key, "name"))
		self->name = text;
	else if (text && !strcmp(key, "description"))
		self->description = text;
	return strcmp(key, "definitions") != 0
		       ? 0
		       : mappings_read(self, yaml_items(value), definition_read, err);
}

static int counter_read(struct definition_reader *self, const struct yaml_node *counter,
			struct err *err)
{
	int r;

	self->name = self->description = NULL;
	r = members_read(self, counter, counter_member, err);
	self->counters->names += !r;
	return r;
}

static int sdk_member(struct definition_reader *self, const char *key,
		      const struct yaml_node *value, struct err *err)
{
	return strcmp(key, "counters") != 0
		       ? 0
		       : mappings_read(self, yaml_items(value), counter_read, err);
}

static int root_member(struct definition_reader *self, const char *key,
		       const struct yaml_node *value, struct err *err)
{
	return strcmp(key, "rocprofiler-sdk") != 0 ? 0 : members_read(self, value, sdk_member, err);
}

static int document_read(struct definition_reader *self, const struct yaml_node *root,
			 struct err *err)
{
	return members_read(self, root, root_member, err);
}

int amd_counters_parse(struct amd_counters *counters, const char *text, size_t size,
		       const char *name, struct err *err)
{
	CLEANUP(yaml_tree_done) struct yaml_tree tree = { 0 };
	struct definition_reader self = { .counters = counters, .file = name };
	size_t before = counters->count;
	int r = yaml_tree_parse(&tree, name, (struct text){ text, text + size }, YAML_NO_ANCHORS,
				err);

	if (!r)
		r = mappings_read(&self, tree.first, document_read, err);
	if (r || counters->count > before || counters->path[0])
		return r;
	err_set(err, -EINVAL, "read '%s': it defines no counter", name);
	err_why(err, "definitions of counters stand under rocprofiler-sdk: counters:");
	return err_exit(err, EXIT_USAGE);
}
