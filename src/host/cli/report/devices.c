/*
 * `limpet report` about devices: their work, how they spent their time, calls of their runtimes
 * that did not succeed, where kernels were launched, and counters over time.
 */
#include "host/cli/report/report.h"

#include "host/core/text/print.h"

#include <string.h>

#define KERNEL_SHOWN 60
#define DEVICE_MAX   32u

/* "GPU 0". */
static const char *device_name(const struct recording_report *report,
			       const struct model_process *process, uint64_t device,
			       char ret[DEVICE_MAX])
{
	const struct agent *agent = agents_find(report->agents, process, device);

	snprintf(ret, DEVICE_MAX, "?");
	if (agent)
		agent_label(agent, AGENT_TYPE_RELATIVE, ret, DEVICE_MAX);
	return ret;
}

static void print_api_errors(const struct recording_report *report)
{
	const struct api_errors *errors = &report->api_errors;
	char buffer[32];

	if (errors->count)
		print(stdout, "\ncalls that did not succeed\n%10s  %-36s %s\n", "CALLS", "RESULT",
		      "FUNCTION");
	for (uint32_t i = 0; i < rows_shown(report, errors->count); i++)
		print(stdout, "%10lu  %-36s %" PRINAME "\n", errors->rows[i].calls,
		      api_error_name(&errors->rows[i], buffer), errors->rows[i].function->name);
	print_rest(report, 10, errors->count);
}

static void print_work_row(const struct recording_report *report, const struct work_row *row)
{
	char device[DEVICE_MAX];

	print_statistics(report, &row->statistics, report->work.domains[row->domain].total_ns);
	if (row->domain != DOMAIN_KERNEL)
		print(stdout, " %14lu", row->bytes);
	if (row->domain == DOMAIN_COPY)
		print(stdout, " %8.3f",
		      (double)row->bytes / (double)MAX(row->statistics.total_ns, 1u));
	print(stdout, " %6s  %" PRINAME "\n", device_name(report, row->process, row->owner, device),
	      row->name);
}

/* One table for each domain; rows are sorted by domain. */
static void print_work(const struct recording_report *report)
{
	const struct work *work = &report->work;
	uint32_t end;

	for (uint32_t first = 0; first < work->count; first = end) {
		unsigned domain = work->rows[first].domain;

		end = first;
		while (end < work->count && work->rows[end].domain == domain)
			end++;
		print_statistics_head(report, domain_title(domain));
		if (domain != DOMAIN_KERNEL)
			print(stdout, " %14s", "BYTES");
		if (domain == DOMAIN_COPY)
			print(stdout, " %8s", "GB/s");
		print(stdout, " %6s  NAME\n", "DEVICE");
		for (uint32_t i = first; i < first + rows_shown(report, end - first); i++)
			print_work_row(report, &work->rows[i]);
		print_rest(report, 10, end - first);
	}
}

static void write_work(const struct recording_report *report, const struct work_row *row)
{
	/* Domains whose event is not their key. */
	static const char *const events[DOMAINS] = {
		[DOMAIN_COPY] = "copy",
		[DOMAIN_MEMORY] = "device_memory",
		[DOMAIN_SCRATCH] = "scratch_memory",
	};
	const char *event = events[row->domain];
	struct json json = json_event(stdout, event ? event : domain_name(row->domain));

	json_signed(&json, "pid", row->process->pid);
	json_number(&json, "device", row->device);
	if (row->owner != row->device)
		json_number(&json, "from_device", row->owner);
	json_text(&json, "name", row->name);
	if (row->domain != DOMAIN_KERNEL)
		json_number(&json, "bytes", row->bytes);
	write_statistics(&json, &row->statistics, report->work.domains[row->domain].total_ns);
	json_object_end(&json);
}

static void print_device_row(const struct recording_report *report, const struct device_row *row)
{
	char name[160], peak[24] = "";
	const char *queue = names_find(&row->process->names, NAME_QUEUE, row->queue);

	if (!row->is_queue)
		device_name(report, row->process, row->device, name);
	else if (queue[0])
		print_into(name, sizeof(name), "  %s", queue);
	else
		snprintf(name, sizeof(name), "  queue %lu", row->queue);
	if (!row->is_queue && row->peak_bytes)
		snprintf(peak, sizeof(peak), "%lu", row->peak_bytes);
	print(stdout,
	      "%10lu %14.3f %6.2f %8lu %12.3f %12.3f %14.3f %14.3f %10.3f %10.3f %14s  %s\n",
	      row->work, time_in_unit(report, row->busy_ns),
	      share_percent(row->busy_ns, row->last_ns - row->first_ns), row->gaps.calls,
	      in_unit(report, row->gaps.mean_ns), time_in_unit(report, row->gaps.most_ns),
	      time_in_unit(report, row->not_launched_ns), time_in_unit(report, row->launched_ns),
	      in_unit(report, row->delay.mean_ns), time_in_unit(report, row->delay.least_ns), peak,
	      name);
}

static void print_device_time(const struct recording_report *report)
{
	const struct device_time *time = &report->device_time;

	if (time->count)
		print(stdout,
		      "\ndevices: time with work, gaps without any and what they waited for, from launch to "
		      "start\n"
		      "%10s %*s%s %6s %8s %12s %12s %14s %14s %10s %10s %14s  %s\n",
		      "WORK", 14 - (int)strlen(report->unit), "BUSY ", report->unit, "%", "GAPS",
		      "AVERAGE", "LONGEST", "NOT LAUNCHED", "LAUNCHED", "DELAY", "MIN",
		      "PEAK BYTES", "DEVICE");
	for (uint32_t i = 0; i < rows_shown(report, time->count); i++)
		print_device_row(report, &time->rows[i]);
	print_rest(report, 10, time->count);
}

static void write_device_time(const struct device_row *row)
{
	struct json json = json_event(stdout, row->is_queue ? "device_queue" : "device_time");

	json_signed(&json, "pid", row->process->pid);
	json_number(&json, "device", row->device);
	if (row->is_queue)
		json_text(&json, "queue", names_find(&row->process->names, NAME_QUEUE, row->queue));
	json_number(&json, "work", row->work);
	json_number(&json, "length_ns", row->last_ns - row->first_ns);
	json_number(&json, "busy_ns", row->busy_ns);
	json_number(&json, "gaps", row->gaps.calls);
	json_number(&json, "idle_ns", row->gaps.total_ns);
	json_number(&json, "longest_gap_ns", row->gaps.most_ns);
	json_number(&json, "not_launched_ns", row->not_launched_ns);
	json_number(&json, "launched_ns", row->launched_ns);
	json_number(&json, "delays", row->delay.calls);
	json_number(&json, "delay_ns", row->delay.total_ns);
	json_number(&json, "least_delay_ns", row->delay.least_ns);
	json_number(&json, "most_delay_ns", row->delay.most_ns);
	json_number(&json, "peak_bytes", row->peak_bytes);
	json_object_end(&json);
}

/* Kernels by the line of the program that launched them, where calls have their stacks. */
static void print_launches(const struct recording_report *report)
{
	const struct launch_summary *launches = &report->launches;

	if (launches->count)
		print(stdout, "\nkernels: where they were launched\n%10s %9s %-4s  %-*s  %s\n",
		      "KERNELS", "TOTAL", report->unit, KERNEL_SHOWN, "NAME", "LAUNCHED BY");
	for (uint32_t i = 0; i < rows_shown(report, launches->count); i++) {
		const struct launch_row *row = &launches->rows[i];

		print(stdout, "%10lu %14.3f  %-*.*s  %" PRINAME "\n", row->count,
		      time_in_unit(report, row->total_ns), KERNEL_SHOWN, KERNEL_SHOWN, row->kernel,
		      row->place[0] ? row->place : "(no stack)");
	}
	print_rest(report, 10, launches->count);
}

/* From samples: where kernels were launched, and the activity of threads while a device was idle.
 */
static void print_device_samples(const struct recording_report *report)
{
	const struct device_samples *samples = &report->device_samples;
	const struct sampled_row *rows = samples->rows;
	uint32_t launches = 0, idle;
	char place[160], device[DEVICE_MAX];

	while (launches < samples->count && rows[launches].kernel)
		launches++;
	if (launches)
		print(stdout,
		      "\nkernels: where they were launched, of launches that a sample fell into\n"
		      "%10s  %-*s  %s\n",
		      "KERNELS", KERNEL_SHOWN, "NAME", "LAUNCHED BY");
	for (uint32_t i = 0; i < rows_shown(report, launches); i++)
		print(stdout, "%10lu  %-*.*s  %s\n", rows[i].count, KERNEL_SHOWN, KERNEL_SHOWN,
		      rows[i].kernel, sampled_row_place(samples, &rows[i], place, sizeof(place)));
	print_rest(report, 10, launches);
	idle = samples->count - launches;
	if (idle)
		print(stdout,
		      "\ndevices without work: what threads did meanwhile\n%10s %7s  %-16s  %s\n",
		      "SAMPLES", "DEVICE", "THREAD", "FUNCTION");
	for (uint32_t i = launches; i < launches + rows_shown(report, idle); i++)
		print(stdout, "%10lu %7s  %-16" PRINAME "  %s\n", rows[i].count,
		      device_name(report, rows[i].process, rows[i].device, device),
		      rows[i].thread->name,
		      sampled_row_place(samples, &rows[i], place, sizeof(place)));
	print_rest(report, 10, idle);
}

static void write_device_sample(const struct device_samples *samples, const struct sampled_row *row)
{
	struct json json = json_event(stdout, row->kernel ? "kernel_launch" : "device_idle");
	char place[160];

	json_signed(&json, "pid", row->process->pid);
	if (row->kernel) {
		json_text(&json, "kernel", row->kernel);
	} else {
		json_number(&json, "device", row->device);
		json_signed(&json, "tid", row->thread->tid);
	}
	json_number(&json, row->kernel ? "kernels" : "samples", row->count);
	json_text(&json, "place", sampled_row_place(samples, row, place, sizeof(place)));
	json_object_end(&json);
}

void print_devices(const struct recording_report *report)
{
	print_api_errors(report);
	print_work(report);
	print_device_time(report);
	print_launches(report);
	print_device_samples(report);
}

void write_devices(const struct recording_report *report)
{
	char buffer[32];

	for (uint32_t i = 0; i < report->work.count; i++)
		write_work(report, &report->work.rows[i]);
	for (uint32_t i = 0; i < report->device_time.count; i++)
		write_device_time(&report->device_time.rows[i]);
	for (uint32_t i = 0; i < report->api_errors.count; i++) {
		const struct api_error_row *row = &report->api_errors.rows[i];
		struct json json = json_event(stdout, "api_error");

		json_text(&json, "function", row->function->name);
		json_signed(&json, "result", row->result);
		json_text(&json, "name", api_error_name(row, buffer));
		json_number(&json, "calls", row->calls);
		json_object_end(&json);
	}
	for (uint32_t i = 0; i < report->launches.count; i++) {
		const struct launch_row *row = &report->launches.rows[i];
		struct json json = json_event(stdout, "launch_line");

		json_signed(&json, "pid", row->process->pid);
		json_text(&json, "kernel", row->kernel);
		json_number(&json, "kernels", row->count);
		json_number(&json, "total_ns", row->total_ns);
		json_text(&json, "place", row->place);
		json_object_end(&json);
	}
	for (uint32_t i = 0; i < report->device_samples.count; i++)
		write_device_sample(&report->device_samples, &report->device_samples.rows[i]);
}

/* Twelve places: as many digits behind the point as there is room for. */
static void print_number(double value)
{
	double size = value < 0 ? -value : value;

	print(stdout, " %12.*f", size < 1000 ? 3 : size < 1e6 ? 1 : 0, value);
}

static void print_counter(const struct recording_report *report, const struct window_row *row)
{
	char title[160];

	metric_title(report->model, row->metric, title, sizeof(title));
	if (!row->windows) {
		print(stdout, "%16s %12s %12s %12s %-6s %8d  %s\n", "<not counted>", "", "", "", "",
		      0, title);
		return;
	}
	if (row->metric->form == METRIC_LEVEL)
		print(stdout, "%16s", "");
	else if (metric_is_time(row->metric))
		print(stdout, "%11.3f %s", in_unit(report, row->total), report->unit);
	else
		print(stdout, "%16.*f", row->total < 1e15 ? 0 : -1, row->total);
	print_number(row->mean);
	print_number(row->least);
	print_number(row->most);
	print(stdout, " %-6s %8lu  %s%s\n", metric_rate_unit(row->metric), row->windows, title,
	      row->estimated ? " (scaled)" : "");
}

void print_counters(const struct recording_report *report)
{
	const struct window_summary *summary = &report->windows;

	if (summary->count)
		print(stdout, "\ncounters over time\n%16s %12s %12s %12s %-6s %8s  %s\n", "TOTAL",
		      "MEAN", "MIN", "MAX", "UNIT", "WINDOWS", "COUNTER");
	for (size_t i = 0; i < rows_shown(report, summary->count); i++)
		print_counter(report, &summary->rows[i]);
	print_rest(report, 10, summary->count);
}

static void write_counter(const struct window_row *row)
{
	const struct model_metric *metric = row->metric;
	struct json json = json_event(stdout, "counter");

	json_text(&json, "name", metric->name);
	json_text(&json, "source", metric->source);
	json_text(&json, "subject", metric->subject);
	if (metric->process)
		json_signed(&json, "pid", metric->process->pid);
	if (metric->device != METRIC_NO_DEVICE)
		json_number(&json, "device", metric->device);
	json_text(&json, "form", metric_form_name(metric->form));
	json_text(&json, "unit", metric->unit);
	json_number(&json, "windows", row->windows);
	json_number(&json, "missing", row->missing);
	json_number(&json, "scaled", row->estimated);
	json_number(&json, "time_ns", row->time_ns);
	if (metric->form == METRIC_COUNT)
		json_real(&json, "total", row->total);
	json_text(&json, "rate_unit", metric_rate_unit(metric));
	json_real(&json, "mean", row->mean);
	json_real(&json, "min", row->least);
	json_real(&json, "max", row->most);
	json_object_end(&json);
}

void write_counters(const struct recording_report *report)
{
	for (size_t i = 0; i < report->windows.count; i++)
		write_counter(&report->windows.rows[i]);
}
