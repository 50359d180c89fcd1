/*
 * `limpet report` for programs: one object per line, all rows, times in nanoseconds.
 */
#include <inttypes.h>

#include "host/cli/report/recording_report.h"
#include "host/core/text/json.h"
#include "host/model/samples/stack_text.h"

static void print_statistics(struct json *json, const struct statistics *statistics)
{
	json_number(json, "calls", statistics->calls);
	json_number(json, "total_ns", statistics->total_ns);
	json_fixed(json, "average_ns", (uint64_t)(statistics->mean_ns * 1000 + 0.5), 3);
	json_number(json, "min_ns", statistics->least_ns);
	json_number(json, "max_ns", statistics->most_ns);
	json_fixed(json, "stddev_ns", (uint64_t)(statistics_deviation_ns(statistics) * 1000 + 0.5),
		   3);
}

static void print_share(struct json *json, const struct statistics *statistics, uint64_t whole_ns)
{
	json_fixed(json, "percent", share_of(statistics->total_ns, whole_ns), 2);
}

static void print_address(struct json *json, const char *key, uint64_t address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	json_text(json, key, text);
}

static void print_process(struct json *json, const struct model_process *process)
{
	json_object(json, NULL);
	json_text(json, "event", "process");
	json_signed(json, "pid", process->pid);
	json_text(json, "name", process->name);
	json_text(json, "executable", process->executable);
	json_text(json, "command", process->command);
	json_number(json, "modules", process->module_count);
	json_object_end(json);
}

static void print_function(struct json *json, const struct recording_report *report,
			   const struct function_row *row)
{
	uint64_t whole = report->summary.domains[row->function->domain].total_ns;

	json_object(json, NULL);
	json_text(json, "event", "function");
	json_text(json, "domain", domain_name(row->function->domain));
	json_text(json, "name", row->function->name);
	json_text(json, "library", row->function->library);
	print_statistics(json, &row->statistics);
	print_share(json, &row->statistics, whole);
	if (row->has_bytes)
		json_number(json, "bytes", row->bytes);
	if (row->function->domain == DOMAIN_SYSCALL)
		json_number(json, "errors",
			    syscalls_errors_of(&report->syscalls, row->function->name));
	json_bool(json, "sampled",
		  row->function->domain == DOMAIN_ALLOC && report->model->alloc_sample);
	json_object_end(json);
}

/* Domains whose event is not their key. */
static const char *const work_events[DOMAINS] = {
	[DOMAIN_COPY] = "copy",
	[DOMAIN_MEMORY] = "device_memory",
	[DOMAIN_SCRATCH] = "scratch_memory",
};

static void print_work(struct json *json, const struct recording_report *report,
		       const struct work_row *row)
{
	json_object(json, NULL);
	json_text(json, "event",
		  work_events[row->domain] ? work_events[row->domain] : domain_name(row->domain));
	json_signed(json, "pid", row->process->pid);
	json_number(json, "device", row->device);
	if (row->owner != row->device)
		json_number(json, "from_device", row->owner);
	json_text(json, "name", row->name);
	if (row->domain != DOMAIN_KERNEL)
		json_number(json, "bytes", row->bytes);
	print_statistics(json, &row->statistics);
	print_share(json, &row->statistics, report->work.domains[row->domain].total_ns);
	json_object_end(json);
}

static void print_marker(struct json *json, const struct recording_report *report,
			 const struct marker_row *row)
{
	json_object(json, NULL);
	json_text(json, "event", call_kind_name(row->kind));
	json_text(json, "name", row->name);
	json_text(json, "library", row->library);
	if (row->kind == CALL_MARK) {
		json_number(json, "calls", row->statistics.calls);
		json_object_end(json);
		return;
	}
	json_text(json, "scope", row->is_process_wide ? "process" : "thread");
	print_statistics(json, &row->statistics);
	print_share(json, &row->statistics, report->markers.total_ns);
	json_number(json, "unfinished", row->unfinished);
	json_object_end(json);
}

/* Sums of estimates return to zero only approximately. */
static uint64_t whole_number(double value)
{
	return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

static void print_stack(struct json *json, const struct recording_report *report, uint32_t stack,
			enum stack_end end)
{
	struct stack_cursor cursor = { .stack = stack };
	const struct samples *samples = report->model->samples;
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

static void print_call_site(struct json *json, const struct recording_report *report,
			    const struct call_site *site)
{
	unsigned domain = site->function->domain;

	json_object(json, NULL);
	json_text(json, "event", "call_site");
	json_signed(json, "pid", site->process->pid);
	json_text(json, "domain", domain_name(domain));
	json_text(json, "function", site->function->name);
	print_stack(json, report, site->stack, site->stack_end);
	print_statistics(json, &site->statistics);
	print_share(json, &site->statistics, report->summary.domains[domain].total_ns);
	json_object_end(json);
}

static void print_site(struct json *json, const struct recording_report *report,
		       const struct allocation_site *site)
{
	json_object(json, NULL);
	json_text(json, "event", "allocation");
	json_signed(json, "pid", site->process->pid);
	json_text(json, "function", site->function->name);
	print_stack(json, report, site->stack, site->stack_end);
	json_bool(json, "estimated", report->allocations.sample != 0);
	json_number(json, "records", site->records);
	json_number(json, "calls", whole_number(site->calls));
	json_number(json, "bytes", whole_number(site->bytes));
	json_number(json, "out_blocks", whole_number(site->live_blocks));
	json_number(json, "out_bytes", whole_number(site->live_bytes));
	json_object_end(json);
}

static void print_file(struct json *json, const struct recording_report *report,
		       const struct descriptor_row *row)
{
	json_object(json, NULL);
	json_text(json, "event", "file");
	json_signed(json, "pid", row->process->pid);
	json_signed(json, "descriptor", row->descriptor);
	json_text(json, "name", row->name);
	json_number(json, "read_bytes", row->read_bytes);
	json_number(json, "written_bytes", row->written_bytes);
	print_statistics(json, &row->statistics);
	print_share(json, &row->statistics, report->summary.domains[DOMAIN_IO].total_ns);
	json_object_end(json);
}

static void print_lock(struct json *json, const struct recording_report *report,
		       const struct lock_row *row)
{
	char where[256];

	frame_text(row->process, row->object, where, sizeof(where));
	json_object(json, NULL);
	json_text(json, "event", "lock");
	json_signed(json, "pid", row->process->pid);
	print_address(json, "object", row->object);
	json_text(json, "where", where);
	json_signed(json, "owner", row->owner);
	json_text(json, "function", row->function->name);
	print_statistics(json, &row->statistics);
	print_share(json, &row->statistics, report->summary.domains[DOMAIN_LOCK].total_ns);
	json_object_end(json);
}

static void print_syscall_error(struct json *json, const struct syscall_error_row *row)
{
	char buffer[32];

	json_object(json, NULL);
	json_text(json, "event", "syscall_error");
	json_text(json, "name", row->function->name);
	json_text(json, "error", syscall_error_name(row->error, buffer));
	json_signed(json, "errno", row->error);
	json_number(json, "calls", row->calls);
	json_object_end(json);
}

static void print_syscall_file(struct json *json, const struct recording_report *report,
			       const struct syscall_file_row *row)
{
	json_object(json, NULL);
	json_text(json, "event", "syscall_file");
	json_text(json, "name", row->name);
	json_number(json, "errors", row->errors);
	json_number(json, "read_bytes", row->read_bytes);
	json_number(json, "written_bytes", row->written_bytes);
	print_statistics(json, &row->statistics);
	print_share(json, &row->statistics, report->syscalls.files_ns);
	json_object_end(json);
}

static void print_drops(struct json *json, const uint64_t drops[DROP_REASONS])
{
	json_object(json, "dropped");
	for (unsigned reason = 0; reason < DROP_REASONS; reason++)
		json_number(json, drop_reason_name(reason), drops[reason]);
	json_object_end(json);
}

static void print_thread(struct json *json, const struct recording_report *report,
			 const struct thread_row *row)
{
	json_object(json, NULL);
	json_text(json, "event", "thread");
	json_signed(json, "pid", row->thread->process->pid);
	json_signed(json, "tid", row->thread->tid);
	json_text(json, "name", row->thread->name);
	print_statistics(json, &row->statistics);
	print_share(json, &row->statistics, summary_total_ns(&report->summary));
	if (report->syscalls.has_calls)
		json_number(json, "errors", report->syscalls.thread_errors[row->thread->number]);
	print_drops(json, row->thread->drops);
	json_object_end(json);
}

void report_print_json(const struct recording_report *report)
{
	struct json json = { .out = stdout };

	for (uint32_t i = 0; i < report->model->process_count; i++)
		print_process(&json, report->model->processes[i]);
	for (uint32_t i = 0; i < report->summary.function_count; i++)
		print_function(&json, report, &report->summary.functions[i]);
	for (uint32_t i = 0; i < report->work.count; i++)
		print_work(&json, report, &report->work.rows[i]);
	report_devices_print_json(&json, report);
	report_launches_print_json(&json, report);
	report_device_samples_print_json(&json, report);
	for (uint32_t i = 0; i < report->markers.count; i++)
		print_marker(&json, report, &report->markers.rows[i]);
	for (uint32_t i = 0; i < report->allocations.site_count; i++)
		print_site(&json, report, &report->allocations.sites[i]);
	for (uint32_t i = 0; i < report->descriptors.count; i++)
		print_file(&json, report, &report->descriptors.rows[i]);
	for (uint32_t i = 0; i < report->locks.count; i++)
		print_lock(&json, report, &report->locks.rows[i]);
	for (uint32_t i = 0; i < report->sites.count; i++)
		print_call_site(&json, report, &report->sites.rows[i]);
	for (uint32_t i = 0; i < report->syscalls.error_count; i++)
		print_syscall_error(&json, &report->syscalls.errors[i]);
	for (uint32_t i = 0; i < report->syscalls.file_count; i++)
		print_syscall_file(&json, report, &report->syscalls.files[i]);
	for (uint32_t i = 0; i < report->summary.thread_count; i++)
		print_thread(&json, report, &report->summary.threads[i]);
	report_counters_print_json(&json, report);
}

static void print_cut_syscalls(struct json *json, const struct model *model)
{
	uint64_t before = 0, under_way = 0;

	for (uint32_t i = 0; i < model->process_count; i++) {
		before += model->processes[i]->syscalls_before;
		under_way += model->processes[i]->syscalls_under_way;
	}
	json_number(json, "syscalls_before", before);
	json_number(json, "syscalls_under_way", under_way);
}

void report_totals_json(struct json *json, const struct recording_report *report)
{
	const struct model *model = report->model;
	char text[256];

	model_describe_end(model, text, sizeof(text));
	json_number(json, "calls", model->calls);
	json_number(json, "records", model->records);
	json_number(json, "other_records", model->other_records);
	json_number(json, "ranges", report->markers.ranges);
	json_number(json, "marks", report->markers.marks);
	json_number(json, "unfinished", report->markers.unfinished);
	json_number(json, "alloc_sample", model->alloc_sample);
	print_cut_syscalls(json, model);
	json_number(json, "invalid", model->end.invalid);
	print_drops(json, model->drops);
	json_bool(json, "complete", text[0] == '\0');
	json_text(json, "incomplete", text);
}
