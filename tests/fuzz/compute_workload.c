/*
 * Fuzzes the folder of a workload: sysinfo.csv, pmc_perf.csv and profiling_config.yaml, with a byte
 * of 1 between, as anybody's recording may have them; and what formulas come to over it.
 */
#include "compute_file.h"

#include "workload.h"

#include <string.h>

#define BETWEEN 1

static const uint8_t *part_write(const char *name, const uint8_t *bytes, const uint8_t *end)
{
	const uint8_t *next = bytes < end ? memchr(bytes, BETWEEN, (size_t)(end - bytes)) : NULL;

	compute_file(name, bytes, (size_t)((next ? next : end) - bytes));
	return next ? next + 1 : end;
}

static void must_be_computed(struct workload *workload)
{
	static const char *const formulas[] = {
		"AVG(SQ_WAVES)",
		"($cu_per_gpu * $max_waves_per_cu)",
		"MAX((SQ_WAVES / $denom))",
		"QUANTILE(SQ_WAVES, 0.25) + STD(SQ_WAVES)",
		"AVG((100 * SQ_WAVES / $GRBM_GUI_ACTIVE_PER_XCD) if ($numActiveCUs != 0) else None)",
	};
	struct err err = { 0 };

	if (workload_prepare(workload, "per_kernel", &err)) {
		must(err.what[0]);
		return;
	}
	for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++) {
		(void)workload_evaluate(workload, formulas[i], NULL);
		(void)workload_evaluate(workload, formulas[i], "SQ_LEVEL_WAVES");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = bytes + size, *at = part_write("sysinfo.csv", bytes, end);
	struct workload workload = { 0 };
	struct err err = { 0 };
	int r;

	at = part_write("pmc_perf.csv", at, end);
	(void)part_write("profiling_config.yaml", at, end);
	r = workload_read(&workload, compute_folder(), &err);
	must(!r || err.what[0]);
	if (r)
		return 0;
	must(workload.frame.names.count < 1u << 20);
	must_be_computed(&workload);
	workload_done(&workload);
	return 0;
}
