/*
 * Writes the files of a workload.
 */
#include "workload_files.h"

#include "host/core/cleanup.h"
#include "host/core/text/foreign.h"
#include "host/core/text/print.h"

#include <stdbool.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static void csv_text_write(FILE *out, const char *text)
{
	fputc('"', out);
	foreign_write(out, FOREIGN_CSV, text);
	fputc('"', out);
}

int perfmon_write(const char *folder, size_t index, const struct counter_pass *pass,
		  struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	char path[700];
	int r;

	print_into(path, sizeof(path), "%s/perfmon/pmc_perf_%zu.yaml", folder, index);
	r = output_make_folders(path, err);
	if (!r)
		r = output_open(&file, path, err);
	if (r)
		return r;
	fputs("jobs:\n- pmc:\n", file.out);
	for (size_t i = 0; i < pass->count; i++)
		print(file.out, "  - %s\n", pass->names[i]);
	return output_commit(&file, err);
}

/* Between single quotes, in which only these mean something. */
static void yaml_text_write(FILE *out, const char *text)
{
	fputc('\'', out);
	for (const char *at = text; *at; at++)
		print(out, "%.1s%s", at, *at == '\'' ? "'" : "");
	fputc('\'', out);
}

static void yaml_list_write(FILE *out, const char *key, const struct texts *texts)
{
	print(out, "%s:%s\n", key, texts->count ? "" : " []");
	for (size_t i = 0; i < texts->count; i++) {
		fputs("- ", out);
		yaml_text_write(out, texts->items[i]);
		fputc('\n', out);
	}
}

static void yaml_pair_write(FILE *out, const char *key, const char *value)
{
	print(out, "%s: ", key);
	if (value)
		yaml_text_write(out, value);
	else
		fputs("null", out);
	fputc('\n', out);
}

int profiling_config_write(const char *folder, const struct compute_options *options,
			   const struct texts *ids, struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	char path[700];
	int r;

	print_into(path, sizeof(path), "%s/profiling_config.yaml", folder);
	r = output_open(&file, path, err);
	if (r)
		return r;
	fputs("format_rocprof_output: rocpd\nmode: profile\nno_roof: true\n", file.out);
	yaml_pair_write(file.out, "name", options->name);
	yaml_pair_write(file.out, "path", folder);
	yaml_pair_write(file.out, "set_selected", options->set);
	yaml_pair_write(file.out, "attach_pid", options->pid);
	yaml_pair_write(file.out, "attach_duration_msec", options->duration_ms);
	yaml_list_write(file.out, "filter_blocks", ids);
	yaml_list_write(file.out, "kernel", &options->kernels);
	yaml_list_write(file.out, "dispatch", &options->dispatches);
	return output_commit(&file, err);
}

/* Columns of pmc_perf.csv, and their sources in rocprofv3's file. */
static const struct {
	const char *name, *from;
	bool is_text;
} row_columns[] = {
	{ "GPU_ID", "Agent_Id", false },
	{ "Dispatch_ID", "Dispatch_Id", false },
	{ "Grid_Size", "Grid_Size", false },
	{ "Workgroup_Size", "Workgroup_Size", false },
	{ "LDS_Per_Workgroup", "LDS_Block_Size", false },
	{ "Scratch_Per_Workitem", "Scratch_Size", false },
	{ "Arch_VGPR", "VGPR_Count", false },
	{ "Accum_VGPR", "Accum_VGPR_Count", false },
	{ "SGPR", "SGPR_Count", false },
	{ "Kernel_Name", "Kernel_Name", true },
	{ "Start_Timestamp", "Start_Timestamp", false },
	{ "End_Timestamp", "End_Timestamp", false },
	{ "Kernel_ID", "Kernel_Id", false },
	{ "Counter_Name", "Counter_Name", true },
	{ "Counter_Value", "Counter_Value", false },
};

enum { COLUMN_GPU = 0, COLUMN_DISPATCH = 1 };

int counter_rows_open(struct counter_rows *ret, const char *folder, struct err *err)
{
	char path[700];
	int r;

	*ret = (struct counter_rows){ 0 };
	print_into(path, sizeof(path), "%s/pmc_perf.csv", folder);
	r = output_make_folders(path, err);
	if (!r)
		r = output_open(&ret->file, path, err);
	for (size_t i = 0; !r && i < ARRAY_SIZE(row_columns); i++)
		print(ret->file.out, "%s%s", i ? "," : "", row_columns[i].name);
	if (!r)
		fputc('\n', ret->file.out);
	return r;
}

/* "Agent 1" is device 1. */
static void row_write(FILE *out, const struct csv_table *table, size_t row, const int *columns,
		      size_t kernel)
{
	for (size_t i = 0; i < ARRAY_SIZE(row_columns); i++) {
		const char *cell = csv_table_cell(table, row, columns[i]);

		if (i)
			fputc(',', out);
		if (i == COLUMN_DISPATCH)
			print(out, "%zu", kernel);
		else if (row_columns[i].is_text)
			csv_text_write(out, cell);
		else
			print(out, "%s",
			      i == COLUMN_GPU ? cell + strcspn(cell, "0123456789") : cell);
	}
	fputc('\n', out);
}

int counter_rows_add(struct counter_rows *rows, const char *path, size_t *kernels, struct err *err)
{
	int columns[ARRAY_SIZE(row_columns)];
	struct csv_table table;
	const char *before = NULL;
	int r = csv_table_read(&table, path, err);

	if (r)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(row_columns); i++)
		columns[i] = csv_table_find(&table, row_columns[i].from);
	for (size_t i = 0; i < table.rows; i++) {
		const char *dispatch = csv_table_cell(&table, i, columns[COLUMN_DISPATCH]);

		/* The rows of a kernel follow each other. */
		*kernels += !before || strcmp(dispatch, before);
		before = dispatch;
		row_write(rows->file.out, &table, i, columns, *kernels);
	}
	rows->rows += table.rows;
	rows->kernels = MAX(rows->kernels, *kernels);
	csv_table_done(&table);
	return 0;
}

/* Of the driver's device_id.  No device of AMD's has confirmed it. */
static const struct {
	unsigned chip, virtual_chip;
	const char *model;
} models[] = {
	{ 29580, 0, "MI100" },        { 29711, 0, "MI210" },         { 29708, 0, "MI250" },
	{ 29704, 0, "MI250X" },       { 29856, 29876, "MI300A_A1" }, { 29857, 29877, "MI300X_A1" },
	{ 29865, 29885, "MI300XHF" }, { 29858, 29878, "MI308X" },    { 29864, 29884, "MI308XHF" },
	{ 29861, 29881, "MI325X" },   { 30112, 0, "MI350" },         { 30115, 30131, "MI355" },
	{ 30114, 30130, "MI358" },
};

void device_model(const struct counter_device *device, char *ret, size_t room)
{
	uint64_t chip = counter_property(device->properties, "device_id");

	for (size_t i = 0; chip && i < ARRAY_SIZE(models); i++)
		if (chip == models[i].chip || chip == models[i].virtual_chip) {
			print_into(ret, room, "%s", models[i].model);
			return;
		}
	print_into(ret, room, "%s", device->architecture);
}

static uint64_t whole_quotient(uint64_t number, uint64_t by)
{
	return by ? number / by : 0;
}

#define NUMBERS 16u

struct system_number {
	const char *name;
	uint64_t value;
};

/* 0: it is not in the topology. */
static void numbers_fill(const struct counter_device *device, struct system_number ret[NUMBERS])
{
	const char *text = device->properties;
	uint64_t simds = counter_property(text, "simd_per_cu");
	uint64_t units = whole_quotient(counter_property(text, "simd_count"), simds);
	uint64_t engines = whole_quotient(counter_property(text, "array_count"),
					  counter_property(text, "simd_arrays_per_engine"));
	uint64_t xccs = MAX(counter_property(text, "num_xcc"), 1u);
	uint64_t clock = counter_property(text, "max_engine_clk_fcompute");
	/* 16 channels of an XCC, before MI300 32. */
	bool is_older =
		!strcmp(device->architecture, "gfx908") || !strcmp(device->architecture, "gfx90a");
	uint64_t channels = xccs * (is_older ? 32 : 16);
	const struct system_number numbers[NUMBERS] = {
		{ "cu_per_gpu", units },
		{ "simd_per_cu", simds },
		{ "se_per_gpu", engines },
		{ "wave_size", counter_property(text, "wave_front_size") },
		{ "workgroup_max_size", 0 },
		{ "max_waves_per_cu", counter_property(text, "max_waves_per_simd") * simds },
		{ "max_sclk", clock },
		{ "max_mclk", 0 },
		{ "cur_sclk", clock },
		{ "cur_mclk", 0 },
		{ "total_l2_chan", channels },
		{ "lds_banks_per_cu", 32 },
		/* Two units share one. */
		{ "sqc_per_gpu", (whole_quotient(units, engines) + 1) / 2 * engines },
		{ "pipes_per_gpu", 4 },
		{ "num_xcd", xccs },
		{ "num_hbm_channels", channels },
	};

	memcpy(ret, numbers, sizeof(numbers));
}

static void texts_write(FILE *out, const struct system_info *info)
{
	char model[32], when[64] = "";
	time_t now = time(NULL);
	struct utsname machine = { 0 };
	struct tm local;

	device_model(info->device, model, sizeof(model));
	uname(&machine);
	if (localtime_r(&now, &local))
		strftime(when, sizeof(when), "%F %T %z", &local);
	csv_text_write(out, info->workload);
	fputc(',', out);
	csv_text_write(out, info->command);
	print(out, ",SQ|LDS|SQC|TA|TD|TCP|TCC|SPI|CPC|CPF,%s,3,%s,%s,%s,%s", when, machine.nodename,
	      machine.release, model, info->device->architecture);
}

int system_info_write(const struct system_info *info, const char *path, struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	struct system_number numbers[NUMBERS];
	int r = output_open(&file, path, err);

	if (r)
		return r;
	numbers_fill(info->device, numbers);
	fputs("workload_name,command,ip_blocks,timestamp,version,hostname,linux_kernel_version,"
	      "gpu_model,gpu_arch",
	      file.out);
	for (size_t i = 0; i < NUMBERS; i++)
		print(file.out, ",%s", numbers[i].name);
	fputc('\n', file.out);
	texts_write(file.out, info);
	for (size_t i = 0; i < NUMBERS; i++)
		print(file.out, ",%llu", (unsigned long long)numbers[i].value);
	fputc('\n', file.out);
	return output_commit(&file, err);
}
