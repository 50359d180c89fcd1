/*
 * `limpet report` for people: tables as wide as their numbers, names last.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/cli/printable.h"
#include "host/cli/report/allocations.h"
#include "host/cli/report/sites.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/model/samples/profile.h"
#include "host/recording/facts.h"

static uint32_t rows_shown(uint32_t count, const struct report_style *style)
{
	return style->limit ? (uint32_t)MIN(count, style->limit) : count;
}

static void print_rest(uint32_t count, const struct report_style *style)
{
	if (rows_shown(count, style) < count)
		print(stdout, "%10s and %u more (-n 0 shows all)\n", "",
		      count - rows_shown(count, style));
}

/* The requested counters, in the agent's syntax, have a table of their own. */
static void print_traced(const char *words)
{
	struct text rest = text_of(words), word;
	const char *lead = "traced: ";
	char room[NAME_MAX_SHOWN], shown[NAME_MAX_SHOWN];

	while (text_take_field(&rest, ';', &word)) {
		if (word.at == word.end || text_take_prefix(&word, "counter-"))
			continue;
		print_into(room, sizeof(room), "%.*s", (int)(word.end - word.at), word.at);
		print(stdout, "%s%s", lead, printable(room, shown));
		lead = ", ";
	}
	if (lead[0] == ',')
		fputc('\n', stdout);
}

static void print_processes(const struct model *model, const struct report_style *style)
{
	char name[NAME_MAX_SHOWN], command[NAME_MAX_SHOWN];
	uint32_t named = 0, nameless = 0;

	for (uint32_t i = 0; i < model->process_count; i++) {
		const struct model_process *process = model->processes[i];

		if (!process->name[0])
			nameless += !i || model->processes[i - 1]->pid != process->pid;
		else if (named++ < rows_shown(UINT32_MAX, style))
			print(stdout, "process %d (%s): %s\n", process->pid,
			      printable(process->name, name), printable(process->command, command));
	}
	print_rest(named, style);
	if (nameless)
		print(stdout, "%10s and %u more that ended before their names were read\n", "",
		      nameless);
}

static void print_head(const struct recording_report *report, const struct report_style *style)
{
	const struct model *model = report->model;
	char name[NAME_MAX_SHOWN], command[NAME_MAX_SHOWN];

	if (!samples_are_system_wide(model->samples)) /* else they have a table */
		print_processes(model, style);
	else
		print(stdout, "system-wide: %u processes\n", model->process_count);
	if (model->calls || !model->samples->count)
		print(stdout, "%" PRIu64 " call%s of %u thread%s", model->calls,
		      plural(model->calls), report->summary.thread_count,
		      plural(report->summary.thread_count));
	else
		print(stdout, "recorded");
	if (model->calls)
		print(stdout, " in %.3f %s,",
		      time_in_unit(report->summary.last_ns - report->summary.first_ns, style),
		      style->unit);
	print(stdout, " on %s, Linux %s\n", printable(model->host, name),
	      printable(model->kernel, command));
	print_traced(model->options);
}

static void print_cut_syscalls(const struct model *model)
{
	uint64_t before = 0, under_way = 0;

	for (uint32_t i = 0; i < model->process_count; i++) {
		before += model->processes[i]->syscalls_before;
		under_way += model->processes[i]->syscalls_under_way;
	}
	if (before || under_way)
		print(stdout,
		      "NOT COUNTED: system calls that began before the recording: %" PRIu64
		      ", that had not returned at its end: %" PRIu64 "\n",
		      before, under_way);
}

static void print_losses(const struct model *model)
{
	char text[256];
	uint64_t all = drops_sum(model->drops);

	model_describe_end(model, text, sizeof(text));
	if (text[0])
		print(stdout, "INCOMPLETE: %s\n", text);
	if (model->other_records)
		print(stdout,
		      "NOT SHOWN: %" PRIu64
		      " record%s of kinds that this limpet does not know; a newer one made the file\n",
		      model->other_records, plural(model->other_records));
	print_cut_syscalls(model);
	if (!all && !model->end.invalid)
		return;
	print(stdout, "LOST: %" PRIu64 " record%s %s dropped", all, plural(all), was_were(all));
	for (unsigned reason = 0; reason < DROP_REASONS; reason++)
		if (model->drops[reason])
			print(stdout, ", %" PRIu64 " %s", model->drops[reason],
			      drop_reason_text(reason));
	if (model->end.invalid)
		print(stdout, ", %" PRIu64 " were invalid", model->end.invalid);
	print(stdout, "\n");
}

static void print_statistics(const struct statistics *statistics, const struct report_style *style)
{
	print(stdout, "%10" PRIu64 " %14.3f %12.3f %12.3f %12.3f %12.3f", statistics->calls,
	      in_unit((double)statistics->total_ns, style), in_unit(statistics->mean_ns, style),
	      in_unit((double)statistics->least_ns, style),
	      in_unit((double)statistics->most_ns, style),
	      in_unit(statistics_deviation_ns(statistics), style));
}

static void print_share(uint64_t part, uint64_t whole)
{
	print(stdout, " %6.2f", (double)share_of(part, whole) / 100);
}

static void print_statistics_head(const char *title, const struct report_style *style)
{
	char total[32];

	snprintf(total, sizeof(total), "TOTAL %s", style->unit);
	print(stdout, "\n%s\n%10s %14s %12s %12s %12s %12s", title, "CALLS", total, "AVERAGE",
	      "MIN", "MAX", "STDDEV");
}

/* Other domains have none.  System calls have errors in this column: bytes are in the table of
 * files. */
static int bytes_width(unsigned domain)
{
	return domain == DOMAIN_ALLOC || domain == DOMAIN_IO ? 16
	       : domain == DOMAIN_SYSCALL                    ? 10
							     : 0;
}

static const char *bytes_head(unsigned domain)
{
	if (domain == DOMAIN_SYSCALL)
		return "ERRORS";
	return bytes_width(domain) ? "BYTES" : "";
}

static void print_function(const struct recording_report *report, const struct function_row *row,
			   const struct report_style *style)
{
	uint64_t whole = report->summary.domains[row->function->domain].total_ns;
	char name[NAME_MAX_SHOWN], library[NAME_MAX_SHOWN], bytes[24] = "";

	print_statistics(&row->statistics, style);
	print_share(row->statistics.total_ns, whole);
	if (row->has_bytes)
		snprintf(bytes, sizeof(bytes), "%" PRIu64, row->bytes);
	if (row->function->domain == DOMAIN_SYSCALL)
		snprintf(bytes, sizeof(bytes), "%" PRIu64,
			 syscalls_errors_of(&report->syscalls, row->function->name));
	print(stdout, " %*s  %s%s%s%s\n", bytes_width(row->function->domain), bytes,
	      printable(row->function->name, name), row->function->library[0] ? " (" : "",
	      printable(row->function->library, library), row->function->library[0] ? ")" : "");
}

/* One table for each domain; rows are sorted by domain. */
static void print_functions(const struct recording_report *report, const struct report_style *style)
{
	const struct function_row *rows = report->summary.functions;
	uint32_t count = report->summary.function_count, first = 0;

	while (first < count) {
		unsigned domain = rows[first].function->domain;
		uint32_t end = first, shown;
		char title[96];

		while (end < count && rows[end].function->domain == domain)
			end++;
		shown = rows_shown(end - first, style);
		snprintf(title, sizeof(title), "%s%s", domain_title(domain),
			 domain == DOMAIN_ALLOC && report->model->alloc_sample
				 ? " (samples, and what became of them)"
				 : "");
		print_statistics_head(title, style);
		print(stdout, " %6s %*s  %s\n", "%", bytes_width(domain), bytes_head(domain),
		      "FUNCTION");
		for (uint32_t i = first; i < first + shown; i++)
			print_function(report, &rows[i], style);
		print_rest(end - first, style);
		first = end;
	}
}

static void print_files(const struct recording_report *report, const struct report_style *style)
{
	const struct descriptors *descriptors = &report->descriptors;
	char name[NAME_MAX_SHOWN];

	if (!descriptors->count)
		return;
	print_statistics_head("files", style);
	print(stdout, " %6s %14s %14s %6s  %s\n", "%", "BYTES READ", "BYTES WRITTEN", "FD", "NAME");
	for (uint32_t i = 0; i < rows_shown(descriptors->count, style); i++) {
		const struct descriptor_row *row = &descriptors->rows[i];

		print_statistics(&row->statistics, style);
		print_share(row->statistics.total_ns, report->summary.domains[DOMAIN_IO].total_ns);
		print(stdout, " %14" PRIu64 " %14" PRIu64 " %6d  %s\n", row->read_bytes,
		      row->written_bytes, row->descriptor,
		      row->name[0] ? printable(row->name, name) : "?");
	}
	print_rest(descriptors->count, style);
}

static void print_locks(const struct recording_report *report, const struct report_style *style)
{
	const struct locks *locks = &report->locks;
	char where[NAME_MAX_SHOWN], shown[NAME_MAX_SHOWN], name[NAME_MAX_SHOWN];

	if (!locks->count)
		return;
	print_statistics_head("locks: time waited", style);
	print(stdout, " %6s %8s  %s\n", "%", "HELD BY", "LOCK");
	for (uint32_t i = 0; i < rows_shown(locks->count, style); i++) {
		const struct lock_row *row = &locks->rows[i];
		char owner[16] = "?";

		if (row->owner)
			snprintf(owner, sizeof(owner), "%d", row->owner);
		frame_text(row->process, row->object, where, sizeof(where));
		print_statistics(&row->statistics, style);
		print_share(row->statistics.total_ns,
			    report->summary.domains[DOMAIN_LOCK].total_ns);
		print(stdout, " %8s  %s (%s)\n", owner, printable(where, shown),
		      printable(row->function->name, name));
	}
	print_rest(locks->count, style);
}

static void print_syscall_errors(const struct recording_report *report,
				 const struct report_style *style)
{
	const struct syscalls *syscalls = &report->syscalls;
	char name[NAME_MAX_SHOWN], buffer[32];

	if (!syscalls->error_count)
		return;
	print(stdout, "\nsystem call errors\n%10s  %-24s %s\n", "CALLS", "ERROR", "FUNCTION");
	for (uint32_t i = 0; i < rows_shown(syscalls->error_count, style); i++) {
		const struct syscall_error_row *row = &syscalls->errors[i];

		print(stdout, "%10" PRIu64 "  %-24s %s\n", row->calls,
		      syscall_error_name(row->error, buffer), printable(row->function->name, name));
	}
	print_rest(syscalls->error_count, style);
}

static void print_syscall_files(const struct recording_report *report,
				const struct report_style *style)
{
	const struct syscalls *syscalls = &report->syscalls;
	char name[NAME_MAX_SHOWN];

	if (!syscalls->file_count)
		return;
	print_statistics_head("files of system calls", style);
	print(stdout, " %6s %10s %14s %14s  %s\n", "%", "ERRORS", "READ", "WRITTEN", "NAME");
	for (uint32_t i = 0; i < rows_shown(syscalls->file_count, style); i++) {
		const struct syscall_file_row *row = &syscalls->files[i];

		print_statistics(&row->statistics, style);
		print_share(row->statistics.total_ns, syscalls->files_ns);
		print(stdout, " %10" PRIu64 " %14" PRIu64 " %14" PRIu64 "  %s\n", row->errors,
		      row->read_bytes, row->written_bytes,
		      row->name[0] ? printable(row->name, name) : "?");
	}
	print_rest(syscalls->file_count, style);
}

static void print_thread_errors(const struct recording_report *report, uint32_t thread)
{
	if (report->syscalls.has_calls)
		print(stdout, " %10" PRIu64, report->syscalls.thread_errors[thread]);
}

static void print_threads(const struct recording_report *report, const struct report_style *style)
{
	const struct summary *summary = &report->summary;
	char name[NAME_MAX_SHOWN];
	uint64_t whole = summary_total_ns(summary);

	if (!summary->thread_count)
		return;
	print_statistics_head("threads", style);
	print(stdout, " %6s", "%");
	if (report->syscalls.has_calls)
		print(stdout, " %10s", "ERRORS");
	print(stdout, " %10s %8s  %s\n", "DROPPED", "TID", "NAME");
	for (uint32_t i = 0; i < rows_shown(summary->thread_count, style); i++) {
		const struct thread_row *row = &summary->threads[i];

		print_statistics(&row->statistics, style);
		print_share(row->statistics.total_ns, whole);
		print_thread_errors(report, row->thread->number);
		print(stdout, " %10" PRIu64 " %8d  %s\n", drops_sum(row->thread->drops),
		      row->thread->tid, printable(row->thread->name, name));
	}
	print_rest(summary->thread_count, style);
}

static void print_work_row(const struct recording_report *report, const struct work_row *row,
			   const struct report_style *style)
{
	char name[NAME_MAX_SHOWN], device[32];

	print_statistics(&row->statistics, style);
	print_share(row->statistics.total_ns, report->work.domains[row->domain].total_ns);
	if (row->domain != DOMAIN_KERNEL)
		print(stdout, " %14" PRIu64, row->bytes);
	if (row->domain == DOMAIN_COPY)
		print(stdout, " %8.3f",
		      (double)row->bytes / (double)MAX(row->statistics.total_ns, 1u));
	print(stdout, " %6s  %s\n",
	      report_device_name(report, row->process, row->owner, device, sizeof(device)),
	      printable(row->name, name));
}

/* One table for each domain; rows are sorted by domain. */
static void print_work(const struct recording_report *report, const struct report_style *style)
{
	const struct work *work = &report->work;
	uint32_t first = 0;

	while (first < work->count) {
		unsigned domain = work->rows[first].domain;
		uint32_t end = first;

		while (end < work->count && work->rows[end].domain == domain)
			end++;
		print_statistics_head(domain_title(domain), style);
		print(stdout, " %6s", "%");
		if (domain != DOMAIN_KERNEL)
			print(stdout, " %14s", "BYTES");
		if (domain == DOMAIN_COPY)
			print(stdout, " %8s", "GB/s");
		print(stdout, " %6s  NAME\n", "DEVICE");
		for (uint32_t i = first; i < first + rows_shown(end - first, style); i++)
			print_work_row(report, &work->rows[i], style);
		print_rest(end - first, style);
		first = end;
	}
}

static void print_ranges(const struct markers *markers, uint32_t count,
			 const struct report_style *style)
{
	char name[NAME_MAX_SHOWN];

	if (!count)
		return;
	print_statistics_head("ranges", style);
	print(stdout, " %6s %10s  %s\n", "%", "UNFINISHED", "NAME");
	for (uint32_t i = 0; i < rows_shown(count, style); i++) {
		const struct marker_row *row = &markers->rows[i];

		print_statistics(&row->statistics, style);
		print_share(row->statistics.total_ns, markers->total_ns);
		print(stdout, " %10" PRIu64 "  %s%s\n", row->unfinished, printable(row->name, name),
		      row->is_process_wide ? " (process-wide)" : "");
	}
	print_rest(count, style);
	if (markers->unfinished)
		print(stdout,
		      "%10" PRIu64 " began or ended outside of what was recorded: the time within "
		      "it counts\n",
		      markers->unfinished);
}

static void print_marks(const struct marker_row *rows, uint32_t count,
			const struct report_style *style)
{
	char name[NAME_MAX_SHOWN];

	if (!count)
		return;
	print(stdout, "\nmarks\n%10s  NAME\n", "COUNT");
	for (uint32_t i = 0; i < rows_shown(count, style); i++)
		print(stdout, "%10" PRIu64 "  %s\n", rows[i].statistics.calls,
		      printable(rows[i].name, name));
	print_rest(count, style);
}

/* Ranges are sorted before marks. */
static void print_markers(const struct recording_report *report, const struct report_style *style)
{
	const struct markers *markers = &report->markers;
	uint32_t ranges = 0;

	while (ranges < markers->count && markers->rows[ranges].kind == CALL_RANGE)
		ranges++;
	print_ranges(markers, ranges, style);
	print_marks(markers->rows + ranges, markers->count - ranges, style);
}

void report_print(const struct recording_report *report, const struct report_style *style)
{
	print_head(report, style);
	print_losses(report->model);
	print_functions(report, style);
	report_api_errors_print(report, style);
	print_work(report, style);
	report_devices_print(report, style);
	report_launches_print(report, style);
	report_device_samples_print(report, style);
	print_markers(report, style);
	report_allocations_print(report, style);
	print_files(report, style);
	print_locks(report, style);
	report_sites_print(report, style);
	print_syscall_errors(report, style);
	print_syscall_files(report, style);
	report_counters_print(report, style);
	print_threads(report, style);
}
