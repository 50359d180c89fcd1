/*
 * `limpet report` about processes that were sampled together: which of them ran, and for how long.
 */
#include "host/cli/printable.h"
#include "host/cli/report/samples.h"
#include "host/core/cleanup.h"
#include "host/core/text/json.h"
#include "host/core/text/print.h"
#include "host/model/samples/profile.h"
#include "host/model/statistics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct process_rows {
	struct process_profile *rows;
	uint64_t on_cpu_ns; /* of all */
};

static void rows_done(struct process_rows *rows)
{
	free(rows->rows);
}

static inline void rows_done_at_scope_end(struct process_rows *rows)
{
	rows_done(rows);
}

/* Most running time first, then most samples. */
static int by_time(const void *left, const void *right)
{
	const struct process_profile *a = left, *b = right;
	uint64_t first = a->weights_ns[SAMPLE_RUNNING], second = b->weights_ns[SAMPLE_RUNNING];

	if (first != second)
		return first > second ? -1 : 1;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->process->number < b->process->number ? -1 : 1;
}

static int rows_find(struct process_rows *ret, struct model *model)
{
	CLEANUP(free) struct thread_profile *threads = NULL;

	if (thread_profiles_find(&threads, model) ||
	    process_profiles_add_up(&ret->rows, model, threads))
		return -ENOMEM;
	for (uint32_t i = 0; i < model->process_count; i++)
		ret->on_cpu_ns += ret->rows[i].weights_ns[SAMPLE_RUNNING];
	if (model->process_count)
		qsort(ret->rows, model->process_count, sizeof(*ret->rows), by_time);
	return 0;
}

static void print_row(const struct process_rows *rows, const struct process_profile *row,
		      const struct report_style *style)
{
	char name[NAME_MAX_SHOWN], command[NAME_MAX_SHOWN];

	print(stdout, "%7" PRIu64 " %9.1f %7.2f %7" PRIu64 " %7" PRIu64 " %7d  %s", row->samples,
	      time_in_unit(row->weights_ns[SAMPLE_RUNNING], style),
	      (double)share_of(row->weights_ns[SAMPLE_RUNNING], rows->on_cpu_ns) / 100,
	      row->incomplete, row->threads, row->process->pid,
	      printable(row->process->name, name));
	if (row->process->command[0])
		print(stdout, ": %s", printable(row->process->command, command));
	print(stdout, "\n");
}

int report_processes_print(struct model *model, const struct report_style *style)
{
	CLEANUP(rows_done) struct process_rows rows = { 0 };
	uint64_t shown = 0, left_out = 0;

	if (model->process_count <= 1)
		return 0;
	if (rows_find(&rows, model))
		return -ENOMEM;
	print(stdout, "\nprocesses: CPU time in %s\n", style->unit);
	print(stdout, "%7s %9s %7s %7s %7s %7s  %s\n", "SAMPLES", "ON CPU", "%", "INCOMPL",
	      "THREADS", "PID", "NAME: COMMAND");
	for (uint32_t i = 0; i < model->process_count; i++) {
		if (!rows.rows[i].samples)
			continue;
		if (style->limit && shown == style->limit) {
			left_out++;
			continue;
		}
		shown++;
		print_row(&rows, &rows.rows[i], style);
	}
	if (left_out)
		print(stdout, "%8s and %" PRIu64 " more (-n 0 shows all)\n", "", left_out);
	return 0;
}

int report_processes_print_json(struct model *model, struct json *json)
{
	CLEANUP(rows_done) struct process_rows rows = { 0 };

	if (rows_find(&rows, model))
		return -ENOMEM;
	for (uint32_t i = 0; i < model->process_count; i++) {
		const struct process_profile *row = &rows.rows[i];

		if (!row->samples)
			continue;
		json_object(json, NULL);
		json_text(json, "event", "sampled_process");
		json_signed(json, "pid", row->process->pid);
		json_text(json, "name", row->process->name);
		json_text(json, "executable", row->process->executable);
		json_text(json, "command", row->process->command);
		json_number(json, "threads", row->threads);
		json_number(json, "samples", row->samples);
		json_number(json, "on_cpu_ns", row->weights_ns[SAMPLE_RUNNING]);
		json_fixed(json, "on_cpu_percent",
			   share_of(row->weights_ns[SAMPLE_RUNNING], rows.on_cpu_ns), 2);
		json_number(json, "incomplete", row->incomplete);
		json_object_end(json);
	}
	return 0;
}
