/*
 * Finds and reads AMD's definitions of counters, in YAML:
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
#include "host/core/room.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/core/yaml_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Newer releases have the second name. */
static const char *const files[] = { "counter_defs.yaml", "config.yaml" };

static struct amd_counter *counter_find(const struct amd_counters *counters,
					const char *architecture, const char *name)
{
	uint32_t name_at = pool_find(&counters->texts, name);
	uint32_t architecture_at = pool_find(&counters->texts, architecture);

	if (name_at == POOL_NONE || architecture_at == POOL_NONE)
		return NULL;
	/* Texts are kept once: equal ones are the same. */
	for (size_t i = 0; i < counters->count; i++)
		if (counters->items[i].name == pool_text(&counters->texts, name_at) &&
		    counters->items[i].architecture == pool_text(&counters->texts, architecture_at))
			return &counters->items[i];
	return NULL;
}

const struct amd_counter *amd_counter_find(const struct amd_counters *counters,
					   const char *architecture, const char *name)
{
	return counter_find(counters, architecture, name);
}

bool amd_counters_know(const struct amd_counters *counters, const char *architecture)
{
	for (size_t i = 0; i < counters->count; i++)
		if (!strcmp(counters->items[i].architecture, architecture))
			return true;
	return false;
}

static const char *text_keep(struct amd_counters *counters, const char *text, bool *is_whole)
{
	const char *kept = text ? pool_keep(&counters->texts, text) : NULL;

	*is_whole &= kept || !text;
	return kept;
}

static int amd_counters_add(struct amd_counters *counters, const struct amd_counter *counter)
{
	bool is_whole = true;
	struct amd_counter kept = *counter;
	struct amd_counter *there;

	kept.name = text_keep(counters, counter->name, &is_whole);
	kept.description = text_keep(counters, counter->description, &is_whole);
	kept.architecture = text_keep(counters, counter->architecture, &is_whole);
	kept.block = text_keep(counters, counter->block, &is_whole);
	kept.expression = text_keep(counters, counter->expression, &is_whole);
	if (!is_whole)
		return -ENOMEM;
	if (counters->is_limited && !counters->more--)
		return -E2BIG;
	/* Only a second file can have it again: the first one is not searched, line for line. */
	there = counters->path[0] ? counter_find(counters, kept.architecture, kept.name) : NULL;
	if (there) {
		*there = kept;
		return 0;
	}
	if (counters->count == DEFINITIONS_MAX)
		return -E2BIG;
	if (make_room(&counters->items, counters->count, &counters->room, sizeof(kept)))
		return -ENOMEM;
	counters->items[counters->count++] = kept;
	return 0;
}

int amd_counters_read(struct amd_counters *counters, const char *path, struct err *err)
{
	CLEANUP(free) char *text = NULL;
	size_t size = 0;
	int r = text_read_file(path, DEFINITIONS_FILE_MAX, &text, &size);

	if (r == -EFBIG) {
		err_set(err, r, "read '%s': it has more than 8 MiB", path);
		return err_why(err, "definitions of counters have a tenth of that");
	}
	if (r)
		return err_set(err, r, "read '%s': %s", path, strerror(-r));
	r = amd_counters_parse(counters, text, size, path, err);
	if (!r)
		print_into(counters->path, sizeof(counters->path), "%s", path);
	return r;
}

/* Limited: each is searched for among those before, and a plan is made of it while a program
 * waits. */
int amd_counters_parse_tool(struct amd_counters *counters, const char *text, size_t size,
			    struct err *err)
{
	counters->is_limited = true;
	counters->more = DEFINITIONS_TOOL_MAX;
	return amd_counters_parse(counters, text, size, "definitions of a tool", err);
}

/* 0, -ENOENT: there is neither. */
static int folder_read(struct amd_counters *counters, const char *folder, struct err *err)
{
	char path[512];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct err one = { 0 };

		print_into(path, sizeof(path), "%s/%s", folder, files[i]);
		if (!amd_counters_read(counters, path, &one))
			return 0;
		if (one.code == -ENOENT || one.code == -ENOTDIR)
			continue;
		*err = one;
		return one.code;
	}
	return -ENOENT;
}

static int refuse_none(const char *folder, struct err *err)
{
	if (folder)
		err_set(err, -ENOENT, "'%s' has neither counter_defs.yaml nor config.yaml", folder);
	else
		err_set(err, -ENOENT, "definitions of AMD's counters are not found");
	err_why(err,
		"what a counter is, is read from ROCm's own files: those of ROCm's releases differ, "
		"and limpet carries none");
	err_fix(err, "install rocprofiler-sdk, or name the folder that has counter_defs.yaml: "
		     "ROCPROFILER_METRICS_PATH=FOLDER (of rocprofv3 also --config-dir FOLDER)");
	return err_exit(err, EXIT_USAGE);
}

int amd_counters_load(struct amd_counters *counters, const char *folder, struct err *err)
{
	static const char *const roots[] = { "/opt/rocm/share/rocprofiler-sdk",
					     "/usr/share/rocprofiler-sdk",
					     "/usr/local/share/rocprofiler-sdk" };
	const char *named = folder ? folder : secure_getenv("ROCPROFILER_METRICS_PATH");
	int r = -ENOENT;

	if (named && named[0]) {
		r = folder_read(counters, named, err);
		return r == -ENOENT ? refuse_none(named, err) : r;
	}
	for (size_t i = 0; r == -ENOENT && i < ARRAY_SIZE(roots); i++)
		r = folder_read(counters, roots[i], err);
	return r == -ENOENT ? refuse_none(NULL, err) : r;
}

void amd_counters_done(struct amd_counters *counters)
{
	free(counters->items);
	pool_done(&counters->texts);
	*counters = (struct amd_counters){ 0 };
}

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
	err_usage(err, NULL, "read '%s': it defines no counter", name);
	return err_why(err, "definitions of counters stand under rocprofiler-sdk: counters:");
}
