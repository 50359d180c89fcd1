/*
 * Counters over time: a row for each metric.
 */
#include "host/cli/printable.h"
#include "host/cli/report/recording_report.h"
#include "host/core/text/json.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"

#include <inttypes.h>

/* Twelve places: as many digits behind the point as there is room for. */
static void number_print(double value)
{
	double size = value < 0 ? -value : value;

	print(stdout, " %12.*f", size < 1000 ? 3 : size < 1e6 ? 1 : 0, value);
}

static void total_print(const struct window_row *row, const struct report_style *style)
{
	if (row->metric->form == METRIC_LEVEL)
		print(stdout, "%16s", "");
	else if (metric_is_time(row->metric))
		print(stdout, "%11.3f %s", in_unit(row->total, style), style->unit);
	else
		print(stdout, "%16.*f", row->total < 1e15 ? 0 : -1, row->total);
}

static void row_print(const struct model *model, const struct window_row *row,
		      const struct report_style *style)
{
	char title[NAME_MAX_SHOWN], shown[NAME_MAX_SHOWN];

	metric_title(model, row->metric, title, sizeof(title));
	if (!row->windows) {
		print(stdout, "%16s %12s %12s %12s %-6s %8d  %s\n", "<not counted>", "", "", "", "",
		      0, printable(title, shown));
		return;
	}
	total_print(row, style);
	number_print(row->mean);
	number_print(row->least);
	number_print(row->most);
	print(stdout, " %-6s %8" PRIu64 "  %s%s\n", metric_rate_unit(row->metric), row->windows,
	      printable(title, shown), row->estimated ? " (scaled)" : "");
}

void report_counters_print(const struct recording_report *report, const struct report_style *style)
{
	const struct window_summary *summary = &report->windows;
	size_t shown = style->limit ? MIN(summary->count, (size_t)style->limit) : summary->count;

	if (!summary->count)
		return;
	print(stdout, "\ncounters over time\n%16s %12s %12s %12s %-6s %8s  %s\n", "TOTAL", "MEAN",
	      "MIN", "MAX", "UNIT", "WINDOWS", "COUNTER");
	for (size_t i = 0; i < shown; i++)
		row_print(report->model, &summary->rows[i], style);
	if (shown < summary->count)
		print(stdout, "%10s and %zu more (-n 0 shows all)\n", "", summary->count - shown);
}

static void row_print_json(struct json *json, const struct window_row *row)
{
	const struct model_metric *metric = row->metric;

	json_object(json, NULL);
	json_text(json, "event", "counter");
	json_text(json, "name", metric->name);
	json_text(json, "source", metric->source);
	json_text(json, "subject", metric->subject);
	if (metric->process)
		json_signed(json, "pid", metric->process->pid);
	if (metric->device != METRIC_NO_DEVICE)
		json_number(json, "device", metric->device);
	json_text(json, "form", metric_form_name(metric->form));
	json_text(json, "unit", metric->unit);
	json_number(json, "windows", row->windows);
	json_number(json, "missing", row->missing);
	json_number(json, "scaled", row->estimated);
	json_number(json, "time_ns", row->time_ns);
	if (metric->form == METRIC_COUNT)
		json_real(json, "total", row->total);
	json_text(json, "rate_unit", metric_rate_unit(metric));
	json_real(json, "mean", row->mean);
	json_real(json, "min", row->least);
	json_real(json, "max", row->most);
	json_object_end(json);
}

void report_counters_print_json(struct json *json, const struct recording_report *report)
{
	for (size_t i = 0; i < report->windows.count; i++)
		row_print_json(json, &report->windows.rows[i]);
}
