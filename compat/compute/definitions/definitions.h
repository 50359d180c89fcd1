/*
 * The definitions of rocprof-compute: AMD's own, of the one that is installed, or in a folder that
 * the user names.  limpet carries none: their numbers differ from release to release.
 *
 * The report for one architecture, as its files define it: panels (02xx_*.yaml), each with tables,
 * each with metrics, each with an expression for every column.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/yaml_tree.h"

#include <stdio.h>

#define SET_METRICS_MAX 64u

struct compute_definitions {
	char reports[512];  /* a folder for each architecture */
	char counters[512]; /* the folder of counter_defs.yaml; "": rocprofiler-sdk's */
	char sets[512];     /* the folder of ARCHITECTURE_sets.yaml */
};

/* folder: --config-dir, or NULL.  -ENOENT lists all the paths. */
int compute_definitions_find(struct compute_definitions *ret, const char *folder,
			     struct err *err) MUST_CHECK;

/* The metrics of a set that one pass can count (--set), "7.1.0"; the caller frees the texts. */
struct metric_list {
	char *items[SET_METRICS_MAX];
	size_t count;
};
void metric_list_done(struct metric_list *list);

/* -ENOENT lists the sets. */
int set_read(const struct compute_definitions *definitions, const char *architecture,
	     const char *name, struct metric_list *ret, struct err *err) MUST_CHECK;
int sets_print(FILE *out, const struct compute_definitions *definitions, const char *architecture,
	       struct err *err) MUST_CHECK;

#define PANELS_MAX 64u

struct metric_table {
	unsigned id; /* 501 */
	const char *title;
	const char *source; /* a csv file that it shows as it is; NULL: it has metrics */
	bool is_box;        /* least, quartiles and most of "expr" */
	const struct yaml_node *header, *metrics, *node;
};

struct panel {
	unsigned id; /* 500 */
	const char *title;
	char *path;
	struct yaml_tree tree;
	struct metric_table *tables;
	size_t table_count;
};

/* By their numbers. */
struct panels {
	struct panel *items[PANELS_MAX];
	size_t count;
	char folder[512];
};

/* All files of the folder; -ENOENT: there are none. */
int panels_read(struct panels *ret, const char *folder, struct err *err) MUST_CHECK;
void panels_done(struct panels *panels);

/* NULL: there is none. */
const struct panel *panels_find(const struct panels *panels, unsigned id);
const struct metric_table *panel_table(const struct panel *panel, unsigned id);

/* "5", "5.1" or "5.1.2"; -1 for missing parts. */
struct metric_id {
	int panel, table, metric;
};
int metric_id_parse(const char *text, struct metric_id *ret) MUST_CHECK;
