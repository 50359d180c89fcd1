/*
 * Writes sysinfo.csv: one line of names and one of values.  Unknown numbers that AMD's analysis
 * reads are 0, unknown texts empty.
 */
#include "system_info.h"

#include "host/core/cleanup.h"
#include "host/core/output/output_file.h"
#include "host/core/text/print.h"
#include "workload_files.h"

#include <stdbool.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

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
