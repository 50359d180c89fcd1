/*
 * `limpet report` about traced calls: functions, ranges and marks, threads, and what was lost.
 */
#include "host/cli/report/report.h"

#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/model/samples/profile.h"
#include "host/recording/facts.h"

#include <string.h>

uint32_t rows_shown(const struct recording_report *report, uint64_t count)
{
	return (uint32_t)(report->limit ? MIN(count, report->limit) : count);
}

void print_rest(const struct recording_report *report, int indent, uint64_t count)
{
	if (rows_shown(report, count) < count)
		print(stdout, "%*s and %lu more (-n 0 shows all)\n", indent, "",
		      count - rows_shown(report, count));
}

void print_statistics_head(const struct recording_report *report, const char *title)
{
	print(stdout, "\n%s\n%10s %*s%s %12s %12s %12s %12s %6s", title, "CALLS",
	      14 - (int)strlen(report->unit), "TOTAL ", report->unit, "AVERAGE", "MIN", "MAX",
	      "STDDEV", "%");
}

void print_statistics(const struct recording_report *report, const struct statistics *statistics,
		      uint64_t whole_ns)
{
	print(stdout, "%10lu %14.3f %12.3f %12.3f %12.3f %12.3f %6.2f", statistics->calls,
	      time_in_unit(report, statistics->total_ns), in_unit(report, statistics->mean_ns),
	      time_in_unit(report, statistics->least_ns), time_in_unit(report, statistics->most_ns),
	      in_unit(report, statistics_deviation_ns(statistics)),
	      share_percent(statistics->total_ns, whole_ns));
}

void write_statistics(struct json *json, const struct statistics *statistics, uint64_t whole_ns)
{
	json_number(json, "calls", statistics->calls);
	json_number(json, "total_ns", statistics->total_ns);
	json_fixed(json, "average_ns", (uint64_t)(statistics->mean_ns * 1000 + 0.5), 3);
	json_number(json, "min_ns", statistics->least_ns);
	json_number(json, "max_ns", statistics->most_ns);
	json_fixed(json, "stddev_ns", (uint64_t)(statistics_deviation_ns(statistics) * 1000 + 0.5),
		   3);
	json_fixed(json, "percent", share_of(statistics->total_ns, whole_ns), 2);
}

/* The requested counters, in the agent's syntax, have a table of their own. */
static void print_traced(const char *options)
{
	struct text rest = text_of(options), option;
	const char *lead = "traced: ";

	while (text_take_field(&rest, ';', &option)) {
		if (option.at == option.end || text_take_prefix(&option, "counter-"))
			continue;
		print(stdout, "%s%.*s", lead, (int)MIN(option.end - option.at, 159), option.at);
		lead = ", ";
	}
	if (lead[0] == ',')
		fputc('\n', stdout);
}

static void print_processes(const struct recording_report *report)
{
	const struct model *model = report->model;
	uint32_t named = 0, nameless = 0;

	for (uint32_t i = 0; i < model->process_count; i++) {
		const struct model_process *process = model->processes[i];

		if (!process->name[0])
			nameless += !i || model->processes[i - 1]->pid != process->pid;
		else if (named++ < rows_shown(report, UINT32_MAX))
			print(stdout, "process %d (%" PRINAME "): %" PRINAME "\n", process->pid,
			      process->name, process->command);
	}
	print_rest(report, 10, named);
	if (nameless)
		print(stdout, "%10s and %u more that ended before their names were read\n", "",
		      nameless);
}

static void count_cut_syscalls(const struct model *model, uint64_t *ret_before,
			       uint64_t *ret_under_way)
{
	*ret_before = *ret_under_way = 0;
	for (uint32_t i = 0; i < model->process_count; i++) {
		*ret_before += model->processes[i]->syscalls_before;
		*ret_under_way += model->processes[i]->syscalls_under_way;
	}
}

static void print_losses(const struct model *model)
{
	uint64_t all = drops_sum(model->drops), before, under_way;
	char text[256];

	model_describe_end(model, text, sizeof(text));
	if (text[0])
		print(stdout, "INCOMPLETE: %s\n", text);
	print_counted(
		stdout, model->other_records,
		"NOT SHOWN: # record{|s} of kinds that this limpet does not know; a newer one "
		"made the file\n");
	count_cut_syscalls(model, &before, &under_way);
	if (before || under_way)
		print(stdout,
		      "NOT COUNTED: system calls that began before the recording: %lu, that had not "
		      "returned at its end: %lu\n",
		      before, under_way);
	if (!all && !model->end.invalid)
		return;
	print(stdout, "LOST: %lu record%s %s dropped", all, plural(all), was_were(all));
	for (unsigned reason = 0; reason < DROP_REASONS; reason++)
		if (model->drops[reason])
			print(stdout, ", %lu %s", model->drops[reason], drop_reason_text(reason));
	print_counted(stdout, model->end.invalid, ", # were invalid");
	print(stdout, "\n");
}

void print_head(const struct recording_report *report)
{
	const struct model *model = report->model;
	const struct summary *summary = &report->summary;

	if (!samples_are_system_wide(model->samples)) /* else they have a table */
		print_processes(report);
	else
		print(stdout, "system-wide: %u processes\n", model->process_count);
	if (model->calls || !model->samples->count)
		print(stdout, "%lu call%s of %u thread%s", model->calls, plural(model->calls),
		      summary->thread_count, plural(summary->thread_count));
	else
		print(stdout, "recorded");
	if (model->calls)
		print(stdout, " in %.3f %s,",
		      time_in_unit(report, summary->last_ns - summary->first_ns), report->unit);
	print(stdout, " on %" PRINAME ", Linux %" PRINAME "\n", model->host, model->kernel);
	print_traced(model->options);
	print_losses(model);
}

void write_processes(const struct recording_report *report)
{
	for (uint32_t i = 0; i < report->model->process_count; i++) {
		const struct model_process *process = report->model->processes[i];
		struct json json = json_event(stdout, "process");

		json_signed(&json, "pid", process->pid);
		json_text(&json, "name", process->name);
		json_text(&json, "executable", process->executable);
		json_text(&json, "command", process->command);
		json_number(&json, "modules", process->module_count);
		json_object_end(&json);
	}
}

static void print_function(const struct recording_report *report, const struct function_row *row,
			   int bytes_width)
{
	const struct trace_function *function = row->function;
	char bytes[24] = "";

	print_statistics(report, &row->statistics,
			 report->summary.domains[function->domain].total_ns);
	if (row->has_bytes)
		snprintf(bytes, sizeof(bytes), "%lu", row->bytes);
	if (function->domain == DOMAIN_SYSCALL)
		snprintf(bytes, sizeof(bytes), "%lu",
			 syscalls_errors_of(&report->syscalls, function->name));
	print(stdout, " %*s  %" PRINAME, bytes_width, bytes, function->name);
	if (function->library[0])
		print(stdout, " (%" PRINAME ")", function->library);
	print(stdout, "\n");
}

/* One table for each domain; rows are sorted by domain.  System calls have errors in the column of
 * bytes, which are in the table of their files. */
void print_functions(const struct recording_report *report)
{
	const struct function_row *rows = report->summary.functions;
	uint32_t count = report->summary.function_count, end;

	for (uint32_t first = 0; first < count; first = end) {
		unsigned domain = rows[first].function->domain;
		bool has_bytes = domain == DOMAIN_ALLOC || domain == DOMAIN_IO;
		int width = has_bytes ? 16 : domain == DOMAIN_SYSCALL ? 10 : 0;
		char title[96];

		end = first;
		while (end < count && rows[end].function->domain == domain)
			end++;
		snprintf(title, sizeof(title), "%s%s", domain_title(domain),
			 domain == DOMAIN_ALLOC && report->model->alloc_sample
				 ? " (samples, and what became of them)"
				 : "");
		print_statistics_head(report, title);
		print(stdout, " %*s  FUNCTION\n", width,
		      has_bytes ? "BYTES"
		      : width   ? "ERRORS"
				: "");
		for (uint32_t i = first; i < first + rows_shown(report, end - first); i++)
			print_function(report, &rows[i], width);
		print_rest(report, 10, end - first);
	}
}

void write_functions(const struct recording_report *report)
{
	for (uint32_t i = 0; i < report->summary.function_count; i++) {
		const struct function_row *row = &report->summary.functions[i];
		const struct trace_function *function = row->function;
		struct json json = json_event(stdout, "function");

		json_text(&json, "domain", domain_name(function->domain));
		json_text(&json, "name", function->name);
		json_text(&json, "library", function->library);
		write_statistics(&json, &row->statistics,
				 report->summary.domains[function->domain].total_ns);
		if (row->has_bytes)
			json_number(&json, "bytes", row->bytes);
		if (function->domain == DOMAIN_SYSCALL)
			json_number(&json, "errors",
				    syscalls_errors_of(&report->syscalls, function->name));
		json_bool(&json, "sampled",
			  function->domain == DOMAIN_ALLOC && report->model->alloc_sample);
		json_object_end(&json);
	}
}

/* Ranges are sorted before marks. */
void print_markers(const struct recording_report *report)
{
	const struct markers *markers = &report->markers;
	uint32_t ranges = 0, marks;

	while (ranges < markers->count && markers->rows[ranges].kind == CALL_RANGE)
		ranges++;
	if (ranges) {
		print_statistics_head(report, "ranges");
		print(stdout, " %10s  NAME\n", "UNFINISHED");
	}
	for (uint32_t i = 0; i < rows_shown(report, ranges); i++) {
		const struct marker_row *row = &markers->rows[i];

		print_statistics(report, &row->statistics, markers->total_ns);
		print(stdout, " %10lu  %" PRINAME "%s\n", row->unfinished, row->name,
		      row->is_process_wide ? " (process-wide)" : "");
	}
	print_rest(report, 10, ranges);
	if (ranges && markers->unfinished)
		print(stdout,
		      "%10lu began or ended outside of what was recorded: the time within it counts\n",
		      markers->unfinished);
	marks = markers->count - ranges;
	if (marks)
		print(stdout, "\nmarks\n%10s  NAME\n", "COUNT");
	for (uint32_t i = 0; i < rows_shown(report, marks); i++)
		print(stdout, "%10lu  %" PRINAME "\n", markers->rows[ranges + i].statistics.calls,
		      markers->rows[ranges + i].name);
	print_rest(report, 10, marks);
}

void write_markers(const struct recording_report *report)
{
	for (uint32_t i = 0; i < report->markers.count; i++) {
		const struct marker_row *row = &report->markers.rows[i];
		struct json json = json_event(stdout, call_kind_name(row->kind));

		json_text(&json, "name", row->name);
		json_text(&json, "library", row->library);
		if (row->kind == CALL_MARK) {
			json_number(&json, "calls", row->statistics.calls);
		} else {
			json_text(&json, "scope", row->is_process_wide ? "process" : "thread");
			write_statistics(&json, &row->statistics, report->markers.total_ns);
			json_number(&json, "unfinished", row->unfinished);
		}
		json_object_end(&json);
	}
}

void print_threads(const struct recording_report *report)
{
	const struct summary *summary = &report->summary;
	uint64_t whole_ns = summary_total_ns(summary);
	bool has_errors = report->syscalls.has_calls;

	if (!summary->thread_count)
		return;
	print_statistics_head(report, "threads");
	if (has_errors)
		print(stdout, " %10s", "ERRORS");
	print(stdout, " %10s %8s  %s\n", "DROPPED", "TID", "NAME");
	for (uint32_t i = 0; i < rows_shown(report, summary->thread_count); i++) {
		const struct model_thread *thread = summary->threads[i].thread;

		print_statistics(report, &summary->threads[i].statistics, whole_ns);
		if (has_errors)
			print(stdout, " %10lu", report->syscalls.thread_errors[thread->number]);
		print(stdout, " %10lu %8d  %" PRINAME "\n", drops_sum(thread->drops), thread->tid,
		      thread->name);
	}
	print_rest(report, 10, summary->thread_count);
}

static void write_drops(struct json *json, const uint64_t drops[DROP_REASONS])
{
	json_object(json, "dropped");
	for (unsigned reason = 0; reason < DROP_REASONS; reason++)
		json_number(json, drop_reason_name(reason), drops[reason]);
	json_object_end(json);
}

void write_threads(const struct recording_report *report)
{
	const struct summary *summary = &report->summary;
	uint64_t whole_ns = summary_total_ns(summary);

	for (uint32_t i = 0; i < summary->thread_count; i++) {
		const struct model_thread *thread = summary->threads[i].thread;
		struct json json = json_event(stdout, "thread");

		json_signed(&json, "pid", thread->process->pid);
		json_signed(&json, "tid", thread->tid);
		json_text(&json, "name", thread->name);
		write_statistics(&json, &summary->threads[i].statistics, whole_ns);
		if (report->syscalls.has_calls)
			json_number(&json, "errors",
				    report->syscalls.thread_errors[thread->number]);
		write_drops(&json, thread->drops);
		json_object_end(&json);
	}
}

void write_call_totals(struct json *json, const struct recording_report *report)
{
	const struct model *model = report->model;
	uint64_t before, under_way;
	char text[256];

	model_describe_end(model, text, sizeof(text));
	count_cut_syscalls(model, &before, &under_way);
	json_number(json, "calls", model->calls);
	json_number(json, "records", model->records);
	json_number(json, "other_records", model->other_records);
	json_number(json, "ranges", report->markers.ranges);
	json_number(json, "marks", report->markers.marks);
	json_number(json, "unfinished", report->markers.unfinished);
	json_number(json, "alloc_sample", model->alloc_sample);
	json_number(json, "syscalls_before", before);
	json_number(json, "syscalls_under_way", under_way);
	json_number(json, "invalid", model->end.invalid);
	write_drops(json, model->drops);
	json_bool(json, "complete", text[0] == '\0');
	json_text(json, "incomplete", text);
}
