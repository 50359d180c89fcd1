/*
 * Tables of the stacks that waited for locks and that read and wrote, by time.
 */
#include "host/cli/report/sites.h"

#include <inttypes.h>
#include <stdio.h>

#include "host/cli/printable.h"
#include "host/core/text/print.h"
#include "host/model/samples/stack_text.h"

#define FRAMES_SHOWN 8u
#define FRAME_MAX    120u

void site_print(const struct samples *samples, const struct trace_function *function,
		uint32_t stack, enum stack_end end)
{
	struct stack_cursor cursor = { .stack = stack };
	const struct sample_location *location;
	char text[FRAME_MAX], clean_text[NAME_MAX_SHOWN];
	unsigned shown = 0;

	print(stdout, "%s", printable(function->name, clean_text));
	while ((location = stack_next(samples, &cursor)) && shown++ < FRAMES_SHOWN) {
		location_print(samples, location, text, sizeof(text));
		print(stdout, " < %s", printable(text, clean_text));
	}
	if (location)
		print(stdout, " < ...");
	else if (stack != STACK_NONE && end != STACK_COMPLETE)
		print(stdout, " < %s", stack_mark(end, text));
	print(stdout, "\n");
}

void callerless_print(double without, double all)
{
	if (without > 0 && without < all)
		print(stdout,
		      "INCOMPLETE: %.0f calls (%.2f %%) have no caller: limpet could not read as many\n"
		      "  fix: --ring-size gives more room\n",
		      without, share_shown(100 * without / all));
}

static const char *title_of(unsigned domain)
{
	return domain == DOMAIN_LOCK ? "locks: where threads waited" : "io: where it took time";
}

static void print_row(const struct recording_report *report, const struct report_style *style,
		      const struct call_site *site)
{
	uint64_t whole = report->summary.domains[site->function->domain].total_ns;

	print(stdout, "%10" PRIu64 " %14.3f %6.2f  ", site->statistics.calls,
	      (double)site->statistics.total_ns / (double)style->unit_ns,
	      (double)share_of(site->statistics.total_ns, whole) / 100);
	site_print(report->model->samples, site->function, site->stack, site->stack_end);
}

/* Of one domain. */
static void print_sites(const struct recording_report *report, const struct report_style *style,
			const struct call_site *sites, uint32_t count)
{
	uint32_t shown = style->limit ? (uint32_t)MIN(count, style->limit) : count;
	double all = 0, without = 0;
	char total[32];

	snprintf(total, sizeof(total), "TOTAL %s", style->unit);
	print(stdout, "\n%s\n%10s %14s %6s  WHERE\n", title_of(sites->function->domain), "CALLS",
	      total, "%");
	for (uint32_t i = 0; i < shown; i++)
		print_row(report, style, &sites[i]);
	if (shown < count)
		print(stdout, "%10s and %u more (-n 0 shows all)\n", "", count - shown);
	for (uint32_t i = 0; i < count; i++) {
		all += (double)sites[i].statistics.calls;
		without += sites[i].stack == STACK_NONE ? (double)sites[i].statistics.calls : 0;
	}
	callerless_print(without, all);
}

/* Older recordings have calls without stacks. */
static bool has_stack(const struct call_site *sites, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (sites[i].stack != STACK_NONE)
			return true;
	return false;
}

void report_sites_print(const struct recording_report *report, const struct report_style *style)
{
	const struct call_site *sites = report->sites.rows;
	uint32_t count = report->sites.count, first = 0;

	while (first < count) {
		uint32_t end = first;

		while (end < count && sites[end].function->domain == sites[first].function->domain)
			end++;
		if (has_stack(sites + first, end - first))
			print_sites(report, style, sites + first, end - first);
		first = end;
	}
}
