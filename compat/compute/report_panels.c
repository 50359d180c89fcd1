/*
 * Metrics, computed and shown table by table, as AMD's analysis does: a panel that was chosen is
 * shown whole, a table with a column in which there is nothing is not shown.
 */
#include "report.h"

#include "grid.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns with other names hold texts. */
static const char *const texts_columns[] = { "Unit",      "Units", "Tips",  "Xfer",
					     "Coherency", "Type",  "Alias", "Transaction" };

static const struct {
	const char *title, *before, *behind;
} box_columns[] = {
	{ "Min", "MIN(", ")" },       { "Q1", "QUANTILE(", ", 0.25)" },
	{ "Median", "MEDIAN(", ")" }, { "Q3", "QUANTILE(", ", 0.75)" },
	{ "Max", "MAX(", ")" },
};

struct table_view {
	const struct compute_report *report;
	struct panel *panel;
	const struct metric_table *table;
	struct grid grid;
};

static bool is_text_column(const char *title)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts_columns); i++)
		if (!strcmp(title, texts_columns[i]))
			return true;
	return false;
}

/* "(Req  + $normUnit)" is "Req per kernel". */
static int unit_add(struct table_view *self, const char *text)
{
	const char *sign = text ? strstr(text, "$normUnit") : NULL;
	char unit[128], words[32];

	if (!sign || text[0] != '(')
		return grid_add(&self->grid, text);
	print_into(words, sizeof(words), "%s", self->report->workload->unit);
	for (char *at = words; (at = strchr(at, '_'));)
		*at = ' ';
	print_into(unit, sizeof(unit), "%.*s %s", (int)strcspn(text + 1, " +"), text + 1, words);
	return grid_add(&self->grid, unit);
}

/* Every placeholder becomes this number. */
static char *text_replace(const char *text, const char *placeholder, const char *number)
{
	size_t room = strlen(text) * 4 + 64, used = 0, length = strlen(placeholder);
	char *ret = malloc(room);

	while (ret && *text && used + strlen(number) + 1 < room) {
		if (length && !strncmp(text, placeholder, length)) {
			memcpy(ret + used, number, strlen(number));
			used += strlen(number);
			text += length;
		} else {
			ret[used++] = *text++;
		}
	}
	if (ret)
		ret[used] = '\0';
	return ret;
}

struct metric_row {
	char id[32];
	const char *name;
	const yaml_node_t *metric;
	const char *placeholder, *number; /* NULL: none */
};

static double expression_evaluate(struct table_view *self, const struct metric_row *row,
				  const char *expression)
{
	const char *level = yaml_tree_text(&self->panel->document, row->metric, "coll_level");
	char *replaced = NULL;
	double number;

	if (row->placeholder)
		expression = replaced = text_replace(expression, row->placeholder, row->number);
	number = expression ? workload_evaluate(self->report->workload, expression, level)
			    : (double)NAN;
	free(replaced);
	return number;
}

/* As in AMD's, a bare 0 is nothing. */
static int cell_add(struct table_view *self, const struct metric_row *row, const char *expression)
{
	if (!expression || !expression[0] || !strcmp(expression, "0"))
		return grid_add(&self->grid, "");
	return grid_add_number(&self->grid, expression_evaluate(self, row, expression));
}

static int box_add(struct table_view *self, const struct metric_row *row, const char *expression)
{
	char text[16384];
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(box_columns); i++) {
		print_into(text, sizeof(text), "%s%s%s", box_columns[i].before,
			   expression ? expression : "None", box_columns[i].behind);
		r = cell_add(self, row, text);
	}
	return r;
}

static int row_add(struct table_view *self, const struct metric_row *row)
{
	yaml_document_t *document = &self->panel->document;
	const yaml_node_t *title;
	const char *key;
	int r = grid_add(&self->grid, row->id);

	if (!r)
		r = grid_add(&self->grid, row->name);
	for (size_t i = 0; !r && yaml_tree_pair(document, self->table->header, i, &key, &title);
	     i++) {
		const char *text = yaml_tree_text(document, row->metric, key);
		const char *column = yaml_node_text(title) ? yaml_node_text(title) : "";

		if (!strcmp(key, "metric"))
			continue;
		if (self->table->is_box && !strcmp(key, "expr"))
			r = box_add(self, row, text);
		else
			r = is_text_column(column) ? unit_add(self, text)
						   : cell_add(self, row, text);
	}
	return r;
}

static int head_add(struct table_view *self)
{
	yaml_document_t *document = &self->panel->document;
	const yaml_node_t *title;
	const char *key;
	int r = grid_add(&self->grid, "Metric_ID");

	if (!r)
		r = grid_add(&self->grid, yaml_tree_text(document, self->table->header, "metric"));
	for (size_t i = 0; !r && yaml_tree_pair(document, self->table->header, i, &key, &title);
	     i++) {
		if (!strcmp(key, "metric"))
			continue;
		if (!self->table->is_box || strcmp(key, "expr"))
			r = grid_add(&self->grid, yaml_node_text(title));
		for (size_t j = 0; !r && self->table->is_box && !strcmp(key, "expr") &&
				   j < ARRAY_SIZE(box_columns);
		     j++)
			r = grid_add(&self->grid, box_columns[j].title);
	}
	self->grid.columns = self->grid.count;
	return r;
}

static bool id_covers(const char *text, const struct metric_table *table, size_t metric)
{
	struct metric_id id;

	return !metric_id_parse(text, &id) && id.panel == (int)(table->id / 100) &&
	       (id.table < 0 || id.table == (int)(table->id % 100)) &&
	       (id.metric < 0 || id.metric == (int)metric);
}

/* The chosen metrics at display; else all of a shown panel. */
static bool is_metric_chosen(const struct compute_report *report, const struct metric_table *table,
			     size_t metric)
{
	for (size_t i = 0; i < report->chosen->count; i++)
		if (id_covers(report->chosen->items[i], table, metric))
			return true;
	return !report->chosen->count;
}

static int metric_add(struct table_view *self, size_t index, struct metric_row *row)
{
	const struct metric_table *table = self->table;

	if (!is_metric_chosen(self->report, table, index))
		return 0;
	print_into(row->id, sizeof(row->id), "%u.%u.%zu", table->id / 100, table->id % 100, index);
	return row_add(self, row);
}

/* "placeholder_range": one metric for each number below a variable of the device. */
static int range_add(struct table_view *self, const yaml_node_t *range)
{
	yaml_document_t *document = &self->panel->document;
	const yaml_node_t *limit, *metric;
	const char *placeholder, *key, *name = NULL;
	struct metric_row row = { 0 };
	uint64_t count = 0;
	int r = 0;

	if (!yaml_tree_pair(document, range, 0, &placeholder, &limit) || !yaml_node_text(limit))
		return 0;
	for (size_t i = 0; table_metric(self->panel, self->table, i, &key, &metric); i++)
		if (strcmp(key, "placeholder_range")) {
			name = key;
			row.metric = metric;
		}
	key = yaml_node_text(limit);
	if (key[0] == '$')
		key = workload_system(self->report->workload, key + 1);
	if (!name || text_parse_number(key, 4096, &count))
		return 0;
	for (size_t i = 0; !r && i < count; i++) {
		char number[16], *shown;

		print_into(number, sizeof(number), "%zu", i);
		shown = text_replace(name, placeholder, number);
		row.name = shown;
		row.placeholder = placeholder;
		row.number = number;
		r = shown ? metric_add(self, i, &row) : -ENOMEM;
		free(shown);
	}
	return r;
}

static int metrics_add(struct table_view *self)
{
	const yaml_node_t *metric,
		*range = yaml_tree_find(&self->panel->document, self->table->metrics,
					"placeholder_range");
	const char *name;
	int r = 0;

	if (range)
		return range_add(self, range);
	for (size_t i = 0; !r && table_metric(self->panel, self->table, i, &name, &metric); i++) {
		struct metric_row row = { .name = name, .metric = metric };

		r = metric_add(self, i, &row);
	}
	return r;
}

static bool has_empty_column(const struct grid *grid)
{
	for (size_t column = 0; column < grid->columns; column++) {
		bool is_empty = true;

		for (size_t i = grid->columns + column; i < grid->count; i += grid->columns)
			is_empty &= !grid->cells[i][0];
		if (is_empty)
			return true;
	}
	return false;
}

static void head_print(const struct compute_report *report, const struct panel *panel,
		       bool *has_head)
{
	if (!*has_head)
		print(report->out, "\n%u. %s\n", panel->id / 100, panel->title);
	*has_head = true;
}

static int metric_table_show(const struct compute_report *report, struct panel *panel,
			     const struct metric_table *table, bool *has_head)
{
	struct table_view self = { report, panel, table, { 0 } };
	int r = head_add(&self);

	if (!r)
		r = metrics_add(&self);
	if (!r && self.grid.count > self.grid.columns && !has_empty_column(&self.grid)) {
		head_print(report, panel, has_head);
		print(report->out, "%u.%u %s\n", table->id / 100, table->id % 100, table->title);
		grid_print(&self.grid, report->out);
	}
	grid_done(&self.grid);
	return r;
}

static int system_show(const struct compute_report *report, const struct panel *panel,
		       bool *has_head)
{
	const struct csv_table *system = &report->workload->system;
	struct grid grid = { .columns = 2 };
	int r = grid_add(&grid, "");

	if (!r)
		r = grid_add(&grid, "Info");
	for (size_t i = 0; !r && i < system->columns; i++) {
		r = grid_add(&grid, system->cells[i]);
		if (!r)
			r = grid_add(&grid, csv_table_cell(system, 0, (int)i));
	}
	if (!r) {
		head_print(report, panel, has_head);
		grid_print(&grid, report->out);
	}
	grid_done(&grid);
	return r;
}

/* Without a choice at display, that of the profiling. */
static bool is_panel_shown(const struct compute_report *report, const struct panel *panel)
{
	const struct pool *blocks = &report->workload->blocks;
	struct metric_id id;

	if (report->chosen->count || !blocks->count || panel->id <= 100)
		return true;
	for (size_t i = 0; i < blocks->count; i++)
		if (!metric_id_parse(pool_text(blocks, (uint32_t)i), &id) &&
		    (unsigned)id.panel * 100 == panel->id)
			return true;
	return false;
}

static int panel_show(const struct compute_report *report, struct panel *panel)
{
	bool has_head = false;
	int r = 0;

	for (size_t i = 0; !r && i < panel->table_count; i++) {
		const struct metric_table *table = &panel->tables[i];

		if (!table->source)
			r = metric_table_show(report, panel, table, &has_head);
		else if (!strcmp(table->source, "sysinfo.csv") && !report->chosen->count)
			r = system_show(report, panel, &has_head);
	}
	return r;
}

int report_panels(const struct compute_report *report, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < report->panels->count; i++)
		if (is_panel_shown(report, report->panels->items[i]))
			r = panel_show(report, report->panels->items[i]);
	return r ? err_set(err, r, "no memory for tables") : 0;
}
