/*
 * Kernels by the line of the program that launched them, where calls have their stacks.
 */
#include "host/cli/printable.h"
#include "host/cli/report/recording_report.h"
#include "host/core/text/json.h"
#include "host/core/text/print.h"

#include <inttypes.h>
#include <stdio.h>

#define KERNEL_SHOWN 60
#define NO_STACK     "(no stack)"

static void print_row(const struct launch_row *row, const struct report_style *style)
{
	char place[NAME_MAX_SHOWN], kernel[NAME_MAX_SHOWN];

	print(stdout, "%10" PRIu64 " %14.3f  %-*.*s  %s\n", row->count,
	      (double)row->total_ns / (double)style->unit_ns, KERNEL_SHOWN, KERNEL_SHOWN,
	      printable(row->kernel, kernel),
	      row->place[0] ? printable(row->place, place) : NO_STACK);
}

void report_launches_print(const struct recording_report *report, const struct report_style *style)
{
	const struct launch_summary *launches = &report->launches;
	uint32_t shown =
		style->limit ? (uint32_t)MIN(launches->count, style->limit) : launches->count;

	if (!launches->count)
		return;
	print(stdout, "\nkernels: where they were launched\n%10s %9s %-4s  %-*s  %s\n", "KERNELS",
	      "TOTAL", style->unit, KERNEL_SHOWN, "NAME", "LAUNCHED BY");
	for (uint32_t i = 0; i < shown; i++)
		print_row(&launches->rows[i], style);
	if (shown < launches->count)
		print(stdout, "%10s and %u more (-n 0 shows all)\n", "", launches->count - shown);
}

void report_launches_print_json(struct json *json, const struct recording_report *report)
{
	for (uint32_t i = 0; i < report->launches.count; i++) {
		const struct launch_row *row = &report->launches.rows[i];

		json_object(json, NULL);
		json_text(json, "event", "launch_line");
		json_signed(json, "pid", row->process->pid);
		json_text(json, "kernel", row->kernel);
		json_number(json, "kernels", row->count);
		json_number(json, "total_ns", row->total_ns);
		json_text(json, "place", row->place);
		json_object_end(json);
	}
}
