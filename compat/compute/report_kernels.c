/*
 * Kernels by their time, and the runs of each.
 */
#include "report.h"

#include "grid.h"
#include "host/core/cleanup.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct kernel_sum {
	const char *name;
	size_t count;
	double sum, mean, median;
};

static struct kernel_sum kernel_add_up(const struct frame *frame, const char *name, double *times)
{
	const double *begin = frame_column(frame, "Start_Timestamp");
	const double *end = frame_column(frame, "End_Timestamp");
	size_t count = 0;
	double sum = 0;

	for (size_t i = 0; i < frame->rows; i++)
		if (frame->kernels[i] == name) {
			times[count] = begin && end ? end[i] - begin[i] : (double)NAN;
			sum += times[count++];
		}
	return (struct kernel_sum){ name, count, sum, sum / (double)count,
				    median_of(times, count) };
}

static int sum_compare(const void *a, const void *b)
{
	const struct kernel_sum *left = a, *right = b;

	if (left->sum != right->sum)
		return left->sum > right->sum ? -1 : 1;
	return strcmp(left->name, right->name);
}

static bool is_first_of_name(const struct frame *frame, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (frame->kernels[i] == frame->kernels[row])
			return false;
	return true;
}

/* Names are kept once, so that equal ones are the same.  NULL: no memory. */
static struct kernel_sum *kernels_add_up(const struct frame *frame, size_t *ret_count)
{
	CLEANUP(free) double *times = malloc((frame->rows + 1) * sizeof(*times));
	struct kernel_sum *sums = times ? calloc(frame->texts.count + 1, sizeof(*sums)) : NULL;
	size_t count = 0;

	for (size_t i = 0; sums && i < frame->rows && count < frame->texts.count; i++)
		if (is_first_of_name(frame, i))
			sums[count++] = kernel_add_up(frame, frame->kernels[i], times);
	if (sums)
		qsort(sums, count, sizeof(*sums), sum_compare);
	*ret_count = count;
	return sums;
}

const char **kernels_ordered(const struct frame *frame, size_t *ret_count)
{
	CLEANUP(free) struct kernel_sum *sums = kernels_add_up(frame, ret_count);
	const char **names = sums ? calloc(*ret_count + 1, sizeof(*names)) : NULL;

	for (size_t i = 0; names && i < *ret_count; i++)
		names[i] = sums[i].name;
	return names;
}

static void names_add(struct grid *grid, const char *const *names, size_t count)
{
	grid->columns = count;
	for (size_t i = 0; i < count; i++)
		grid_add(grid, names[i]);
}

static void index_add(struct grid *grid, size_t index)
{
	char text[32];

	print_into(text, sizeof(text), "%zu", index);
	grid_add(grid, text);
}

static void kernels_fill(struct grid *grid, const struct compute_report *report)
{
	static const char *const names[] = { "",         "Kernel_Name", "Count", "Sum(ns)",
					     "Mean(ns)", "Median(ns)",  "Pct" };
	size_t count;
	CLEANUP(free)
	struct kernel_sum *sums = kernels_add_up(&report->workload->frame, &count);
	double whole = 0;

	grid->has_failed = !sums;
	names_add(grid, names, ARRAY_SIZE(names));
	for (size_t i = 0; sums && i < count; i++)
		whole += sums[i].sum;
	for (size_t i = 0; sums && i < count && i < report->most_rows; i++) {
		index_add(grid, i);
		grid_add(grid, sums[i].name);
		grid_add_number(grid, (double)sums[i].count);
		grid_add_number(grid, sums[i].sum);
		grid_add_number(grid, sums[i].mean);
		grid_add_number(grid, sums[i].median);
		grid_add_number(grid, 100 * sums[i].sum / whole);
	}
}

static void runs_fill(struct grid *grid, const struct compute_report *report)
{
	static const char *const names[] = { "", "Dispatch_ID", "Kernel_Name", "GPU_ID" };
	const struct frame *frame = &report->workload->frame;
	const double *runs = frame_column(frame, "Dispatch_ID");
	const double *gpus = frame_column(frame, "GPU_ID");

	names_add(grid, names, ARRAY_SIZE(names));
	for (size_t i = 0; i < frame->rows && i < report->most_rows; i++) {
		index_add(grid, i);
		index_add(grid, runs ? (size_t)runs[i] : i);
		grid_add(grid, frame->kernels[i]);
		index_add(grid, gpus && gpus[i] >= 0 ? (size_t)gpus[i] : 0);
	}
}

int report_kernels(const struct compute_report *report, struct err *err)
{
	struct grid kernels = { 0 }, runs = { 0 };
	bool has_failed;

	kernels_fill(&kernels, report);
	runs_fill(&runs, report);
	has_failed = kernels.has_failed || runs.has_failed;
	if (!has_failed) {
		print(report->out, "\n0. Top Stats\n0.1 Top Kernels\n");
		grid_print(&kernels, report->out);
		print(report->out, "0.2 Dispatch List\n");
		grid_print(&runs, report->out);
	}
	grid_done(&kernels);
	grid_done(&runs);
	return has_failed ? err_set(err, -ENOMEM, "no memory for tables") : 0;
}
