/*
 * Writes sysinfo.csv: one line of names and one of values.  Unknown numbers that AMD's analysis
 * reads are 0, unknown texts empty.
 */
#include "system_info.h"

#include "host/core/cleanup.h"
#include "host/core/output/output_file.h"
#include "host/core/text/print.h"
#include "workload_files.h"

#include <ctype.h>
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

static uint64_t property_of(const struct system_info *info, const char *name)
{
	return counter_property(info->device->properties, name);
}

static uint64_t whole_quotient(uint64_t number, uint64_t by)
{
	return by ? number / by : 0;
}

static uint64_t engines_of(const struct system_info *info)
{
	return whole_quotient(property_of(info, "array_count"),
			      property_of(info, "simd_arrays_per_engine"));
}

static uint64_t units_of(const struct system_info *info)
{
	return whole_quotient(property_of(info, "simd_count"), property_of(info, "simd_per_cu"));
}

/* Two units share one. */
static uint64_t instruction_caches_of(const struct system_info *info)
{
	uint64_t engines = engines_of(info), each = whole_quotient(units_of(info), engines);

	return (each + 1) / 2 * engines;
}

static uint64_t xccs_of(const struct system_info *info)
{
	uint64_t count = property_of(info, "num_xcc");

	return count ? count : 1;
}

/* 16 channels of an XCC, before MI300 32. */
static uint64_t channels_of(const struct system_info *info)
{
	bool is_older = !strcmp(info->device->architecture, "gfx908") ||
			!strcmp(info->device->architecture, "gfx90a");

	return xccs_of(info) * (is_older ? 32 : 16);
}

static uint64_t waves_of(const struct system_info *info)
{
	return property_of(info, "max_waves_per_simd") * property_of(info, "simd_per_cu");
}

static uint64_t clock_of(const struct system_info *info)
{
	return property_of(info, "max_engine_clk_fcompute");
}

static uint64_t wave_size_of(const struct system_info *info)
{
	return property_of(info, "wave_front_size");
}

static uint64_t simds_of(const struct system_info *info)
{
	return property_of(info, "simd_per_cu");
}

static uint64_t banks_of(const struct system_info *info)
{
	(void)info;
	return 32;
}

static uint64_t pipes_of(const struct system_info *info)
{
	(void)info;
	return 4;
}

/* Not in the topology. */
static uint64_t untold_of(const struct system_info *info)
{
	(void)info;
	return 0;
}

static const struct {
	const char *name;
	uint64_t (*value)(const struct system_info *info);
} numbers[] = {
	{ "cu_per_gpu", units_of },
	{ "simd_per_cu", simds_of },
	{ "se_per_gpu", engines_of },
	{ "wave_size", wave_size_of },
	{ "workgroup_max_size", untold_of },
	{ "max_waves_per_cu", waves_of },
	{ "max_sclk", clock_of },
	{ "max_mclk", untold_of },
	{ "cur_sclk", clock_of },
	{ "cur_mclk", untold_of },
	{ "total_l2_chan", channels_of },
	{ "lds_banks_per_cu", banks_of },
	{ "sqc_per_gpu", instruction_caches_of },
	{ "pipes_per_gpu", pipes_of },
	{ "num_xcd", xccs_of },
	{ "num_hbm_channels", channels_of },
};

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
	int r = output_open(&file, path, err);

	if (r)
		return r;
	fputs("workload_name,command,ip_blocks,timestamp,version,hostname,linux_kernel_version,"
	      "gpu_model,gpu_arch",
	      file.out);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		print(file.out, ",%s", numbers[i].name);
	fputc('\n', file.out);
	texts_write(file.out, info);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		print(file.out, ",%llu", (unsigned long long)numbers[i].value(info));
	fputc('\n', file.out);
	return output_commit(&file, err);
}
