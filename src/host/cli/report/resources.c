/*
 * `limpet report` about what traced calls deal with: memory, files, locks, and the stacks that they
 * were made from.
 */
#include "host/cli/report/report.h"

#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/samples/stack_text.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_SHOWN 8u
#define FRAME_MAX    120u

/* "malloc < work (work.c:12) < main", and why that is not all. */
static void print_stack(const struct samples *samples, const struct trace_function *function,
			uint32_t stack, enum stack_end end)
{
	struct stack_cursor cursor = { .stack = stack };
	const struct sample_location *location;
	char text[FRAME_MAX];
	unsigned shown = 0;

	print(stdout, "  %" PRINAME, function->name);
	while ((location = stack_next(samples, &cursor)) && shown++ < FRAMES_SHOWN) {
		location_print(samples, location, text, sizeof(text));
		print(stdout, " < %s", text);
	}
	if (location)
		print(stdout, " < ...");
	else if (stack != STACK_NONE && end != STACK_COMPLETE)
		print(stdout, " < %s", stack_mark(end, text));
	print(stdout, "\n");
}

static void write_stack(struct json *json, const struct samples *samples, uint32_t stack,
			enum stack_end end)
{
	struct stack_cursor cursor = { .stack = stack };
	const struct sample_location *location;
	char text[600];

	json_list(json, "stack");
	while ((location = stack_next(samples, &cursor))) {
		location_print(samples, location, text, sizeof(text));
		json_text(json, NULL, text);
	}
	json_list_end(json);
	if (stack != STACK_NONE)
		json_text(json, "stack_end", stack_end_key(end));
}

/* Calls of a table without a caller, if others have one: under load a thread writes its calls
 * without them. */
static void print_callerless(double without, double all)
{
	if (without > 0 && without < all)
		print(stdout,
		      "INCOMPLETE: %.0f calls (%.2f %%) have no caller: limpet could not read as many\n"
		      "  fix: --ring-size gives more room\n",
		      without, share_shown(100 * without / all));
}

static int by_bytes(const void *left, const void *right)
{
	const struct allocation_site *a = left, *b = right;

	return a->bytes > b->bytes ? -1 : a->bytes < b->bytes;
}

static int by_calls(const void *left, const void *right)
{
	const struct allocation_site *a = left, *b = right;

	return a->calls > b->calls ? -1 : a->calls < b->calls;
}

/* Sites are in the first order already. */
static const struct {
	const char *title;
	int (*compare)(const void *left, const void *right);
} orders[] = {
	{ "memory: allocated, and not freed by the end", NULL },
	{ "memory: most bytes allocated", by_bytes },
	{ "memory: most allocations", by_calls },
};

/* Sums of estimates return to zero only approximately. */
static double sum_positive(double value)
{
	return value > 0 ? value : 0;
}

static void print_allocation_table(const struct recording_report *report,
				   const struct allocation_site *sites, const char *title)
{
	const struct allocations *allocations = &report->allocations;
	uint32_t count = allocations->site_count;
	double all_bytes = 0;
	uint64_t records = 0;

	for (uint32_t i = 0; i < count; i++) {
		all_bytes += allocations->sites[i].bytes;
		records += allocations->sites[i].records;
	}
	print(stdout, "\n%s\n", title);
	if (allocations->sample)
		print(stdout,
		      "ESTIMATED from %lu sample%s, one in %lu bytes on average; the error of a row "
		      "is about 1/sqrt(SAMPLES)\n",
		      records, plural(records), allocations->sample);
	print(stdout, "%10s %16s %6s %12s %16s", "CALLS", "BYTES", "%", "LIVE BLOCKS",
	      "LIVE BYTES");
	print(stdout, allocations->sample ? " %8s  WHERE\n" : "  WHERE\n", "SAMPLES");
	for (uint32_t i = 0; i < rows_shown(report, count); i++) {
		print(stdout, "%10.0f %16.0f %6.2f %12.0f %16.0f", sites[i].calls, sites[i].bytes,
		      all_bytes > 0 ? share_shown(100 * sites[i].bytes / all_bytes) : 0,
		      sum_positive(sites[i].live_blocks), sum_positive(sites[i].live_bytes));
		if (allocations->sample)
			print(stdout, " %8lu", sites[i].records);
		print_stack(report->model->samples, sites[i].function, sites[i].stack,
			    sites[i].stack_end);
	}
	print_rest(report, 10, count);
}

static void print_allocations(const struct recording_report *report)
{
	const struct allocations *allocations = &report->allocations;
	uint32_t count = allocations->site_count;
	size_t order_count =
		count > 1 ? ARRAY_SIZE(orders) : 1; /* one is the first in every order */
	struct allocation_site *sites = count ? calloc(count, sizeof(*sites)) : NULL;
	double all = 0, without = 0;

	if (!sites)
		return;
	memcpy(sites, allocations->sites, count * sizeof(*sites));
	for (size_t i = 0; i < order_count; i++) {
		if (orders[i].compare)
			qsort(sites, count, sizeof(*sites), orders[i].compare);
		print_allocation_table(report, sites, orders[i].title);
	}
	for (uint32_t i = 0; i < count; i++) {
		all += sites[i].calls;
		without += sites[i].stack == STACK_NONE ? sites[i].calls : 0;
	}
	free(sites);
	print_callerless(without, all);
	if (allocations->strangers)
		print(stdout,
		      "%10lu block%s %s freed that had been allocated before the recording\n",
		      allocations->strangers, plural(allocations->strangers),
		      was_were(allocations->strangers));
}

static uint64_t whole_number(double value)
{
	return (uint64_t)(sum_positive(value) + 0.5);
}

static void write_allocation(const struct recording_report *report,
			     const struct allocation_site *site)
{
	struct json json = json_event(stdout, "allocation");

	json_signed(&json, "pid", site->process->pid);
	json_text(&json, "function", site->function->name);
	write_stack(&json, report->model->samples, site->stack, site->stack_end);
	json_bool(&json, "estimated", report->allocations.sample != 0);
	json_number(&json, "records", site->records);
	json_number(&json, "calls", whole_number(site->calls));
	json_number(&json, "bytes", whole_number(site->bytes));
	json_number(&json, "out_blocks", whole_number(site->live_blocks));
	json_number(&json, "out_bytes", whole_number(site->live_bytes));
	json_object_end(&json);
}

static void print_files(const struct recording_report *report)
{
	const struct descriptors *descriptors = &report->descriptors;

	if (!descriptors->count)
		return;
	print_statistics_head(report, "files");
	print(stdout, " %14s %14s %6s  %s\n", "BYTES READ", "BYTES WRITTEN", "FD", "NAME");
	for (uint32_t i = 0; i < rows_shown(report, descriptors->count); i++) {
		const struct descriptor_row *row = &descriptors->rows[i];

		print_statistics(report, &row->statistics,
				 report->summary.domains[DOMAIN_IO].total_ns);
		print(stdout, " %14lu %14lu %6d  %" PRINAME "\n", row->read_bytes,
		      row->written_bytes, row->descriptor, row->name[0] ? row->name : "?");
	}
	print_rest(report, 10, descriptors->count);
}

static void write_file(const struct recording_report *report, const struct descriptor_row *row)
{
	struct json json = json_event(stdout, "file");

	json_signed(&json, "pid", row->process->pid);
	json_signed(&json, "descriptor", row->descriptor);
	json_text(&json, "name", row->name);
	json_number(&json, "read_bytes", row->read_bytes);
	json_number(&json, "written_bytes", row->written_bytes);
	write_statistics(&json, &row->statistics, report->summary.domains[DOMAIN_IO].total_ns);
	json_object_end(&json);
}

static void print_locks(const struct recording_report *report)
{
	const struct locks *locks = &report->locks;
	char where[160];

	if (!locks->count)
		return;
	print_statistics_head(report, "locks: time waited");
	print(stdout, " %8s  %s\n", "HELD BY", "LOCK");
	for (uint32_t i = 0; i < rows_shown(report, locks->count); i++) {
		const struct lock_row *row = &locks->rows[i];
		char owner[16] = "?";

		if (row->owner)
			snprintf(owner, sizeof(owner), "%d", row->owner);
		frame_text(row->process, row->object, where, sizeof(where));
		print_statistics(report, &row->statistics,
				 report->summary.domains[DOMAIN_LOCK].total_ns);
		print(stdout, " %8s  %s (%" PRINAME ")\n", owner, where, row->function->name);
	}
	print_rest(report, 10, locks->count);
}

static void write_lock(const struct recording_report *report, const struct lock_row *row)
{
	struct json json = json_event(stdout, "lock");
	char object[32], where[256];

	snprintf(object, sizeof(object), "0x%lx", row->object);
	frame_text(row->process, row->object, where, sizeof(where));
	json_signed(&json, "pid", row->process->pid);
	json_text(&json, "object", object);
	json_text(&json, "where", where);
	json_signed(&json, "owner", row->owner);
	json_text(&json, "function", row->function->name);
	write_statistics(&json, &row->statistics, report->summary.domains[DOMAIN_LOCK].total_ns);
	json_object_end(&json);
}

/* Of one domain.  Older recordings have calls without stacks. */
static void print_domain_sites(const struct recording_report *report, const struct call_site *sites,
			       uint32_t count)
{
	unsigned domain = sites->function->domain;
	double all = 0, without = 0;
	bool has_stacks = false;

	for (uint32_t i = 0; i < count; i++) {
		has_stacks |= sites[i].stack != STACK_NONE;
		all += (double)sites[i].statistics.calls;
		without += sites[i].stack == STACK_NONE ? (double)sites[i].statistics.calls : 0;
	}
	if (!has_stacks)
		return;
	print(stdout, "\n%s\n%10s %*s%s %6s  WHERE\n",
	      domain == DOMAIN_LOCK ? "locks: where threads waited" : "io: where it took time",
	      "CALLS", 14 - (int)strlen(report->unit), "TOTAL ", report->unit, "%");
	for (uint32_t i = 0; i < rows_shown(report, count); i++) {
		uint64_t time_ns = sites[i].statistics.total_ns;

		print(stdout, "%10lu %14.3f %6.2f", sites[i].statistics.calls,
		      time_in_unit(report, time_ns),
		      share_percent(time_ns, report->summary.domains[domain].total_ns));
		print_stack(report->model->samples, sites[i].function, sites[i].stack,
			    sites[i].stack_end);
	}
	print_rest(report, 10, count);
	print_callerless(without, all);
}

static void print_sites(const struct recording_report *report)
{
	const struct call_site *sites = report->sites.rows;
	uint32_t count = report->sites.count, end;

	for (uint32_t first = 0; first < count; first = end) {
		end = first;
		while (end < count && sites[end].function->domain == sites[first].function->domain)
			end++;
		print_domain_sites(report, sites + first, end - first);
	}
}

static void write_site(const struct recording_report *report, const struct call_site *site)
{
	unsigned domain = site->function->domain;
	struct json json = json_event(stdout, "call_site");

	json_signed(&json, "pid", site->process->pid);
	json_text(&json, "domain", domain_name(domain));
	json_text(&json, "function", site->function->name);
	write_stack(&json, report->model->samples, site->stack, site->stack_end);
	write_statistics(&json, &site->statistics, report->summary.domains[domain].total_ns);
	json_object_end(&json);
}

static void print_syscalls(const struct recording_report *report)
{
	const struct syscalls *syscalls = &report->syscalls;
	char buffer[32];

	if (syscalls->error_count)
		print(stdout, "\nsystem call errors\n%10s  %-24s %s\n", "CALLS", "ERROR",
		      "FUNCTION");
	for (uint32_t i = 0; i < rows_shown(report, syscalls->error_count); i++)
		print(stdout, "%10lu  %-24s %" PRINAME "\n", syscalls->errors[i].calls,
		      syscall_error_name(syscalls->errors[i].error, buffer),
		      syscalls->errors[i].function->name);
	print_rest(report, 10, syscalls->error_count);
	if (!syscalls->file_count)
		return;
	print_statistics_head(report, "files of system calls");
	print(stdout, " %10s %14s %14s  %s\n", "ERRORS", "READ", "WRITTEN", "NAME");
	for (uint32_t i = 0; i < rows_shown(report, syscalls->file_count); i++) {
		const struct syscall_file_row *row = &syscalls->files[i];

		print_statistics(report, &row->statistics, syscalls->files_ns);
		print(stdout, " %10lu %14lu %14lu  %" PRINAME "\n", row->errors, row->read_bytes,
		      row->written_bytes, row->name[0] ? row->name : "?");
	}
	print_rest(report, 10, syscalls->file_count);
}

static void write_syscall_error(const struct syscall_error_row *row)
{
	struct json json = json_event(stdout, "syscall_error");
	char buffer[32];

	json_text(&json, "name", row->function->name);
	json_text(&json, "error", syscall_error_name(row->error, buffer));
	json_signed(&json, "errno", row->error);
	json_number(&json, "calls", row->calls);
	json_object_end(&json);
}

static void write_syscall_file(const struct recording_report *report,
			       const struct syscall_file_row *row)
{
	struct json json = json_event(stdout, "syscall_file");

	json_text(&json, "name", row->name);
	json_number(&json, "errors", row->errors);
	json_number(&json, "read_bytes", row->read_bytes);
	json_number(&json, "written_bytes", row->written_bytes);
	write_statistics(&json, &row->statistics, report->syscalls.files_ns);
	json_object_end(&json);
}

void print_resources(const struct recording_report *report)
{
	print_allocations(report);
	print_files(report);
	print_locks(report);
	print_sites(report);
	print_syscalls(report);
}

void write_resources(const struct recording_report *report)
{
	for (uint32_t i = 0; i < report->allocations.site_count; i++)
		write_allocation(report, &report->allocations.sites[i]);
	for (uint32_t i = 0; i < report->descriptors.count; i++)
		write_file(report, &report->descriptors.rows[i]);
	for (uint32_t i = 0; i < report->locks.count; i++)
		write_lock(report, &report->locks.rows[i]);
	for (uint32_t i = 0; i < report->sites.count; i++)
		write_site(report, &report->sites.rows[i]);
	for (uint32_t i = 0; i < report->syscalls.error_count; i++)
		write_syscall_error(&report->syscalls.errors[i]);
	for (uint32_t i = 0; i < report->syscalls.file_count; i++)
		write_syscall_file(report, &report->syscalls.files[i]);
}
