/*
 * YAML as a tree, read by libyaml.  Input is foreign: nesting and the number of nodes are limited,
 * and each node has its line for errors.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/text/text.h"

#define YAML_FILE_MAX ((size_t)8 << 20)

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAPPING };

struct yaml_node {
	enum yaml_kind kind;
	bool is_plain; /* a text without quotes */
	bool is_alias; /* it shares the text and the children of another node */
	size_t line, end_line;
	char *text; /* of a text; terminated, and may contain zeros */
	size_t length;
	struct yaml_node *first; /* child; in a mapping a key, and behind each key its value */
	struct yaml_node *next;  /* sibling */
	char *anchor;            /* NULL: it has none */
	struct yaml_node *older_anchor, *older; /* of the tree */
};

struct yaml_tree {
	struct yaml_node *first; /* the root of each document */
	struct yaml_node *newest, *newest_anchor;
	size_t count;
	size_t problem_line; /* after -EINVAL */
};

/* What a reader refuses, as it means nothing there. */
enum yaml_refusal { YAML_NO_ANCHORS = 1, YAML_NO_TAGS = 2 };

/* `file` is for errors.  -EINVAL: see yaml_refuse(); -ENOMEM. */
int yaml_tree_parse(struct yaml_tree *ret, const char *file, struct text text, unsigned refusals,
		    struct err *err) MUST_CHECK;
/* The same of a whole file with one document at least. */
int yaml_tree_read(struct yaml_tree *ret, const char *path, struct err *err) MUST_CHECK;
void yaml_tree_done(struct yaml_tree *tree);

static inline void yaml_tree_done_at_scope_end(struct yaml_tree *tree)
{
	yaml_tree_done(tree);
}

/* "line N is not understood", and why. */
int yaml_refuse(const char *file, size_t line, const char *why, struct err *err);

/* The first item of a list; the first key of a mapping, whose value is next, and then the next key.
 * NULL also for no node, and for one of another kind. */
const struct yaml_node *yaml_items(const struct yaml_node *list);
const struct yaml_node *yaml_keys(const struct yaml_node *mapping);

/* NULL where it is no text. */
static inline const char *yaml_text(const struct yaml_node *node)
{
	return node && node->kind == YAML_TEXT ? node->text : NULL;
}

/* The value of the first key of this name; NULL: there is none. */
const struct yaml_node *yaml_find(const struct yaml_node *mapping, const char *key);

static inline const char *yaml_find_text(const struct yaml_node *mapping, const char *key)
{
	return yaml_text(yaml_find(mapping, key));
}

/* "" where it is no text. */
static inline const char *yaml_name(const struct yaml_node *key)
{
	return key->kind == YAML_TEXT ? key->text : "";
}
