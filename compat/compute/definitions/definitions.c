/*
 * Finds the files of rocprof-compute, and reads ARCHITECTURE_sets.yaml: a list of sets, each with
 * its name (set_option), title and metrics.
 */
#include "definitions.h"
#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/core/yaml_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPORTS "rocprof_compute_soc/analysis_configs"

static bool folder_is_there(const char *path)
{
	return access(path, R_OK | X_OK) == 0;
}

static int nothing_refuse(struct err *err)
{
	err_set(err, -ENOENT, "there are no definitions of rocprof-compute");
	err_why(err, "AMD's metrics and sets are read from its files, which limpet does not carry: "
		     "ROCPROF_COMPUTE_HOME, /opt/rocm/libexec/rocprofiler-compute and "
		     "/usr/libexec/rocprofiler-compute have none");
	err_fix(err, "install rocprofiler-compute, or name its folder: --config-dir "
		     ".../rocprof_compute_soc/analysis_configs");
	return err_exit(err, EXIT_USAGE);
}

int compute_definitions_find(struct compute_definitions *ret, const char *folder, struct err *err)
{
	const char *homes[] = { secure_getenv("ROCPROF_COMPUTE_HOME"),
				"/opt/rocm/libexec/rocprofiler-compute",
				"/usr/libexec/rocprofiler-compute",
				"/usr/local/libexec/rocprofiler-compute" };
	bool is_found = false;
	char file[600];

	*ret = (struct compute_definitions){ 0 };
	if (folder) {
		print_into(ret->reports, sizeof(ret->reports), "%s", folder);
		if (!folder_is_there(folder)) {
			err_set(err, -errno, "the folder of definitions '%s' cannot be read: %s",
				folder, strerror(errno));
			err_fix(err, "--config-dir FOLDER: rocprof-compute's analysis_configs");
			return err_exit(err, EXIT_USAGE);
		}
		is_found = true;
	}
	for (size_t i = 0; !is_found && i < ARRAY_SIZE(homes); i++) {
		if (!homes[i] || !homes[i][0])
			continue;
		print_into(ret->reports, sizeof(ret->reports), "%s/" REPORTS, homes[i]);
		is_found = folder_is_there(ret->reports);
	}
	if (!is_found)
		return nothing_refuse(err);
	/* Sets and counters are in folders beside the reports. */
	print_into(ret->counters, sizeof(ret->counters), "%s/../profile_configs", ret->reports);
	print_into(ret->sets, sizeof(ret->sets), "%s/../profile_configs/sets", ret->reports);
	print_into(file, sizeof(file), "%s/counter_defs.yaml", ret->counters);
	if (access(file, R_OK))
		ret->counters[0] = '\0';
	return 0;
}

void metric_list_done(struct metric_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	list->count = 0;
}

/* *ret_sets: the first one; NULL: there is none. */
static int sets_read(struct yaml_tree *ret, const struct compute_definitions *definitions,
		     const char *architecture, const struct yaml_node **ret_sets, struct err *err)
{
	char path[600];
	int r;

	print_into(path, sizeof(path), "%s/%s_sets.yaml", definitions->sets, architecture);
	r = yaml_tree_read(ret, path, err);
	if (r) {
		err_why(err, "sets of metrics are defined there, for %s", architecture);
		err_fix(err, "--block ID ...: metrics one by one; --list-metrics lists them");
		err_exit(err, EXIT_USAGE);
	}
	*ret_sets = yaml_items(yaml_find(ret->first, "sets"));
	return r;
}

static int metric_add(struct metric_list *list, const char *id, struct err *err)
{
	if (list->count == SET_METRICS_MAX)
		return err_set(err, -E2BIG, "a set has more than %u metrics", SET_METRICS_MAX);
	list->items[list->count] = strdup(id);
	if (!list->items[list->count])
		return err_set(err, -ENOMEM, "no memory for a set of metrics");
	list->count++;
	return 0;
}

/* In AMD's words. */
static int set_refuse(const struct yaml_node *set, const char *name, struct err *err)
{
	char names[256] = "";

	for (; set; set = set->next) {
		const char *option = yaml_find_text(set, "set_option");
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
	CLEANUP(yaml_tree_done) struct yaml_tree tree = { 0 };
	const struct yaml_node *sets, *set, *item;
	int r = sets_read(&tree, definitions, architecture, &sets, err);

	*ret = (struct metric_list){ 0 };
	if (r)
		return r;
	for (set = sets; set; set = set->next) {
		const char *option = yaml_find_text(set, "set_option");

		if (option && !strcmp(option, name))
			break;
	}
	if (!set)
		return set_refuse(sets, name, err);
	/* Each item is a mapping of one pair: the metric, and its name. */
	for (item = yaml_items(yaml_find(set, "metric")); !r && item; item = item->next)
		if (yaml_keys(item))
			r = metric_add(ret, yaml_name(yaml_keys(item)), err);
	if (r)
		metric_list_done(ret);
	return r;
}

static void set_print(FILE *out, const struct yaml_node *set)
{
	const struct yaml_node *item = yaml_items(yaml_find(set, "metric"));
	const char *option = yaml_find_text(set, "set_option");
	const char *title = yaml_find_text(set, "title");

	print(out, "\n%s: %s\n", option ? option : "?", title ? title : "");
	for (; item; item = item->next) {
		const struct yaml_node *id = yaml_keys(item);

		if (id)
			print(out, "  %-8s %s\n", yaml_name(id), yaml_name(id->next));
	}
}

int sets_print(FILE *out, const struct compute_definitions *definitions, const char *architecture,
	       struct err *err)
{
	CLEANUP(yaml_tree_done) struct yaml_tree tree = { 0 };
	const struct yaml_node *set;
	int r = sets_read(&tree, definitions, architecture, &set, err);

	if (r)
		return r;
	print(out, "Sets of metrics for %s (rocprof-compute profile --set NAME):\n", architecture);
	for (; set; set = set->next)
		set_print(out, set);
	return 0;
}

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
