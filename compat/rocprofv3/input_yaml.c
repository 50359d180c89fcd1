/*
 * Input files in YAML:
 *
 *   jobs:
 *     - hip_trace: true              # a job
 *       output_format: [csv, "json"]
 *       summary_groups:
 *         - "KERNEL.*"
 *
 * Anchors, aliases, tags and deeper nesting mean nothing here and are refused by their line.
 */
#include "input.h"

#include "host/core/cleanup.h"
#include "host/core/yaml_tree.h"

#include <errno.h>
#include <stdio.h>

static int line_refuse(const struct input *input, size_t line, struct err *err)
{
	char what[96];

	snprintf(what, sizeof(what), "limpet does not understand line %zu of its YAML", line);
	return input_refuse(input, what, err);
}

static struct text text_in(const struct yaml_node *node)
{
	return (struct text){ node->text, node->text + node->length };
}

static bool is_null(const struct yaml_node *node)
{
	return node->kind == YAML_TEXT && node->is_plain &&
	       (!node->length || text_equals(text_in(node), "null") ||
		text_equals(text_in(node), "~"));
}

static int value_add(struct input *input, const struct yaml_node *value, struct err *err)
{
	if (value->kind != YAML_TEXT)
		return line_refuse(input, value->line, err);
	return is_null(value) ? 0 : input_add_value(input, text_in(value), err);
}

static int entry_read(struct input *input, const struct yaml_node *key, struct err *err)
{
	const struct yaml_node *value = key->next;
	int r = key->kind == YAML_TEXT ? input_begin_entry(input, text_in(key), err)
				       : line_refuse(input, key->line, err);

	if (!r && value->kind != YAML_LIST)
		r = value_add(input, value, err);
	for (const struct yaml_node *item = yaml_items(value); !r && item; item = item->next)
		r = value_add(input, item, err);
	return r ? r : input_end_entry(input, err);
}

static int job_read(struct input *input, const struct yaml_node *job, struct err *err)
{
	int r = job->kind == YAML_MAPPING ? input_begin_job(input, err)
					  : line_refuse(input, job->line, err);

	for (const struct yaml_node *key = yaml_keys(job); !r && key; key = key->next->next)
		r = entry_read(input, key, err);
	return r;
}

/* A mapping with one key.  Without jobs nothing is wrong here: that is reported elsewhere. */
static int document_read(struct input *input, const struct yaml_node *root, struct err *err)
{
	const struct yaml_node *key = yaml_keys(root);
	int r = 0;

	if (!key)
		return line_refuse(input, root->kind == YAML_MAPPING ? root->end_line : root->line,
				   err);
	if (key->kind != YAML_TEXT || !text_equals(text_in(key), "jobs"))
		return line_refuse(input, key->line, err);
	if (key->next->kind != YAML_LIST && !is_null(key->next))
		return line_refuse(input, key->next->line, err);
	for (const struct yaml_node *job = yaml_items(key->next); !r && job; job = job->next)
		r = job_read(input, job, err);
	key = key->next->next ? key->next->next : root->next;
	return r || !key ? r : line_refuse(input, key->line, err);
}

int input_read_yaml(struct input *input, struct text text, struct err *err)
{
	CLEANUP(yaml_tree_done) struct yaml_tree tree = { 0 };
	struct err ignored = { 0 };
	int r = yaml_tree_parse(&tree, input->path, text, YAML_NO_ANCHORS | YAML_NO_TAGS, &ignored);

	if (r == -EINVAL)
		return line_refuse(input, tree.problem_line, err);
	if (r)
		return err_set(err, r, "read '%s': no memory", input->path);
	return tree.first ? document_read(input, tree.first, err) : 0;
}
