/*
 * Reads the folder of a workload and resolves names in expressions.
 */
#include "workload.h"

#include "definitions/counter_names.h"
#include "host/core/text/print.h"
#include "host/core/yaml_tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DENOMINATOR "denom"

static const struct {
	const char *unit, *formula;
} denominators[] = {
	{ "per_kernel", "1" },
	{ "per_wave", "SQ_WAVES" },
	{ "per_cycle", "$GRBM_GUI_ACTIVE_PER_XCD" },
	{ "per_second", "((End_Timestamp - Start_Timestamp) / 1000000000)" },
};

static void path_make(const struct workload *workload, const char *name, char *ret, size_t room)
{
	print_into(ret, room, "%s/%s", workload->folder, name);
}

static int block_add(struct workload *workload, const char *block)
{
	return pool_add(&workload->blocks, block) == POOL_NONE ? -ENOMEM : 0;
}

/* Older workloads have no such file. */
static int config_read(struct workload *workload, struct err *err)
{
	const struct yaml_node *blocks, *node;
	struct yaml_tree tree;
	const char *form;
	char path[700];
	int r;

	path_make(workload, "profiling_config.yaml", path, sizeof(path));
	if (access(path, F_OK))
		return 0;
	r = yaml_tree_read(&tree, path, err);
	if (r)
		return r;
	/* A list, or, in older ones, a mapping with these keys. */
	blocks = yaml_find(tree.first, "filter_blocks");
	for (node = yaml_items(blocks); !r && node; node = node->next)
		if (yaml_text(node))
			r = block_add(workload, node->text);
	for (node = yaml_keys(blocks); !r && node; node = node->next->next)
		if (!strcmp(yaml_name(node->next), "metric_id"))
			r = block_add(workload, yaml_name(node));
	form = yaml_find_text(tree.first, "format_rocprof_output");
	workload->is_rocpd = form && !strcmp(form, "rocpd");
	yaml_tree_done(&tree);
	return r ? err_set(err, r, "read '%s': no memory", path) : 0;
}

int workload_read(struct workload *ret, const char *folder, struct err *err)
{
	char path[700];
	int r;

	*ret = (struct workload){ .folder = folder, .unit = denominators[0].unit };
	path_make(ret, "sysinfo.csv", path, sizeof(path));
	r = csv_table_read(&ret->system, path, err);
	path_make(ret, "pmc_perf.csv", path, sizeof(path));
	if (!r)
		r = frame_read(&ret->frame, path, err);
	if (!r && !ret->system.rows)
		r = err_set(err, -EINVAL, "sysinfo.csv says nothing");
	if (r) {
		err_why(err,
			"'%s' is no folder of a workload: it holds sysinfo.csv and pmc_perf.csv",
			folder);
		err_fix(err, "-p workloads/NAME/MODEL");
		err_exit(err, EXIT_USAGE);
	} else {
		r = config_read(ret, err);
	}
	if (r)
		workload_done(ret);
	return r;
}

static void variables_free(struct workload *workload)
{
	for (size_t i = 0; i < workload->variable_count; i++)
		free(workload->variable_items[i]);
	free(workload->variable_items);
	free(workload->variables);
	workload->variables = NULL;
	workload->variable_items = NULL;
	workload->variable_count = 0;
}

void workload_done(struct workload *workload)
{
	variables_free(workload);
	for (size_t i = 0; i < workload->level_count; i++)
		frame_done(&workload->levels[i].frame);
	workload->level_count = 0;
	frame_done(&workload->frame);
	csv_table_done(&workload->system);
	pool_done(&workload->blocks);
}

const char *workload_system(const struct workload *workload, const char *name)
{
	return csv_table_cell(&workload->system, 0, csv_table_find(&workload->system, name));
}

struct name_context {
	struct workload *workload;
	const struct frame *frame;
	const char *level; /* NULL: none */
};

static struct formula_value column_find(void *context, const char *name)
{
	const struct name_context *self = context;
	char sum[128];
	const double *column;

	if (self->level && self->workload->is_rocpd && !strcmp(name, "SQ_ACCUM_PREV_HIRES")) {
		print_into(sum, sizeof(sum), "%s_ACCUM", self->level);
		name = sum;
	}
	column = frame_column(self->frame, name);
	if (!column)
		return (struct formula_value){ .kind = FORMULA_NONE };
	return (struct formula_value){ FORMULA_COLUMN, 0, column };
}

/* Computed ones first; the others are numbers of the device. */
static struct formula_value variable_find(void *context, const char *name)
{
	const struct name_context *self = context;
	const struct workload *workload = self->workload;
	double number;

	for (size_t i = 0; i < workload->variable_count; i++) {
		const char *known = variable_at(i);

		if (!strcmp(name, known ? known : DENOMINATOR))
			return workload->variables[i];
	}
	number = csv_table_number(&workload->system, 0, csv_table_find(&workload->system, name));
	if (isnan(number))
		return (struct formula_value){ .kind = FORMULA_FAILED };
	return (struct formula_value){ FORMULA_NUMBER, number, NULL };
}

static struct formula_names names_of(struct name_context *context)
{
	return (struct formula_names){ context->frame->rows, column_find, variable_find, context };
}

static int variable_add(struct workload *workload, const char *formula)
{
	struct name_context context = { workload, &workload->frame, NULL };
	struct formula_names names = names_of(&context);
	size_t index = workload->variable_count;
	int r = formula_evaluate_column(formula, &names, &workload->variables[index],
					&workload->variable_items[index]);

	if (r != -ENOMEM) /* one that cannot be computed is missed where it is needed */
		workload->variable_count++;
	return r == -ENOMEM ? r : 0;
}

int workload_prepare(struct workload *workload, const char *unit, struct err *err)
{
	const char *denominator = NULL, *name;
	size_t count = 1;
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(denominators); i++)
		if (!strcmp(unit ? unit : workload->unit, denominators[i].unit))
			denominator = denominators[i].formula;
	if (!denominator) {
		return err_usage(err, "--normal-unit per_wave, per_cycle, per_second or per_kernel",
				 "'%s' is no unit", unit);
	}
	workload->unit = unit ? unit : workload->unit;
	variables_free(workload);
	while (variable_at(count))
		count++;
	workload->variables = calloc(count + 1, sizeof(*workload->variables));
	workload->variable_items = calloc(count + 1, sizeof(*workload->variable_items));
	if (!workload->variables || !workload->variable_items)
		r = -ENOMEM;
	for (size_t i = 0; !r && (name = variable_at(i)); i++)
		r = variable_add(workload, variable_formula(name, strlen(name)));
	if (!r)
		r = variable_add(workload, denominator);
	return r ? err_set(err, r, "no memory for variables") : 0;
}

/* The file of a level; where there is none, nothing is in it. */
static const struct frame *level_find(struct workload *workload, const char *level)
{
	struct err err = { 0 };
	char path[700];
	size_t i;

	for (i = 0; i < workload->level_count; i++)
		if (!strcmp(workload->levels[i].name, level))
			return &workload->levels[i].frame;
	if (i == LEVELS_MAX || strchr(level, '/'))
		return NULL;
	print_into(path, sizeof(path), "%s/%s.csv", workload->folder, level);
	print_into(workload->levels[i].name, sizeof(workload->levels[i].name), "%s", level);
	if (frame_read(&workload->levels[i].frame, path, &err))
		workload->levels[i].frame = (struct frame){ 0 };
	workload->level_count++;
	return &workload->levels[i].frame;
}

double workload_evaluate(struct workload *workload, const char *expression, const char *level)
{
	struct name_context context = { workload, &workload->frame, level };
	struct frame none = { .rows = workload->frame.rows };
	struct formula_names names;
	double number;

	if (level && !workload->is_rocpd)
		context.frame = level_find(workload, level);
	/* Expressions of the device's numbers alone have a value without any counter. */
	if (!context.frame || !context.frame->rows)
		context.frame = &none;
	names = names_of(&context);
	/* Columns of variables have the length of the workload's. */
	if (context.frame->rows != workload->frame.rows ||
	    formula_evaluate(expression, &names, &number))
		return (double)NAN;
	return number;
}
