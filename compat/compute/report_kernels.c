/*
 * Kernels by their time, and the runs of each.
 */
#include "report.h"

#include "grid.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct kernel_sum {
	const char *name;
	size_t count;
	double sum, mean, median;
};

static double duration_of(const struct frame *frame, size_t row)
{
	const double *begin = frame_column(frame, "Start_Timestamp");
	const double *end = frame_column(frame, "End_Timestamp");

	return begin && end ? end[row] - begin[row] : (double)NAN;
}

static int number_compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static void kernel_add_up(const struct frame *frame, const char *name, double *times,
			  struct kernel_sum *ret)
{
	size_t count = 0;
	double sum = 0;

	for (size_t i = 0; i < frame->rows; i++)
		if (frame->kernels[i] == name) {
			times[count] = duration_of(frame, i);
			sum += times[count++];
		}
	qsort(times, count, sizeof(*times), number_compare);
	*ret = (struct kernel_sum){ name, count, sum, sum / (double)count,
				    (times[(count - 1) / 2] + times[count / 2]) / 2 };
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

/* Names are kept once, so that equal ones are the same. */
static struct kernel_sum *kernels_add_up(const struct frame *frame, size_t *ret_count)
{
	struct kernel_sum *sums = calloc(frame->texts.count + 1, sizeof(*sums));
	double *times = malloc((frame->rows + 1) * sizeof(*times));
	size_t count = 0;

	for (size_t i = 0; sums && times && i < frame->rows && count < frame->texts.count; i++)
		if (is_first_of_name(frame, i))
			kernel_add_up(frame, frame->kernels[i], times, &sums[count++]);
	if (!times) {
		free(sums);
		sums = NULL;
	}
	free(times);
	if (sums)
		qsort(sums, count, sizeof(*sums), sum_compare);
	*ret_count = count;
	return sums;
}

const char **kernels_ordered(const struct frame *frame, size_t *ret_count)
{
	struct kernel_sum *sums = kernels_add_up(frame, ret_count);
	const char **names = sums ? calloc(*ret_count + 1, sizeof(*names)) : NULL;

	for (size_t i = 0; names && i < *ret_count; i++)
		names[i] = sums[i].name;
	free(sums);
	return names;
}

static int names_add(struct grid *grid, const char *const *names, size_t count)
{
	int r = 0;

	grid->columns = count;
	for (size_t i = 0; !r && i < count; i++)
		r = grid_add(grid, names[i]);
	return r;
}

static int index_add(struct grid *grid, size_t index)
{
	char text[32];

	print_into(text, sizeof(text), "%zu", index);
	return grid_add(grid, text);
}

static int kernel_row(struct grid *grid, const struct kernel_sum *sum, size_t index, double whole)
{
	const double numbers[] = { (double)sum->count, sum->sum, sum->mean, sum->median,
				   100 * sum->sum / whole };
	int r = index_add(grid, index);

	if (!r)
		r = grid_add(grid, sum->name);
	for (size_t i = 0; !r && i < ARRAY_SIZE(numbers); i++)
		r = grid_add_number(grid, numbers[i]);
	return r;
}

static int kernels_fill(struct grid *grid, const struct compute_report *report)
{
	static const char *const names[] = { "",         "Kernel_Name", "Count", "Sum(ns)",
					     "Mean(ns)", "Median(ns)",  "Pct" };
	size_t count;
	struct kernel_sum *sums = kernels_add_up(&report->workload->frame, &count);
	double whole = 0;
	int r = sums ? names_add(grid, names, ARRAY_SIZE(names)) : -ENOMEM;

	for (size_t i = 0; i < count; i++)
		whole += sums ? sums[i].sum : 0;
	for (size_t i = 0; !r && i < count && i < report->most_rows; i++)
		r = kernel_row(grid, &sums[i], i, whole);
	free(sums);
	return r;
}

static int runs_fill(struct grid *grid, const struct compute_report *report)
{
	static const char *const names[] = { "", "Dispatch_ID", "Kernel_Name", "GPU_ID" };
	const struct frame *frame = &report->workload->frame;
	const double *runs = frame_column(frame, "Dispatch_ID");
	const double *gpus = frame_column(frame, "GPU_ID");
	int r = names_add(grid, names, ARRAY_SIZE(names));

	for (size_t i = 0; !r && i < frame->rows && i < report->most_rows; i++) {
		r = index_add(grid, i);
		if (!r)
			r = index_add(grid, runs ? (size_t)runs[i] : i);
		if (!r)
			r = grid_add(grid, frame->kernels[i]);
		if (!r)
			r = index_add(grid, gpus && gpus[i] >= 0 ? (size_t)gpus[i] : 0);
	}
	return r;
}

int report_kernels(const struct compute_report *report, struct err *err)
{
	struct grid kernels = { 0 }, runs = { 0 };
	int r = kernels_fill(&kernels, report);

	if (!r)
		r = runs_fill(&runs, report);
	if (!r) {
		print(report->out, "\n0. Top Stats\n0.1 Top Kernels\n");
		grid_print(&kernels, report->out);
		print(report->out, "0.2 Dispatch List\n");
		grid_print(&runs, report->out);
	}
	grid_done(&kernels);
	grid_done(&runs);
	return r ? err_set(err, r, "no memory for tables") : 0;
}
