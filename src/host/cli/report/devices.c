/*
 * How devices spent their time, and calls of their runtimes that did not succeed.
 */
#include "host/cli/printable.h"
#include "host/cli/report/recording_report.h"
#include "host/core/text/json.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t length_ns(const struct device_row *row)
{
	return row->last_ns - row->first_ns;
}

int report_agents_init(struct recording_report *report)
{
	const struct model *model = report->model;
	int r = 0;

	report->agents = calloc(MAX(model->process_count, 1u), sizeof(*report->agents));
	if (!report->agents)
		return -ENOMEM;
	for (uint32_t i = 0; !r && i < model->process_count; i++)
		r = agents_init(&report->agents[i], model->processes[i]);
	return r;
}

void report_agents_done(struct recording_report *report)
{
	for (uint32_t i = 0; report->agents && i < report->model->process_count; i++)
		agents_done(&report->agents[i]);
	free(report->agents);
}

const char *report_device_name(const struct recording_report *report,
			       const struct model_process *process, uint64_t device, char *ret,
			       size_t room)
{
	bool is_new;
	const struct agent *agent = agents_find(&report->agents[process->number], device, &is_new);

	snprintf(ret, room, "?");
	if (agent)
		agent_label(agent, AGENT_TYPE_RELATIVE, ret, room);
	return ret;
}

static const char *row_name(const struct recording_report *report, const struct device_row *row,
			    char *buffer, size_t room)
{
	const char *queue = names_find(&row->process->names, NAME_QUEUE, row->queue);

	if (!row->is_queue)
		report_device_name(report, row->process, row->device, buffer, room);
	else if (queue[0])
		print_into(buffer, room, "  %s", queue);
	else
		snprintf(buffer, room, "  queue %" PRIu64, row->queue);
	return buffer;
}

static void row_print(const struct recording_report *report, const struct device_row *row,
		      const struct report_style *style)
{
	char name[NAME_MAX_SHOWN], shown[NAME_MAX_SHOWN], peak[24] = "";
	double unit = (double)style->unit_ns;

	if (!row->is_queue && row->peak_bytes)
		snprintf(peak, sizeof(peak), "%" PRIu64, row->peak_bytes);
	print(stdout,
	      "%10" PRIu64 " %14.3f %6.2f %8" PRIu64 " %12.3f %12.3f %14.3f %14.3f %10.3f %10.3f "
	      "%14s  %s\n",
	      row->work, (double)row->busy_ns / unit,
	      (double)share_of(row->busy_ns, length_ns(row)) / 100, row->gaps.calls,
	      row->gaps.mean_ns / unit, (double)row->gaps.most_ns / unit,
	      (double)row->not_launched_ns / unit, (double)row->launched_ns / unit,
	      row->delay.mean_ns / unit, (double)row->delay.least_ns / unit, peak,
	      printable(row_name(report, row, name, sizeof(name)), shown));
}

void report_devices_print(const struct recording_report *report, const struct report_style *style)
{
	const struct device_time *time = &report->device_time;
	uint32_t shown = style->limit ? (uint32_t)MIN(time->count, style->limit) : time->count;
	char busy[32];

	if (!time->count)
		return;
	snprintf(busy, sizeof(busy), "BUSY %s", style->unit);
	print(stdout,
	      "\ndevices: time with work, gaps without any and what they waited for, from launch to "
	      "start\n"
	      "%10s %14s %6s %8s %12s %12s %14s %14s %10s %10s %14s  %s\n",
	      "WORK", busy, "%", "GAPS", "AVERAGE", "LONGEST", "NOT LAUNCHED", "LAUNCHED", "DELAY",
	      "MIN", "PEAK BYTES", "DEVICE");
	for (uint32_t i = 0; i < shown; i++)
		row_print(report, &time->rows[i], style);
	if (shown < time->count)
		print(stdout, "%10s and %u more (-n 0 shows all)\n", "", time->count - shown);
}

void report_api_errors_print(const struct recording_report *report,
			     const struct report_style *style)
{
	const struct api_errors *errors = &report->api_errors;
	uint32_t shown = style->limit ? (uint32_t)MIN(errors->count, style->limit) : errors->count;
	char name[NAME_MAX_SHOWN], buffer[32];

	if (!errors->count)
		return;
	print(stdout, "\ncalls that did not succeed\n%10s  %-36s %s\n", "CALLS", "RESULT",
	      "FUNCTION");
	for (uint32_t i = 0; i < shown; i++)
		print(stdout, "%10" PRIu64 "  %-36s %s\n", errors->rows[i].calls,
		      api_error_name(&errors->rows[i], buffer),
		      printable(errors->rows[i].function->name, name));
	if (shown < errors->count)
		print(stdout, "%10s and %u more (-n 0 shows all)\n", "", errors->count - shown);
}

static void row_print_json(struct json *json, const struct device_row *row)
{
	json_object(json, NULL);
	json_text(json, "event", row->is_queue ? "device_queue" : "device_time");
	json_signed(json, "pid", row->process->pid);
	json_number(json, "device", row->device);
	if (row->is_queue)
		json_text(json, "queue", names_find(&row->process->names, NAME_QUEUE, row->queue));
	json_number(json, "work", row->work);
	json_number(json, "length_ns", length_ns(row));
	json_number(json, "busy_ns", row->busy_ns);
	json_number(json, "gaps", row->gaps.calls);
	json_number(json, "idle_ns", row->gaps.total_ns);
	json_number(json, "longest_gap_ns", row->gaps.most_ns);
	json_number(json, "not_launched_ns", row->not_launched_ns);
	json_number(json, "launched_ns", row->launched_ns);
	json_number(json, "delays", row->delay.calls);
	json_number(json, "delay_ns", row->delay.total_ns);
	json_number(json, "least_delay_ns", row->delay.least_ns);
	json_number(json, "most_delay_ns", row->delay.most_ns);
	json_number(json, "peak_bytes", row->peak_bytes);
	json_object_end(json);
}

void report_devices_print_json(struct json *json, const struct recording_report *report)
{
	char buffer[32];

	for (uint32_t i = 0; i < report->device_time.count; i++)
		row_print_json(json, &report->device_time.rows[i]);
	for (uint32_t i = 0; i < report->api_errors.count; i++) {
		const struct api_error_row *row = &report->api_errors.rows[i];

		json_object(json, NULL);
		json_text(json, "event", "api_error");
		json_text(json, "function", row->function->name);
		json_signed(json, "result", row->result);
		json_text(json, "name", api_error_name(row, buffer));
		json_number(json, "calls", row->calls);
		json_object_end(json);
	}
}
