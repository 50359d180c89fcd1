/*
 * Reads the files of a report.
 */
#include "panels.h"

#include "host/core/text/print.h"
#include "host/core/text/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void panels_done(struct panels *panels)
{
	for (size_t i = 0; i < panels->count; i++) {
		struct panel *panel = panels->items[i];

		yaml_tree_done(&panel->tree);
		free(panel->path);
		free(panel->tables);
		free(panel);
	}
	panels->count = 0;
}

static unsigned number_of(const struct yaml_node *node, const char *key)
{
	const char *text = yaml_find_text(node, key);
	uint64_t number = 0;

	return text && !text_parse_number(text, 99999, &number) ? (unsigned)number : 0;
}

static struct metric_table table_of(const struct yaml_node *node)
{
	const char *title = yaml_find_text(node, "title"),
		   *style = yaml_find_text(node, "cli_style");

	return (struct metric_table){
		.id = number_of(node, "id"),
		.title = title ? title : "",
		.source = yaml_find_text(node, "source"),
		.is_box = style && !strcmp(style, "simple_box"),
		.header = yaml_find(node, "header"),
		.metrics = yaml_find(node, "metric"),
		.node = node,
	};
}

/* "data source": a list of mappings with one pair, whose key is the kind of table. */
static int tables_read(struct panel *panel, const struct yaml_node *sources, struct err *err)
{
	size_t count = 0;

	for (const struct yaml_node *item = sources; item; item = item->next)
		count++;
	panel->tables = calloc(count + 1, sizeof(*panel->tables));
	if (!panel->tables)
		return err_set(err, -ENOMEM, "read '%s': no memory", panel->path);
	for (; sources; sources = sources->next) {
		const struct yaml_node *kind = yaml_keys(sources);

		if (kind && (!strcmp(yaml_name(kind), "metric_table") ||
			     !strcmp(yaml_name(kind), "raw_csv_table")))
			panel->tables[panel->table_count++] = table_of(kind->next);
	}
	return 0;
}

static int panel_fill(struct panel *panel, struct err *err)
{
	const struct yaml_node *node = yaml_find(panel->tree.first, "Panel Config");

	panel->title = yaml_find_text(node, "title");
	if (!node || !panel->title) {
		err_usage(err, NULL, "read '%s': it is no part of a report", panel->path);
		return err_why(err, "'Panel Config' with id, title and data source is expected");
	}
	panel->id = number_of(node, "id");
	return tables_read(panel, yaml_items(yaml_find(node, "data source")), err);
}

static int panel_read(struct panels *panels, const char *path, struct err *err)
{
	struct panel *panel;
	int r;

	if (panels->count == PANELS_MAX)
		return err_set(err, -E2BIG, "'%s' holds more files than any report",
			       panels->folder);
	panel = calloc(1, sizeof(*panel));
	if (!panel)
		return err_set(err, -ENOMEM, "read '%s': no memory", path);
	panels->items[panels->count++] = panel;
	r = yaml_tree_read(&panel->tree, path, err);
	if (r)
		return r;
	panel->path = strdup(path);
	return panel->path ? panel_fill(panel, err)
			   : err_set(err, -ENOMEM, "read '%s': no memory", path);
}

static int panel_compare(const void *a, const void *b)
{
	const struct panel *const *left = a, *const *right = b;

	return (*left)->id < (*right)->id ? -1 : (*left)->id > (*right)->id;
}

/* 0500_command_processor.yaml, and no template. */
static int entry_belongs(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return isdigit((unsigned char)entry->d_name[0]) && length > 5 &&
	       !strcmp(entry->d_name + length - 5, ".yaml");
}

static int entries_read(struct panels *panels, struct dirent **entries, int count, struct err *err)
{
	char path[sizeof(panels->folder) + 260];
	int r = 0;

	if (count <= 0) {
		err_set(err, -ENOENT, "'%s' holds no definitions of a report", panels->folder);
		err_why(err, "files such as 0500_*.yaml are expected there, of rocprof-compute");
		err_fix(err, "--config-dir FOLDER: one with a folder for this architecture in it");
		r = err_exit(err, EXIT_USAGE);
	}
	for (int i = 0; i < count; i++) {
		print_into(path, sizeof(path), "%s/%s", panels->folder, entries[i]->d_name);
		if (!r)
			r = panel_read(panels, path, err);
		free(entries[i]);
	}
	free(entries);
	return r;
}

int panels_read(struct panels *ret, const char *folder, struct err *err)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, entry_belongs, alphasort), r;

	*ret = (struct panels){ 0 };
	print_into(ret->folder, sizeof(ret->folder), "%s", folder);
	r = entries_read(ret, entries, count, err);
	if (r)
		panels_done(ret);
	else
		qsort(ret->items, ret->count,
		      sizeof(ret->items[0]), /* NOLINT(bugprone-sizeof-expression) */
		      panel_compare);
	return r;
}

const struct panel *panels_find(const struct panels *panels, unsigned id)
{
	for (size_t i = 0; i < panels->count; i++)
		if (panels->items[i]->id == id)
			return panels->items[i];
	return NULL;
}

const struct metric_table *panel_table(const struct panel *panel, unsigned id)
{
	for (size_t i = 0; i < panel->table_count; i++)
		if (panel->tables[i].id == id)
			return &panel->tables[i];
	return NULL;
}

/* Up to two digits each. */
int metric_id_parse(const char *text, struct metric_id *ret)
{
	struct text rest = text_of(text), field;
	int *parts[] = { &ret->panel, &ret->table, &ret->metric };
	uint64_t number;

	*ret = (struct metric_id){ -1, -1, -1 };
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (i && rest.at == rest.end)
			return 0;
		if ((i && !text_take_char(&rest, '.')))
			return -EINVAL;
		field = rest;
		if (!text_take_number(&rest, 10, &number) || rest.at - field.at > 2)
			return -EINVAL;
		*parts[i] = (int)number;
	}
	return rest.at == rest.end ? 0 : -EINVAL;
}
