/*
 * Chooses the sampled metrics, and lists all that there are.  They must fit into one pass: the
 * running program is not run again.
 */
#include "nvml/pm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most wanted first. */
static const char *const usual[] = {
	"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__warps_active.avg.pct_of_peak_sustained_elapsed",
	"dram__bytes.avg.pct_of_peak_sustained_elapsed",
	"dram__bytes_read.sum.per_second",
	"dram__bytes_write.sum.per_second",
	"sm__inst_executed.avg.per_cycle_elapsed",
	"sm__inst_issued.avg.pct_of_peak_sustained_elapsed",
	"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed",
	"gr__cycles_active.avg.pct_of_peak_sustained_elapsed",
	"lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
	"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
	"pcie__read_bytes.sum.per_second",
	"pcie__write_bytes.sum.per_second",
	"nvlrx__bytes.sum.per_second",
	"nvltx__bytes.sum.per_second",
};

bool pm_fail(struct pm *pm, enum gpu_failure code, const char *text)
{
	pm->failure.code = code;
	snprintf(pm->failure.text, sizeof(pm->failure.text), "%s", text ? text : "");
	return false;
}

static enum gpu_failure failure_of(int result)
{
	if (result == CUPTI_NO_RIGHTS || result == CUPTI_NO_RIGHTS_VIRTUAL)
		return GPU_PM_NO_RIGHTS;
	if (result == CUPTI_HARDWARE_BUSY)
		return GPU_PM_HELD;
	if (result == CUPTI_NOT_SUPPORTED ||
	    (result >= CUPTI_NOT_FOR_DEVICES_FIRST && result <= CUPTI_NOT_FOR_DEVICES_LAST))
		return GPU_PM_NO_CHIP;
	return GPU_PM_REFUSED;
}

bool pm_check(struct pm *pm, int result)
{
	const char *text = NULL;

	if (!result)
		return true;
	if (pm->cupti.error(result, &text))
		text = NULL;
	return pm_fail(pm, failure_of(result), text);
}

bool pm_chip_open(struct pm *pm, struct pm_chip *chip)
{
	struct cupti_chip name = CUPTI_GIVEN(struct cupti_chip, name, .device = chip->device);
	struct cupti_availability asked =
		CUPTI_GIVEN(struct cupti_availability, image, .device = chip->device);

	if (!pm_check(pm, pm->cupti.chip(&name)) || !pm_check(pm, pm->cupti.availability(&asked)))
		return false;
	chip->name = name.name;
	chip->availability = asked.image = calloc(1, asked.image_size);
	if (!asked.image)
		return pm_fail(pm, GPU_PM_REFUSED, "no memory");
	return pm_check(pm, pm->cupti.availability(&asked));
}

const char *pm_describe(struct pm *pm, void *host, const char *name)
{
	struct cupti_properties facts =
		CUPTI_GIVEN(struct cupti_properties, kind, .host = host, .name = name);

	return pm->cupti.properties(&facts) ? NULL : facts.description;
}

static bool config_read(struct pm *pm, struct cupti_config *ret)
{
	struct cupti_config_size size =
		CUPTI_GIVEN(struct cupti_config_size, config_size, .host = ret->host);

	if (!pm_check(pm, pm->cupti.config_size(&size)))
		return false;
	ret->config_size = size.config_size;
	ret->config = malloc(size.config_size);
	if (!ret->config)
		return pm_fail(pm, GPU_PM_REFUSED, "no memory");
	return pm_check(pm, pm->cupti.config(ret));
}

static bool passes_check(struct pm *pm, const struct cupti_config *config)
{
	struct cupti_passes passes =
		CUPTI_GIVEN(struct cupti_passes, passes, .config_size = config->config_size,
			    .config = config->config);
	char text[32];

	if (!pm_check(pm, pm->cupti.passes(&passes)))
		return false;
	if (passes.passes <= 1)
		return true;
	snprintf(text, sizeof(text), "%zu", passes.passes);
	return pm_fail(pm, GPU_PM_PASSES, text);
}

static void host_free(struct pm *pm, struct cupti_config *config)
{
	struct cupti_host ended = CUPTI_GIVEN(struct cupti_host, host, .host = config->host);

	(void)!pm->cupti.host_free(&ended);
	free(config->config);
}

/* All at once: each call would take passes of its own.  If that fails: which of them is not there?
 */
static bool metrics_add(struct pm *pm, void *host)
{
	const struct pm_metrics *metrics = &pm->metrics;
	struct cupti_add_metrics added =
		CUPTI_GIVEN(struct cupti_add_metrics, count, .host = host, .names = metrics->names,
			    .count = metrics->count);
	int result = pm->cupti.add_metrics(&added);

	for (size_t i = 0; result && i < metrics->count; i++) {
		added.names = &metrics->names[i];
		added.count = 1;
		if (pm->cupti.add_metrics(&added))
			return pm_fail(pm, GPU_PM_UNKNOWN_METRIC, metrics->names[i]);
	}
	return pm_check(pm, result);
}

bool pm_configure(struct pm *pm, const struct pm_chip *chip, struct cupti_config *ret)
{
	struct cupti_host_new made =
		CUPTI_GIVEN(struct cupti_host_new, host, .profiler = CUPTI_PM_SAMPLING,
			    .chip = chip->name, .availability = chip->availability);

	*ret = (struct cupti_config)CUPTI_GIVEN(struct cupti_config, config, .unused = NULL);
	if (!pm_check(pm, pm->cupti.host_new(&made)))
		return false;
	ret->host = made.host;
	if (metrics_add(pm, made.host) && config_read(pm, ret) && passes_check(pm, ret))
		return true;
	host_free(pm, ret);
	return false;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

/* A sum over all units of a chip, and a mean of them: both are counts, and add up over time. */
static void metric_add(struct pm_metrics *metrics, const char *name)
{
	metrics->names[metrics->count] = name;
	metrics->adds_up[metrics->count++] = ends_with(name, ".sum") || ends_with(name, ".avg");
}

static bool metrics_fit(struct pm *pm, const struct pm_chip *chip)
{
	struct cupti_config config;

	if (!pm_configure(pm, chip, &config))
		return false;
	host_free(pm, &config);
	return true;
}

/* Chips differ in their metrics, and in how many they count at once. */
static bool choose_usual(struct pm *pm, const struct pm_chip *chip)
{
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		metric_add(&pm->metrics, usual[i]);
		if (metrics_fit(pm, chip))
			continue;
		pm->metrics.count--;
		if (pm->failure.code != GPU_PM_UNKNOWN_METRIC && pm->failure.code != GPU_PM_PASSES)
			return false;
	}
	return pm->metrics.count || pm_fail(pm, GPU_PM_NO_CHIP, chip->name);
}

bool pm_metrics_choose(struct pm *pm, const struct pm_chip *chip, const char *list)
{
	struct pm_metrics *metrics = &pm->metrics;
	char *rest = NULL;

	*metrics = (struct pm_metrics){ 0 };
	if (!list[0])
		return choose_usual(pm, chip);
	if (strlen(list) >= sizeof(metrics->text))
		return pm_fail(pm, GPU_PM_TOO_MANY, "");
	memcpy(metrics->text, list, strlen(list) + 1);
	for (char *name = strtok_r(metrics->text, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest)) {
		if (metrics->count == GPU_COUNTED_MAX)
			return pm_fail(pm, GPU_PM_TOO_MANY, "");
		if (strlen(name) >= GPU_TEXT_MAX)
			return pm_fail(pm, GPU_PM_UNKNOWN_METRIC, name);
		/* The least and the most of units are counts, too, but not of the same unit in each
		 * sample. */
		if (ends_with(name, ".min") || ends_with(name, ".max"))
			return pm_fail(pm, GPU_PM_NOT_OF_WINDOWS, name);
		metric_add(metrics, name);
	}
	return metrics_fit(pm, chip);
}

bool pm_list(struct pm *pm, void report(const char *name, const char *description))
{
	const struct pm_chip *chip = &pm->devices[0].chip;
	struct cupti_host_new made =
		CUPTI_GIVEN(struct cupti_host_new, host, .profiler = CUPTI_PM_SAMPLING,
			    .chip = chip->name, .availability = chip->availability);

	if (!pm_check(pm, pm->cupti.host_new(&made)))
		return false;
	for (int kind = 0; kind < CUPTI_METRIC_KINDS; kind++) {
		struct cupti_base_metrics found = CUPTI_GIVEN(struct cupti_base_metrics, count,
							      .host = made.host, .kind = kind);

		if (!pm_check(pm, pm->cupti.base_metrics(&found)))
			return false;
		for (size_t i = 0; i < found.count; i++)
			report(found.names[i], pm_describe(pm, made.host, found.names[i]));
	}
	return true;
}
