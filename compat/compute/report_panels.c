/*
 * Metrics, computed and shown table by table, as AMD's analysis does: a panel that was chosen is
 * shown whole, a table with a column in which there is nothing is not shown.
 */
#include "report.h"

#include "grid.h"
#include "host/core/cleanup.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <math.h>
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
	const struct metric_table *table;
	struct grid grid;
};

struct metric_row {
	size_t index;
	const char *name;
	const struct yaml_node *metric;
	const char *placeholder, *number; /* NULL: none */
};

static bool is_text_column(const char *title)
{
	for (size_t i = 0; title && i < ARRAY_SIZE(texts_columns); i++)
		if (!strcmp(title, texts_columns[i]))
			return true;
	return false;
}

/* "(Req  + $normUnit)" is "Req per kernel". */
static void unit_add(struct table_view *self, const char *text)
{
	const char *sign = text ? strstr(text, "$normUnit") : NULL;
	char unit[128], words[32];

	if (!sign || text[0] != '(') {
		grid_add(&self->grid, text);
		return;
	}
	print_into(words, sizeof(words), "%s", self->report->workload->unit);
	for (char *at = words; (at = strchr(at, '_'));)
		*at = ' ';
	print_into(unit, sizeof(unit), "%.*s %s", (int)strcspn(text + 1, " +"), text + 1, words);
	grid_add(&self->grid, unit);
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

/* As in AMD's, a bare 0 is nothing. */
static void cell_add(struct table_view *self, const struct metric_row *row, const char *expression)
{
	const char *level = yaml_find_text(row->metric, "coll_level");
	CLEANUP(free) char *replaced = NULL;

	if (!expression || !expression[0] || !strcmp(expression, "0")) {
		grid_add(&self->grid, "");
		return;
	}
	if (row->placeholder)
		expression = replaced = text_replace(expression, row->placeholder, row->number);
	grid_add_number(&self->grid,
			expression ? workload_evaluate(self->report->workload, expression, level)
				   : (double)NAN);
}

static void box_add(struct table_view *self, const struct metric_row *row, const char *expression)
{
	char text[16384];

	for (size_t i = 0; i < ARRAY_SIZE(box_columns); i++) {
		print_into(text, sizeof(text), "%s%s%s", box_columns[i].before,
			   expression ? expression : "None", box_columns[i].behind);
		cell_add(self, row, text);
	}
}

/* The chosen metrics at display; else all of a shown panel. */
static bool is_metric_chosen(const struct compute_report *report, const struct metric_table *table,
			     size_t metric)
{
	struct metric_id id;

	for (size_t i = 0; i < report->chosen->count; i++)
		if (!metric_id_parse(report->chosen->items[i], &id) &&
		    id.panel == (int)(table->id / 100) &&
		    (id.table < 0 || id.table == (int)(table->id % 100)) &&
		    (id.metric < 0 || id.metric == (int)metric))
			return true;
	return !report->chosen->count;
}

static void metric_add(struct table_view *self, const struct metric_row *row)
{
	const struct metric_table *table = self->table;
	const struct yaml_node *key = yaml_keys(table->header);
	char id[32];

	if (!is_metric_chosen(self->report, table, row->index))
		return;
	print_into(id, sizeof(id), "%u.%u.%zu", table->id / 100, table->id % 100, row->index);
	grid_add(&self->grid, id);
	grid_add(&self->grid, row->name);
	for (; key; key = key->next->next) {
		const char *text = yaml_find_text(row->metric, yaml_name(key));

		if (!strcmp(yaml_name(key), "metric"))
			continue;
		if (table->is_box && !strcmp(yaml_name(key), "expr"))
			box_add(self, row, text);
		else if (is_text_column(yaml_text(key->next)))
			unit_add(self, text);
		else
			cell_add(self, row, text);
	}
}

static void head_add(struct table_view *self)
{
	const struct yaml_node *key = yaml_keys(self->table->header);

	grid_add(&self->grid, "Metric_ID");
	grid_add(&self->grid, yaml_find_text(self->table->header, "metric"));
	for (; key; key = key->next->next) {
		bool is_box = self->table->is_box && !strcmp(yaml_name(key), "expr");

		if (!strcmp(yaml_name(key), "metric"))
			continue;
		if (!is_box)
			grid_add(&self->grid, yaml_text(key->next));
		for (size_t i = 0; is_box && i < ARRAY_SIZE(box_columns); i++)
			grid_add(&self->grid, box_columns[i].title);
	}
	self->grid.columns = self->grid.count;
}

/* "placeholder_range": one metric for each number below a variable of the device. */
static void range_add(struct table_view *self, const struct yaml_node *range)
{
	const struct yaml_node *placeholder = yaml_keys(range), *key, *metric = NULL;
	const char *limit = placeholder ? yaml_text(placeholder->next) : NULL;
	uint64_t count = 0;

	for (key = yaml_keys(self->table->metrics); key; key = key->next->next)
		if (strcmp(yaml_name(key), "placeholder_range"))
			metric = key;
	if (limit && limit[0] == '$')
		limit = workload_system(self->report->workload, limit + 1);
	if (!limit || !metric || text_parse_number(limit, 4096, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		CLEANUP(free) char *name = NULL;
		char number[16];
		struct metric_row row = { .index = i,
					  .metric = metric->next,
					  .placeholder = yaml_name(placeholder),
					  .number = number };

		print_into(number, sizeof(number), "%zu", i);
		row.name = name = text_replace(yaml_name(metric), row.placeholder, number);
		if (name)
			metric_add(self, &row);
		else
			self->grid.has_failed = true;
	}
}

static void metrics_add(struct table_view *self)
{
	const struct yaml_node *range = yaml_find(self->table->metrics, "placeholder_range");
	const struct yaml_node *key = yaml_keys(self->table->metrics);
	struct metric_row row = { 0 };

	if (range) {
		range_add(self, range);
		return;
	}
	for (; key; key = key->next->next, row.index++) {
		row.name = yaml_name(key);
		row.metric = key->next;
		metric_add(self, &row);
	}
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

static int metric_table_show(const struct compute_report *report, const struct panel *panel,
			     const struct metric_table *table, bool *has_head)
{
	struct table_view self = { report, table, { 0 } };
	bool has_failed;

	head_add(&self);
	metrics_add(&self);
	has_failed = self.grid.has_failed;
	if (!has_failed && self.grid.count > self.grid.columns && !has_empty_column(&self.grid)) {
		head_print(report, panel, has_head);
		print(report->out, "%u.%u %s\n", table->id / 100, table->id % 100, table->title);
		grid_print(&self.grid, report->out);
	}
	grid_done(&self.grid);
	return has_failed ? -ENOMEM : 0;
}

static int system_show(const struct compute_report *report, const struct panel *panel,
		       bool *has_head)
{
	const struct csv_table *system = &report->workload->system;
	struct grid grid = { .columns = 2 };
	bool has_failed;

	grid_add(&grid, "");
	grid_add(&grid, "Info");
	for (size_t i = 0; i < system->columns; i++) {
		grid_add(&grid, system->cells[i]);
		grid_add(&grid, csv_table_cell(system, 0, (int)i));
	}
	has_failed = grid.has_failed;
	if (!has_failed) {
		head_print(report, panel, has_head);
		grid_print(&grid, report->out);
	}
	grid_done(&grid);
	return has_failed ? -ENOMEM : 0;
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

static int panel_show(const struct compute_report *report, const struct panel *panel)
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
