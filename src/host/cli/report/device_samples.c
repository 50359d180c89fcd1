/*
 * From samples: where kernels were launched, and the activity of threads while a device was idle.
 */
#include "host/cli/printable.h"
#include "host/cli/report/recording_report.h"
#include "host/core/text/json.h"
#include "host/core/text/print.h"

#include <inttypes.h>
#include <stdio.h>

#define KERNEL_SHOWN 60

static void print_launch(const struct device_samples *samples, const struct sampled_row *row)
{
	char place[NAME_MAX_SHOWN], name[NAME_MAX_SHOWN], kernel[NAME_MAX_SHOWN];

	print(stdout, "%10" PRIu64 "  %-*.*s  %s\n", row->count, KERNEL_SHOWN, KERNEL_SHOWN,
	      printable(row->kernel, kernel),
	      printable(sampled_row_place(samples, row, place, sizeof(place)), name));
}

static void print_idle(const struct recording_report *report, const struct sampled_row *row)
{
	char place[NAME_MAX_SHOWN], name[NAME_MAX_SHOWN], thread[NAME_MAX_SHOWN], device[32];

	print(stdout, "%10" PRIu64 " %7s  %-16s  %s\n", row->count,
	      report_device_name(report, row->process, row->device, device, sizeof(device)),
	      printable(row->thread->name, thread),
	      printable(sampled_row_place(&report->device_samples, row, place, sizeof(place)),
			name));
}

static void print_rows(const struct recording_report *report, uint32_t from, uint32_t to,
		       const struct report_style *style)
{
	const struct device_samples *samples = &report->device_samples;
	uint32_t shown = style->limit ? (uint32_t)MIN(to - from, style->limit) : to - from;

	for (uint32_t i = from; i < from + shown; i++) {
		if (samples->rows[i].kernel)
			print_launch(samples, &samples->rows[i]);
		else
			print_idle(report, &samples->rows[i]);
	}
	if (from + shown < to)
		print(stdout, "%10s and %u more (-n 0 shows all)\n", "", to - from - shown);
}

void report_device_samples_print(const struct recording_report *report,
				 const struct report_style *style)
{
	const struct device_samples *samples = &report->device_samples;
	uint32_t launches = 0;

	while (launches < samples->count && samples->rows[launches].kernel)
		launches++;
	if (launches)
		print(stdout,
		      "\nkernels: where they were launched, of launches that a sample fell into\n"
		      "%10s  %-*s  %s\n",
		      "KERNELS", KERNEL_SHOWN, "NAME", "LAUNCHED BY");
	print_rows(report, 0, launches, style);
	if (launches < samples->count)
		print(stdout,
		      "\ndevices without work: what threads did meanwhile\n%10s %7s  %-16s  %s\n",
		      "SAMPLES", "DEVICE", "THREAD", "FUNCTION");
	print_rows(report, launches, samples->count, style);
}

static void row_print_json(struct json *json, const struct device_samples *samples,
			   const struct sampled_row *row)
{
	char place[NAME_MAX_SHOWN];

	json_object(json, NULL);
	json_text(json, "event", row->kernel ? "kernel_launch" : "device_idle");
	json_signed(json, "pid", row->process->pid);
	if (row->kernel) {
		json_text(json, "kernel", row->kernel);
	} else {
		json_number(json, "device", row->device);
		json_signed(json, "tid", row->thread->tid);
	}
	json_number(json, row->kernel ? "kernels" : "samples", row->count);
	json_text(json, "place", sampled_row_place(samples, row, place, sizeof(place)));
	json_object_end(json);
}

void report_device_samples_print_json(struct json *json, const struct recording_report *report)
{
	for (uint32_t i = 0; i < report->device_samples.count; i++)
		row_print_json(json, &report->device_samples, &report->device_samples.rows[i]);
}
