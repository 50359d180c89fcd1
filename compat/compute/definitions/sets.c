/*
 * Reads ARCHITECTURE_sets.yaml: a list of sets, each with its name (set_option), title and metrics.
 */
#include "sets.h"

#include "host/core/text/print.h"
#include "yaml_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void metric_list_done(struct metric_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	list->count = 0;
}

static int sets_open(const struct compute_definitions *definitions, const char *architecture,
		     yaml_document_t *ret, struct err *err)
{
	char path[600];
	int r;

	print_into(path, sizeof(path), "%s/%s_sets.yaml", definitions->sets, architecture);
	r = yaml_tree_read(path, ret, err);
	if (r) {
		err_why(err, "sets of metrics are defined there, for %s", architecture);
		err_fix(err, "--block ID ...: metrics one by one; --list-metrics lists them");
		err_exit(err, EXIT_USAGE);
	}
	return r;
}

static const yaml_node_t *set_at(yaml_document_t *document, size_t index)
{
	const yaml_node_t *root = yaml_document_get_root_node(document);

	return yaml_tree_item(document, yaml_tree_find(document, root, "sets"), index);
}

/* Each item is a mapping of one pair: the metric, and its name. */
static int metrics_add(yaml_document_t *document, const yaml_node_t *set, struct metric_list *ret,
		       struct err *err)
{
	const yaml_node_t *metrics = yaml_tree_find(document, set, "metric"), *item, *name;
	const char *id;

	for (size_t i = 0; (item = yaml_tree_item(document, metrics, i)); i++) {
		if (!yaml_tree_pair(document, item, 0, &id, &name))
			continue;
		if (ret->count == SET_METRICS_MAX)
			return err_set(err, -E2BIG, "a set has more than %u metrics",
				       SET_METRICS_MAX);
		ret->items[ret->count] = strdup(id);
		if (!ret->items[ret->count])
			return err_set(err, -ENOMEM, "no memory for a set of metrics");
		ret->count++;
	}
	return 0;
}

/* In AMD's words. */
static int set_refuse(yaml_document_t *document, const char *name, struct err *err)
{
	const yaml_node_t *set;
	char names[256] = "";

	for (size_t i = 0; (set = set_at(document, i)); i++) {
		const char *option = yaml_tree_text(document, set, "set_option");
		size_t at = strlen(names);

		if (option)
			print_into(names + at, sizeof(names) - at, "%s%s", at ? ", " : "", option);
	}
	err_set(err, -ENOENT, "argument --set: invalid choice: '%s' (choose from %s)", name, names);
	err_fix(err, "--list-sets says what is in them");
	return err_exit(err, EXIT_USAGE);
}

int set_read(const struct compute_definitions *definitions, const char *architecture,
	     const char *name, struct metric_list *ret, struct err *err)
{
	const yaml_node_t *set;
	yaml_document_t document;
	int r = sets_open(definitions, architecture, &document, err);
	bool is_found = false;

	*ret = (struct metric_list){ 0 };
	if (r)
		return r;
	for (size_t i = 0; !r && !is_found && (set = set_at(&document, i)); i++) {
		const char *option = yaml_tree_text(&document, set, "set_option");

		is_found = option && !strcmp(option, name);
		if (is_found)
			r = metrics_add(&document, set, ret, err);
	}
	if (!is_found)
		r = set_refuse(&document, name, err);
	yaml_document_delete(&document);
	if (r)
		metric_list_done(ret);
	return r;
}

static void set_print(FILE *out, yaml_document_t *document, const yaml_node_t *set)
{
	const yaml_node_t *metrics = yaml_tree_find(document, set, "metric"), *item, *name;
	const char *option = yaml_tree_text(document, set, "set_option");
	const char *title = yaml_tree_text(document, set, "title"), *id;

	print(out, "\n%s: %s\n", option ? option : "?", title ? title : "");
	for (size_t i = 0; (item = yaml_tree_item(document, metrics, i)); i++)
		if (yaml_tree_pair(document, item, 0, &id, &name))
			print(out, "  %-8s %s\n", id,
			      yaml_node_text(name) ? yaml_node_text(name) : "");
}

int sets_print(FILE *out, const struct compute_definitions *definitions, const char *architecture,
	       struct err *err)
{
	const yaml_node_t *set;
	yaml_document_t document;
	int r = sets_open(definitions, architecture, &document, err);

	if (r)
		return r;
	print(out, "Sets of metrics for %s (rocprof-compute profile --set NAME):\n", architecture);
	for (size_t i = 0; (set = set_at(&document, i)); i++)
		set_print(out, &document, set);
	yaml_document_delete(&document);
	return 0;
}
