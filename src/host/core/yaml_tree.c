/*
 * Builds trees from libyaml's events.
 */
#include "host/core/yaml_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEPTH_MAX 32u
#define NODES_MAX (1u << 20)

struct yaml_builder {
	struct yaml_tree *tree;
	const char *file;
	unsigned refusals;
	/* The lists and mappings that are open, and the ends of their lists of children. */
	struct yaml_node *open[DEPTH_MAX], **ends[DEPTH_MAX];
	unsigned depth;
	struct err *err;
};

int yaml_refuse(const char *file, size_t line, const char *why, struct err *err)
{
	err_set(err, -EINVAL, "read '%s': line %zu is not understood", file, line);
	err_why(err, "%s", why);
	return err_exit(err, EXIT_USAGE);
}

static int builder_refuse(struct yaml_builder *self, const yaml_mark_t *mark, const char *why)
{
	self->tree->problem_line = mark->line + 1;
	return yaml_refuse(self->file, self->tree->problem_line, why, self->err);
}

static int memory_refuse(const struct yaml_builder *self)
{
	return err_set(self->err, -ENOMEM, "read '%s': no memory", self->file);
}

/* A copy of this node becomes the last child of the open one. */
static int node_add(struct yaml_builder *self, const struct yaml_node *from,
		    const yaml_mark_t *mark)
{
	struct yaml_tree *tree = self->tree;
	struct yaml_node *node;

	if (tree->count++ == NODES_MAX)
		return builder_refuse(self, mark, "it is empty, or holds far too much");
	node = malloc(sizeof(*node));
	if (!node)
		return memory_refuse(self);
	*node = *from;
	node->line = mark->line + 1;
	node->next = NULL;
	node->older = tree->newest;
	tree->newest = node;
	*self->ends[self->depth] = node;
	self->ends[self->depth] = &node->next;
	return 0;
}

static const struct yaml_node *anchor_find(const struct yaml_tree *tree, const char *name)
{
	const struct yaml_node *node = tree->newest_anchor;

	while (node && strcmp(node->anchor, name))
		node = node->older_anchor;
	return node;
}

static int anchor_set(struct yaml_builder *self, const yaml_mark_t *mark, const char *name)
{
	struct yaml_node *node = self->tree->newest;

	if (anchor_find(self->tree, name))
		return builder_refuse(self, mark, "it is no YAML");
	node->anchor = strdup(name);
	if (!node->anchor)
		return memory_refuse(self);
	node->older_anchor = self->tree->newest_anchor;
	self->tree->newest_anchor = node;
	return 0;
}

static int alias_add(struct yaml_builder *self, const yaml_event_t *event)
{
	const struct yaml_node *node =
		anchor_find(self->tree, (const char *)event->data.alias.anchor);
	struct yaml_node alias;

	if (!node)
		return builder_refuse(self, &event->start_mark, "it is no YAML");
	alias = *node;
	alias.is_alias = true;
	alias.anchor = NULL;
	return node_add(self, &alias, &event->start_mark);
}

/* The node owns the text from here on. */
static int text_add(struct yaml_builder *self, yaml_event_t *event)
{
	const struct yaml_node node = {
		.kind = YAML_TEXT,
		.is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE,
		.text = (char *)event->data.scalar.value,
		.length = event->data.scalar.length,
	};
	int r = node_add(self, &node, &event->start_mark);

	if (!r)
		event->data.scalar.value = NULL;
	return r;
}

static int nest_begin(struct yaml_builder *self, const yaml_event_t *event, enum yaml_kind kind)
{
	const struct yaml_node node = { .kind = kind };
	int r = self->depth + 1 == DEPTH_MAX
			? builder_refuse(self, &event->start_mark, "too much is nested")
			: node_add(self, &node, &event->start_mark);

	if (r)
		return r;
	self->open[++self->depth] = self->tree->newest;
	self->ends[self->depth] = &self->tree->newest->first;
	return 0;
}

/* What may stand in front of a node. */
static void prefixes_find(const yaml_event_t *event, const yaml_char_t **ret_anchor,
			  const yaml_char_t **ret_tag)
{
	*ret_anchor = *ret_tag = NULL;
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		*ret_anchor = event->data.scalar.anchor;
		*ret_tag = event->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		*ret_anchor = event->data.sequence_start.anchor;
		*ret_tag = event->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		*ret_anchor = event->data.mapping_start.anchor;
		*ret_tag = event->data.mapping_start.tag;
		break;
	default:
		break;
	}
}

static int event_add(struct yaml_builder *self, yaml_event_t *event)
{
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return alias_add(self, event);
	case YAML_SCALAR_EVENT:
		return text_add(self, event);
	case YAML_SEQUENCE_START_EVENT:
		return nest_begin(self, event, YAML_LIST);
	case YAML_MAPPING_START_EVENT:
		return nest_begin(self, event, YAML_MAPPING);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		self->open[self->depth--]->end_line = event->start_mark.line + 1;
		return 0;
	default:
		return 0;
	}
}

static int event_check_and_add(struct yaml_builder *self, yaml_event_t *event)
{
	const yaml_char_t *anchor, *tag;
	int r;

	prefixes_find(event, &anchor, &tag);
	if (self->refusals & YAML_NO_ANCHORS && (anchor || event->type == YAML_ALIAS_EVENT))
		return builder_refuse(self, &event->start_mark, "anchors and aliases mean nothing");
	if (self->refusals & YAML_NO_TAGS && tag)
		return builder_refuse(self, &event->start_mark, "tags mean nothing");
	r = event_add(self, event);
	return r || !anchor ? r : anchor_set(self, &event->start_mark, (const char *)anchor);
}

int yaml_tree_parse(struct yaml_tree *ret, const char *file, struct text text, unsigned refusals,
		    struct err *err)
{
	struct yaml_builder self = { .tree = ret, .file = file, .refusals = refusals, .err = err };
	bool is_over = false;
	yaml_parser_t parser;
	int r = 0;

	*ret = (struct yaml_tree){ 0 };
	self.ends[0] = &ret->first;
	if (!yaml_parser_initialize(&parser))
		return memory_refuse(&self);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.at,
				     (size_t)(text.end - text.at));
	while (!r && !is_over) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			r = builder_refuse(&self, &parser.problem_mark, "it is no YAML");
			break;
		}
		is_over = event.type == YAML_STREAM_END_EVENT;
		r = event_check_and_add(&self, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	if (r)
		yaml_tree_done(ret);
	return r;
}

int yaml_tree_read(struct yaml_tree *ret, const char *path, struct err *err)
{
	char *text;
	size_t size;
	int r = text_read_file(path, YAML_FILE_MAX, &text, &size);

	if (r)
		return err_set(err, r, "read '%s': %s", path, strerror(-r));
	r = yaml_tree_parse(ret, path, (struct text){ text, text + size }, 0, err);
	free(text);
	return r || ret->first ? r
			       : yaml_refuse(path, 1, "it is empty, or holds far too much", err);
}

void yaml_tree_done(struct yaml_tree *tree)
{
	while (tree->newest) {
		struct yaml_node *node = tree->newest;

		tree->newest = node->older;
		if (!node->is_alias)
			free(node->text);
		free(node->anchor);
		free(node);
	}
	tree->first = tree->newest_anchor = NULL;
}

const struct yaml_node *yaml_items(const struct yaml_node *list)
{
	return list && list->kind == YAML_LIST ? list->first : NULL;
}

const struct yaml_node *yaml_keys(const struct yaml_node *mapping)
{
	return mapping && mapping->kind == YAML_MAPPING ? mapping->first : NULL;
}

const struct yaml_node *yaml_find(const struct yaml_node *mapping, const char *key)
{
	const struct yaml_node *node = yaml_keys(mapping);

	while (node && (node->kind != YAML_TEXT || strcmp(node->text, key)))
		node = node->next->next;
	return node ? node->next : NULL;
}
