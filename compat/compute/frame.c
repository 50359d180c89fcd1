/*
 * Reads pmc_perf.csv.
 */
#include "frame.h"

#include "csv_table.h"
#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/text/print.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define GPUS_MAX 256u

/* The column of that name, made where there is none; NULL: no memory. */
static double *column_make(struct frame *frame, const char *name)
{
	size_t before = frame->names.count;
	uint32_t number = pool_add(&frame->names, name);
	double *values;

	if (number == POOL_NONE)
		return NULL;
	if (frame->names.count == before)
		return frame->columns[number];
	values = malloc((frame->rows + 1) * sizeof(*values));
	if (!values || make_room(&frame->columns, number, &frame->room, sizeof(values))) {
		free(values);
		return NULL;
	}
	for (size_t i = 0; i < frame->rows; i++)
		values[i] = (double)NAN;
	frame->columns[number] = values;
	return values;
}

static int kernel_set(struct frame *frame, size_t row, const char *name)
{
	frame->kernels[row] = pool_keep(&frame->texts, name);
	return frame->kernels[row] ? 0 : -ENOMEM;
}

static int rows_make(struct frame *frame, size_t count)
{
	frame->rows = count;
	frame->kernels = calloc(count + 1, sizeof(*frame->kernels));
	return frame->kernels ? 0 : -ENOMEM;
}

/* Relative to the beginning of the first one: only durations matter. */
static void times_shift(struct frame *frame, const struct csv_table *table)
{
	static const char *const names[] = { "Start_Timestamp", "End_Timestamp" };
	const struct csv_place first = { 0, csv_table_find(table, names[0]) };

	for (size_t i = 0; first.column >= 0 && i < ARRAY_SIZE(names); i++) {
		int column = csv_table_find(table, names[i]);
		double *values = column < 0 ? NULL : column_make(frame, names[i]);

		for (size_t row = 0; values && row < table->rows; row++)
			values[row] = csv_table_difference(table, (struct csv_place){ row, column },
							   first);
	}
}

static int wide_read(struct frame *frame, const struct csv_table *table)
{
	int name = csv_table_find(table, "Kernel_Name");
	int r = rows_make(frame, table->rows);

	for (size_t i = 0; !r && i < table->rows; i++)
		r = kernel_set(frame, i, csv_table_cell(table, i, name));
	for (size_t i = 0; !r && i < table->columns; i++) {
		double *values = column_make(frame, table->cells[i]);

		if (!values)
			return -ENOMEM;
		for (size_t row = 0; (int)i != name && row < table->rows; row++)
			values[row] = csv_table_number(table, row, (int)i);
	}
	if (!r)
		times_shift(frame, table);
	return r;
}

/* The columns by which AMD's analysis identifies a kernel's run. */
static const char *const key_columns[] = { "Dispatch_ID", "Kernel_Name", "Grid_Size",
					   "Workgroup_Size", "LDS_Per_Workgroup" };
static const char *const copied_columns[] = {
	"GPU_ID",         "Dispatch_ID",       "Grid_Size",
	"Workgroup_Size", "LDS_Per_Workgroup", "Scratch_Per_Workitem",
	"Arch_VGPR",      "Accum_VGPR",        "SGPR",
	"Kernel_ID"
};

static uint32_t run_of(struct pool *runs, const struct csv_table *table, size_t row)
{
	char key[4096] = "";

	for (size_t i = 0; i < ARRAY_SIZE(key_columns); i++) {
		int column = csv_table_find(table, key_columns[i]);

		print_into(key + strlen(key), sizeof(key) - strlen(key), "%s|",
			   csv_table_cell(table, row, column));
	}
	return pool_add(runs, key);
}

static int number_compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

double median_of(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), number_compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Each pass has separate times: uses the median of the durations, from 0. */
static int durations_set(struct frame *frame, const struct csv_table *table, const uint32_t *runs)
{
	double *begin = column_make(frame, "Start_Timestamp");
	double *end = column_make(frame, "End_Timestamp");
	CLEANUP(free) double *each = malloc((table->rows + 1) * sizeof(*each));
	CLEANUP(free) size_t *heads = calloc(frame->rows + 1, sizeof(*heads));
	int from = csv_table_find(table, "Start_Timestamp");
	int to = csv_table_find(table, "End_Timestamp");
	int r = begin && end && each && heads ? 0 : -ENOMEM;

	for (size_t run = 0; !r && run < frame->rows; run++)
		begin[run] = 0;
	for (size_t row = 0; !r && row < table->rows; row++)
		heads[runs[row] + 1]++;
	for (size_t run = 0; !r && run < frame->rows; run++)
		heads[run + 1] += heads[run];
	for (size_t row = 0; !r && row < table->rows; row++)
		each[heads[runs[row]]++] = csv_table_difference(
			table, (struct csv_place){ row, to }, (struct csv_place){ row, from });
	for (size_t run = 0; !r && run < frame->rows; run++) {
		size_t begins = run ? heads[run - 1] : 0;

		end[run] = median_of(each + begins, heads[run] - begins);
	}
	return r;
}

static int long_row(struct frame *frame, const struct csv_table *table, size_t row, uint32_t run)
{
	double *values;

	if (!frame->kernels[run]) {
		if (kernel_set(frame, run,
			       csv_table_cell(table, row, csv_table_find(table, "Kernel_Name"))))
			return -ENOMEM;
		for (size_t i = 0; i < ARRAY_SIZE(copied_columns); i++) {
			values = column_make(frame, copied_columns[i]);
			if (!values)
				return -ENOMEM;
			values[run] = csv_table_number(table, row,
						       csv_table_find(table, copied_columns[i]));
		}
	}
	values = column_make(frame,
			     csv_table_cell(table, row, csv_table_find(table, "Counter_Name")));
	if (!values)
		return -ENOMEM;
	values[run] = csv_table_number(table, row, csv_table_find(table, "Counter_Value"));
	return 0;
}

static bool has_number(const double *numbers, size_t count, double number)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* Devices and runs are numbered from 0. */
static int numbers_set(struct frame *frame)
{
	double *gpus = column_make(frame, "GPU_ID"), *runs = column_make(frame, "Dispatch_ID");
	double different[GPUS_MAX];
	size_t count = 0;

	if (!gpus || !runs)
		return -ENOMEM;
	for (size_t i = 0; i < frame->rows; i++)
		if (count < GPUS_MAX && !has_number(different, count, gpus[i]))
			different[count++] = gpus[i];
	for (size_t i = 0; i < frame->rows; i++) {
		size_t smaller = 0;

		for (size_t k = 0; k < count; k++)
			smaller += different[k] < gpus[i];
		gpus[i] = (double)smaller;
		runs[i] = (double)i;
	}
	return 0;
}

static int long_read(struct frame *frame, const struct csv_table *table)
{
	CLEANUP(free) uint32_t *runs = malloc((table->rows + 1) * sizeof(*runs));
	struct pool keys = { 0 };
	int r = runs ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < table->rows; i++) {
		runs[i] = run_of(&keys, table, i);
		r = runs[i] == POOL_NONE ? -ENOMEM : 0;
	}
	if (!r)
		r = rows_make(frame, keys.count);
	for (size_t i = 0; !r && i < table->rows; i++)
		r = long_row(frame, table, i, runs[i]);
	if (!r)
		r = durations_set(frame, table, runs);
	if (!r)
		r = numbers_set(frame);
	pool_done(&keys);
	return r;
}

int frame_read(struct frame *ret, const char *path, struct err *err)
{
	struct csv_table table;
	int r = csv_table_read(&table, path, err);

	*ret = (struct frame){ 0 };
	if (r)
		return r;
	if (csv_table_find(&table, "Kernel_Name") < 0) {
		r = err_usage(err, NULL, "read '%s': it has no column Kernel_Name", path);
	} else {
		r = csv_table_find(&table, "Counter_Name") < 0 ? wide_read(ret, &table)
							       : long_read(ret, &table);
		if (r)
			err_set(err, r, "read '%s': no memory", path);
	}
	csv_table_done(&table);
	if (r)
		frame_done(ret);
	return r;
}

void frame_done(struct frame *frame)
{
	for (size_t i = 0; i < frame->names.count; i++)
		free(frame->columns[i]);
	free(frame->columns);
	free(frame->kernels);
	pool_done(&frame->names);
	pool_done(&frame->texts);
	*frame = (struct frame){ 0 };
}

const double *frame_column(const struct frame *frame, const char *name)
{
	uint32_t number = pool_find(&frame->names, name);

	return number == POOL_NONE ? NULL : frame->columns[number];
}

void frame_filter(struct frame *frame,
		  bool (*is_chosen)(const struct frame *frame, size_t row, const void *context),
		  const void *context)
{
	size_t kept = 0;

	for (size_t row = 0; row < frame->rows; row++) {
		if (!is_chosen(frame, row, context))
			continue;
		frame->kernels[kept] = frame->kernels[row];
		for (size_t i = 0; i < frame->names.count; i++)
			frame->columns[i][kept] = frame->columns[i][row];
		kept++;
	}
	frame->rows = kept;
}
