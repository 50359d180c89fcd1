/*
 * The report of rocprof-compute for one architecture, as its files define it: panels (02xx_*.yaml),
 * each with tables, each with metrics, each with an expression for every column.
 */
#pragma once

#include "host/core/yaml_tree.h"

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
