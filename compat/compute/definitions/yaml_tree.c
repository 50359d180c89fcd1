/*
 * Reads YAML by libyaml's loader.  An alias is a second way to the same node: visits go down so
 * many levels only, since one may lead in a circle.
 */
#include "yaml_tree.h"

#include "host/core/cleanup.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <string.h>

#define DEPTH_MAX 16u
#define NODES_MAX 200000

static int tree_refuse(const char *path, const yaml_parser_t *parser, const char *why,
		       struct err *err)
{
	err_set(err, -EINVAL, "read '%s': line %zu is not understood", path,
		parser->problem_mark.line + 1);
	err_why(err, "%s", why);
	return err_exit(err, EXIT_USAGE);
}

static int tree_parse(const char *path, yaml_parser_t *parser, yaml_document_t *ret,
		      struct err *err)
{
	if (!yaml_parser_load(parser, ret))
		return tree_refuse(path, parser, "it is no YAML", err);
	if (yaml_document_get_root_node(ret) && ret->nodes.top - ret->nodes.start <= NODES_MAX)
		return 0;
	yaml_document_delete(ret);
	return tree_refuse(path, parser, "it is empty, or holds far too much", err);
}

int yaml_tree_read(const char *path, yaml_document_t *ret, struct err *err)
{
	CLEANUP(free) char *text = NULL;
	yaml_parser_t parser;
	size_t size;
	int r = text_read_file(path, YAML_TREE_FILE_MAX, &text, &size);

	if (r)
		return err_set(err, r, "read '%s': %s", path, strerror(-r));
	if (!yaml_parser_initialize(&parser))
		return err_set(err, -ENOMEM, "read '%s': no memory", path);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	r = tree_parse(path, &parser, ret, err);
	yaml_parser_delete(&parser);
	return r;
}

const char *yaml_node_text(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
						      : NULL;
}

bool yaml_tree_pair(yaml_document_t *document, const yaml_node_t *mapping, size_t index,
		    const char **ret_key, const yaml_node_t **ret_value)
{
	const yaml_node_pair_t *pair;
	const char *key;

	if (!mapping || mapping->type != YAML_MAPPING_NODE)
		return false;
	pair = mapping->data.mapping.pairs.start + index;
	if (pair >= mapping->data.mapping.pairs.top)
		return false;
	key = yaml_node_text(yaml_document_get_node(document, pair->key));
	*ret_key = key ? key : "";
	*ret_value = yaml_document_get_node(document, pair->value);
	return true;
}

const yaml_node_t *yaml_tree_item(yaml_document_t *document, const yaml_node_t *list, size_t index)
{
	const yaml_node_item_t *item;

	if (!list || list->type != YAML_SEQUENCE_NODE)
		return NULL;
	item = list->data.sequence.items.start + index;
	return item < list->data.sequence.items.top ? yaml_document_get_node(document, *item)
						    : NULL;
}

const yaml_node_t *yaml_tree_find(yaml_document_t *document, const yaml_node_t *mapping,
				  const char *key)
{
	const yaml_node_t *value;
	const char *name;

	for (size_t i = 0; yaml_tree_pair(document, mapping, i, &name, &value); i++)
		if (!strcmp(name, key))
			return value;
	return NULL;
}

const char *yaml_tree_text(yaml_document_t *document, const yaml_node_t *mapping, const char *key)
{
	return yaml_node_text(yaml_tree_find(document, mapping, key));
}

static int node_visit(yaml_document_t *document, const yaml_node_t *node, unsigned depth,
		      yaml_text_visitor *visit, void *context)
{
	const yaml_node_t *below;
	const char *key;
	int r = 0;

	if (yaml_node_text(node))
		return visit(yaml_node_text(node), context);
	if (depth == DEPTH_MAX)
		return 0;
	for (size_t i = 0; !r && yaml_tree_pair(document, node, i, &key, &below); i++) {
		r = visit(key, context);
		if (!r)
			r = node_visit(document, below, depth + 1, visit, context);
	}
	for (size_t i = 0; !r && (below = yaml_tree_item(document, node, i)); i++)
		r = node_visit(document, below, depth + 1, visit, context);
	return r;
}

int yaml_tree_visit(yaml_document_t *document, const yaml_node_t *node, yaml_text_visitor *visit,
		    void *context)
{
	return node_visit(document, node, 0, visit, context);
}
