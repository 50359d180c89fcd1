/*
 * Chooses counters, and puts them into passes as rocprof-compute does: blocks have so many counters
 * at once.
 */
#include "selection.h"

#include "host/core/text/print.h"
#include "host/counters/amd/plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16u

static void selection_skip(const struct counter_selection *self, const char *format, ...)
	PRINTF_LIKE(2, 3);
static void selection_skip(const struct counter_selection *self, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	print_list(text, sizeof(text), format, arguments);
	va_end(arguments);
	self->tell(self->context, text);
}

/* Adds the counters of all texts below a node.  Aliases may lead in a circle: visits go down so
 * many levels only. */
static int nodes_add(struct pool *counters, const struct yaml_node *node, unsigned depth)
{
	int r = node->kind == YAML_TEXT ? counter_names_find(node->text, counters) : 0;

	for (node = node->first; !r && node && depth < DEPTH_MAX; node = node->next)
		r = nodes_add(counters, node, depth + 1);
	return r;
}

static int id_add(struct counter_selection *self, const struct panels *panels,
		  const struct metric_id *id, const char *text)
{
	const struct panel *panel = panels_find(panels, (unsigned)id->panel * 100);
	unsigned number = (unsigned)(id->panel * 100 + id->table);
	const struct metric_table *table;
	const struct yaml_node *metric;

	if (!panel) {
		selection_skip(self, "Skipping %s: file id %02d00 not found in %s", text, id->panel,
			       panels->folder);
		return 0;
	}
	if (id->table < 0)
		return nodes_add(&self->counters, panel->tree.first, 0);
	table = panel_table(panel, number);
	if (!table || table->source) {
		selection_skip(self, "Skipping %s: metric table %u not found in %s", text, number,
			       panel->path);
		return 0;
	}
	if (id->metric < 0)
		return nodes_add(&self->counters, table->node, 0);
	metric = yaml_keys(table->metrics);
	for (int i = 0; metric && i < id->metric; i++)
		metric = metric->next->next;
	if (metric)
		return nodes_add(&self->counters, metric->next, 0);
	selection_skip(self, "Skipping %s: metric id %d not found in panel id %u", text, id->metric,
		       table->id);
	return 0;
}

int selection_add(struct counter_selection *self, const struct panels *panels,
		  const char *const *ids, size_t count, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && !count && i < panels->count; i++)
		r = nodes_add(&self->counters, panels->items[i]->tree.first, 0);
	for (size_t i = 0; !r && i < count; i++) {
		struct metric_id id;

		if (metric_id_parse(ids[i], &id)) {
			err_usage(err, NULL, "Invalid metric id: %s", ids[i]);
			err_why(err, "a metric is named by its numbers: 12, 12.1 or 12.1.1");
			return err_fix(err, "rocprof-compute profile --list-metrics");
		}
		r = id_add(self, panels, &id, ids[i]);
	}
	return r ? err_set(err, r, "no memory for names of counters") : 0;
}

void selection_done(struct counter_selection *selection)
{
	pool_done(&selection->counters);
}

/* SQC's counters are those of SQ. */
static void block_of(const char *counter, char *ret, size_t room)
{
	print_into(ret, room, "%.*s", (int)strcspn(counter, "_"), counter);
	if (!strcmp(ret, "SQC"))
		print_into(ret, room, "SQ");
}

static bool pass_has_room(const struct counter_pass *pass, const char *counter,
			  const char *architecture)
{
	char block[32], other[32];
	unsigned used = 0;

	block_of(counter, block, sizeof(block));
	for (size_t i = 0; i < pass->count; i++) {
		block_of(pass->names[i], other, sizeof(other));
		used += !strcmp(block, other);
	}
	return pass->count < PASS_MAX && used < block_counters(architecture, block);
}

static bool is_level(const char *counter)
{
	size_t length = strlen(counter);

	return strstr(counter, "LEVEL") && (length < 4 || strcmp(counter + length - 4, "_sum"));
}

static void pass_add(struct counter_pass *pass, const char *name)
{
	pass->names[pass->count++] = name;
}

static struct counter_pass *pass_new(struct counter_passes *passes)
{
	return passes->count < PASSES_MAX ? &passes->items[passes->count++] : NULL;
}

/* The sum over time of a LEVEL counter has a name of its own in AMD's definitions. */
static int level_add(struct counter_passes *passes, struct pool *names, const char *counter)
{
	struct counter_pass *pass = pass_new(passes);
	char name[160];
	const char *kept;

	print_into(name, sizeof(name), "%s_ACCUM", counter);
	kept = pool_keep(names, name);
	if (!pass || !kept)
		return -E2BIG;
	pass_add(pass, counter);
	pass_add(pass, kept);
	return 0;
}

static int counter_place(struct counter_passes *passes, const char *counter,
			 const char *architecture)
{
	struct counter_pass *pass;

	for (size_t i = 0; i < passes->count; i++)
		if (pass_has_room(&passes->items[i], counter, architecture)) {
			pass_add(&passes->items[i], counter);
			return 0;
		}
	pass = pass_new(passes);
	if (!pass)
		return -E2BIG;
	pass_add(pass, counter);
	return 0;
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Why it is not counted; NULL: it is. */
static const char *reason_find(const char *counter, const char *architecture)
{
	char block[32];

	block_of(counter, block, sizeof(block));
	if (counter_name_is_channel(counter))
		return "limpet counts no single channels of a cache";
	if (!block_counters(architecture, block))
		return "its block is not known for this architecture";
	return NULL;
}

/* In the order of their names, so that two runs are alike. */
static size_t names_choose(const struct counter_selection *selection, const char *architecture,
			   const char **ret)
{
	size_t count = 0;

	for (size_t i = 0; i < selection->counters.count && count < COUNTERS_MAX; i++) {
		const char *name = pool_text(&selection->counters, (uint32_t)i);
		const char *why = reason_find(name, architecture);

		if (!strcmp(name, "SQ_ACCUM_PREV_HIRES"))
			continue; /* a LEVEL counter's sum, under its older name */
		if (why)
			selection_skip(selection, "counter '%s' is left out: %s", name, why);
		else
			ret[count++] = name;
	}
	qsort(ret, count, sizeof(*ret), name_compare);
	return count;
}

int passes_pack(struct counter_passes *ret, struct counter_selection *selection,
		const char *architecture, struct err *err)
{
	const char *names[COUNTERS_MAX];
	size_t count = names_choose(selection, architecture, names);
	int r = 0;

	*ret = (struct counter_passes){ 0 };
	for (size_t i = 0; !r && i < count; i++)
		if (is_level(names[i]))
			r = level_add(ret, &selection->counters, names[i]);
	for (size_t i = 0; !r && i < count; i++)
		if (!is_level(names[i]))
			r = counter_place(ret, names[i], architecture);
	return r ? err_set(err, r, "more counters are asked for than %u passes hold", PASSES_MAX)
		 : 0;
}
