/*
 * A whole YAML file as a tree, for the files of rocprof-compute.  Pointers are valid as long as the
 * document.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <yaml.h>

#define YAML_TREE_FILE_MAX ((size_t)8 << 20)

/* -EINVAL has the line.  On success the caller deletes it (yaml_document_delete). */
int yaml_tree_read(const char *path, yaml_document_t *ret, struct err *err) MUST_CHECK;

/* The value of a key in a mapping; NULL if there is none, also for no node. */
const yaml_node_t *yaml_tree_find(yaml_document_t *document, const yaml_node_t *mapping,
				  const char *key);
/* The same as a text. */
const char *yaml_tree_text(yaml_document_t *document, const yaml_node_t *mapping, const char *key);
/* NULL where it is no scalar. */
const char *yaml_node_text(const yaml_node_t *node);

/* Pair or item `index` of a node; false behind the last one. */
bool yaml_tree_pair(yaml_document_t *document, const yaml_node_t *mapping, size_t index,
		    const char **ret_key, const yaml_node_t **ret_value);
const yaml_node_t *yaml_tree_item(yaml_document_t *document, const yaml_node_t *list, size_t index);

/* Calls for every scalar below a node, keys too. */
typedef int yaml_text_visitor(const char *text, void *context);
int yaml_tree_visit(yaml_document_t *document, const yaml_node_t *node, yaml_text_visitor *visit,
		    void *context) MUST_CHECK;
