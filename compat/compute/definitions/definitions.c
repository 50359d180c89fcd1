/*
 * Finds the files of rocprof-compute, and reads ARCHITECTURE_sets.yaml: a list of sets, each with
 * its name (set_option), title and metrics.
 */
#include "definitions.h"

#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/core/yaml_tree.h"

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
