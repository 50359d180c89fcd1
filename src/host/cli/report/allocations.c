/*
 * Tables of the sites that allocate: by what is not freed, by bytes, by calls.
 */
#include "host/cli/report/allocations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/report/sites.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"

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

/* The first order is theirs. */
static const struct {
	const char *title;
	int (*compare)(const void *left, const void *right);
} orders[] = {
	{ "memory: allocated, and not freed by the end", NULL },
	{ "memory: most bytes allocated", by_bytes },
	{ "memory: most allocations", by_calls },
};

static uint64_t count_records(const struct allocations *allocations)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < allocations->site_count; i++)
		all += allocations->sites[i].records;
	return all;
}

static double count_bytes(const struct allocations *allocations)
{
	double all = 0;

	for (uint32_t i = 0; i < allocations->site_count; i++)
		all += allocations->sites[i].bytes;
	return all;
}

/* Sums of estimates return to zero only approximately. */
static double sum_positive(double value)
{
	return value > 0 ? value : 0;
}

static void print_head(const struct allocations *allocations, const char *title)
{
	uint64_t records = count_records(allocations);

	print(stdout, "\n%s\n", title);
	if (allocations->sample)
		print(stdout,
		      "ESTIMATED from %" PRIu64 " sample%s, one in %" PRIu64
		      " bytes on average; the error of a row is about 1/sqrt(SAMPLES)\n",
		      records, plural(records), allocations->sample);
	print(stdout, "%10s %16s %6s %12s %16s", "CALLS", "BYTES", "%", "LIVE BLOCKS",
	      "LIVE BYTES");
	print(stdout, allocations->sample ? " %8s  WHERE\n" : "  WHERE\n", "SAMPLES");
}

static void print_row(const struct recording_report *report, const struct allocation_site *site,
		      double all_bytes)
{
	print(stdout, "%10.0f %16.0f %6.2f %12.0f %16.0f", site->calls, site->bytes,
	      all_bytes > 0 ? share_shown(100 * site->bytes / all_bytes) : 0,
	      sum_positive(site->live_blocks), sum_positive(site->live_bytes));
	if (report->allocations.sample)
		print(stdout, " %8" PRIu64, site->records);
	print(stdout, "  ");
	site_print(report->model->samples, site->function, site->stack, site->stack_end);
}

static void print_table(const struct recording_report *report, const struct report_style *style,
			const struct allocation_site *sites, const char *title)
{
	const struct allocations *allocations = &report->allocations;
	uint32_t count = allocations->site_count;
	uint32_t shown = style->limit ? (uint32_t)MIN(count, style->limit) : count;
	double all_bytes = count_bytes(allocations);

	print_head(allocations, title);
	for (uint32_t i = 0; i < shown; i++)
		print_row(report, &sites[i], all_bytes);
	if (shown < count)
		print(stdout, "%10s and %u more (-n 0 shows all)\n", "", count - shown);
}

/* One site is the first in every order. */
static void print_tables(const struct recording_report *report, const struct report_style *style)
{
	const struct allocations *allocations = &report->allocations;
	uint32_t count = allocations->site_count;
	size_t order_count = count > 1 ? ARRAY_SIZE(orders) : 1;
	struct allocation_site *sites = calloc(count, sizeof(*sites));

	if (!sites)
		return;
	memcpy(sites, allocations->sites, count * sizeof(*sites));
	for (size_t i = 0; i < order_count; i++) {
		if (orders[i].compare)
			qsort(sites, count, sizeof(*sites), orders[i].compare);
		print_table(report, style, sites, orders[i].title);
	}
	free(sites);
}

static void print_callerless(const struct allocations *allocations)
{
	double all = 0, without = 0;

	for (uint32_t i = 0; i < allocations->site_count; i++) {
		all += allocations->sites[i].calls;
		if (allocations->sites[i].stack == STACK_NONE)
			without += allocations->sites[i].calls;
	}
	callerless_print(without, all);
}

void report_allocations_print(const struct recording_report *report,
			      const struct report_style *style)
{
	const struct allocations *allocations = &report->allocations;
	uint32_t count = allocations->site_count;

	if (!count)
		return;
	print_tables(report, style);
	print_callerless(allocations);
	if (allocations->strangers)
		print(stdout,
		      "%10" PRIu64
		      " block%s %s freed that had been allocated before the recording\n",
		      allocations->strangers, plural(allocations->strangers),
		      was_were(allocations->strangers));
}
