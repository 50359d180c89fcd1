/*
 * Chooses counters.
 */
#include "selection.h"

#include "host/core/text/print.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static void selection_tell(const struct counter_selection *self, const char *format, ...)
	PRINTF_LIKE(2, 3);
static void selection_tell(const struct counter_selection *self, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	print_list(text, sizeof(text), format, arguments);
	va_end(arguments);
	self->tell(self->context, text);
}

static int text_add(const char *text, void *context)
{
	struct counter_selection *self = context;

	return counter_names_find(text, &self->counters);
}

static int node_add(struct counter_selection *self, struct panel *panel, const yaml_node_t *node)
{
	return yaml_tree_visit(&panel->document, node, text_add, self);
}

static int metric_add(struct counter_selection *self, struct panel *panel,
		      const struct metric_table *table, const struct metric_id *id,
		      const char *text)
{
	const yaml_node_t *metric;
	const char *name;

	if (table_metric(panel, table, (size_t)id->metric, &name, &metric))
		return node_add(self, panel, metric);
	selection_tell(self, "Skipping %s: metric id %d not found in panel id %u", text, id->metric,
		       table->id);
	return 0;
}

static int id_add(struct counter_selection *self, const struct panels *panels,
		  const struct metric_id *id, const char *text)
{
	struct panel *panel = panels_find(panels, (unsigned)id->panel * 100);
	unsigned number = (unsigned)(id->panel * 100 + id->table);
	const struct metric_table *table;

	if (!panel) {
		selection_tell(self, "Skipping %s: file id %02d00 not found in %s", text, id->panel,
			       panels->folder);
		return 0;
	}
	if (id->table < 0)
		return node_add(self, panel, yaml_document_get_root_node(&panel->document));
	table = panel_table(panel, number);
	if (!table || table->source) {
		selection_tell(self, "Skipping %s: metric table %u not found in %s", text, number,
			       panel->path);
		return 0;
	}
	if (id->metric < 0)
		return node_add(self, panel, table->node);
	return metric_add(self, panel, table, id, text);
}

static int refuse_id(const char *text, struct err *err)
{
	err_set(err, -EINVAL, "Invalid metric id: %s", text);
	err_why(err, "a metric is named by its numbers: 12, 12.1 or 12.1.1");
	err_fix(err, "rocprof-compute profile --list-metrics");
	return err_exit(err, EXIT_USAGE);
}

static int panels_add(struct counter_selection *self, const struct panels *panels)
{
	int r = 0;

	for (size_t i = 0; !r && i < panels->count; i++) {
		struct panel *panel = panels->items[i];

		r = node_add(self, panel, yaml_document_get_root_node(&panel->document));
	}
	return r;
}

int selection_add(struct counter_selection *selection, const struct panels *panels,
		  const char *const *ids, size_t count, struct err *err)
{
	int r = count ? 0 : panels_add(selection, panels);

	for (size_t i = 0; !r && i < count; i++) {
		struct metric_id id;

		if (metric_id_parse(ids[i], &id))
			return refuse_id(ids[i], err);
		r = id_add(selection, panels, &id, ids[i]);
	}
	return r ? err_set(err, r, "no memory for names of counters") : 0;
}

void selection_done(struct counter_selection *selection)
{
	pool_done(&selection->counters);
}
