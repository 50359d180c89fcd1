/*
 * Chooses the sampled metrics.  They must fit into one pass: the running program is not run again.
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

bool pm_fail(struct pm_failure *failure, enum gpu_failure code, const char *text)
{
	failure->code = code;
	snprintf(failure->text, sizeof(failure->text), "%s", text ? text : "");
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

bool pm_check(const struct cupti *cupti, int result, struct pm_failure *failure)
{
	const char *text = NULL;

	if (!result)
		return true;
	if (cupti->error(result, &text) || !text)
		text = "";
	return pm_fail(failure, failure_of(result), text);
}

bool pm_chip_open(const struct cupti *cupti, struct pm_chip *chip, struct pm_failure *failure)
{
	struct cupti_chip name = CUPTI_GIVEN(struct cupti_chip, name, .device = chip->device);
	struct cupti_availability asked =
		CUPTI_GIVEN(struct cupti_availability, image, .device = chip->device);

	if (!pm_check(cupti, cupti->chip(&name), failure) ||
	    !pm_check(cupti, cupti->availability(&asked), failure))
		return false;
	chip->name = name.name;
	chip->availability = asked.image = calloc(1, asked.image_size);
	if (!asked.image)
		return pm_fail(failure, GPU_PM_REFUSED, "no memory");
	return pm_check(cupti, cupti->availability(&asked), failure);
}

static bool config_read(const struct cupti *cupti, struct cupti_config *ret,
			struct pm_failure *failure)
{
	struct cupti_config_size size =
		CUPTI_GIVEN(struct cupti_config_size, config_size, .host = ret->host);

	if (!pm_check(cupti, cupti->config_size(&size), failure))
		return false;
	ret->config_size = size.config_size;
	ret->config = malloc(size.config_size);
	if (!ret->config)
		return pm_fail(failure, GPU_PM_REFUSED, "no memory");
	return pm_check(cupti, cupti->config(ret), failure);
}

static bool passes_check(const struct cupti *cupti, const struct cupti_config *config,
			 struct pm_failure *failure)
{
	struct cupti_passes passes =
		CUPTI_GIVEN(struct cupti_passes, passes, .config_size = config->config_size,
			    .config = config->config);
	char text[32];

	if (!pm_check(cupti, cupti->passes(&passes), failure))
		return false;
	if (passes.passes <= 1)
		return true;
	snprintf(text, sizeof(text), "%zu", passes.passes);
	return pm_fail(failure, GPU_PM_PASSES, text);
}

static void host_free(const struct cupti *cupti, struct cupti_config *config)
{
	struct cupti_host ended = CUPTI_GIVEN(struct cupti_host, host, .host = config->host);

	(void)!cupti->host_free(&ended);
	free(config->config);
}

/* Alone: is it there? */
static bool metric_is_known(const struct cupti *cupti, void *host, const char *name)
{
	struct cupti_add_metrics added = CUPTI_GIVEN(struct cupti_add_metrics, count, .host = host,
						     .names = &name, .count = 1);

	return !cupti->add_metrics(&added);
}

/* All at once: each call would take passes of its own. */
static bool metrics_add(const struct cupti *cupti, void *host, const struct pm_metrics *metrics,
			struct pm_failure *failure)
{
	struct cupti_add_metrics added =
		CUPTI_GIVEN(struct cupti_add_metrics, count, .host = host, .names = metrics->names,
			    .count = metrics->count);
	int result = cupti->add_metrics(&added);

	for (size_t i = 0; result && i < metrics->count; i++)
		if (!metric_is_known(cupti, host, metrics->names[i]))
			return pm_fail(failure, GPU_PM_UNKNOWN_METRIC, metrics->names[i]);
	return pm_check(cupti, result, failure);
}

bool pm_configure(const struct cupti *cupti, const struct pm_chip *chip,
		  const struct pm_metrics *metrics, struct cupti_config *ret,
		  struct pm_failure *failure)
{
	struct cupti_host_new made =
		CUPTI_GIVEN(struct cupti_host_new, host, .profiler = CUPTI_PM_SAMPLING,
			    .chip = chip->name, .availability = chip->availability);

	*ret = (struct cupti_config)CUPTI_GIVEN(struct cupti_config, config, .unused = NULL);
	if (!pm_check(cupti, cupti->host_new(&made), failure))
		return false;
	ret->host = made.host;
	if (metrics_add(cupti, made.host, metrics, failure) && config_read(cupti, ret, failure) &&
	    passes_check(cupti, ret, failure))
		return true;
	host_free(cupti, ret);
	return false;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

/* Over all units of a chip, or for each of them: both are counts, and add up over time. */
static void metric_add(struct pm_metrics *metrics, const char *name)
{
	metrics->names[metrics->count] = name;
	metrics->adds_up[metrics->count++] = ends_with(name, ".sum") || ends_with(name, ".avg");
}

/* The least and the most of units are counts, too, but not of the same unit in each sample. */
static bool is_of_windows(const char *name)
{
	return !ends_with(name, ".min") && !ends_with(name, ".max");
}

static bool metrics_fit(const struct cupti *cupti, const struct pm_chip *chip,
			const struct pm_metrics *metrics, struct pm_failure *failure)
{
	struct cupti_config config;

	if (!pm_configure(cupti, chip, metrics, &config, failure))
		return false;
	host_free(cupti, &config);
	return true;
}

/* Chips differ in their metrics, and in how many they count at once. */
static bool choose_usual(const struct cupti *cupti, const struct pm_chip *chip,
			 struct pm_metrics *ret, struct pm_failure *failure)
{
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		metric_add(ret, usual[i]);
		if (metrics_fit(cupti, chip, ret, failure))
			continue;
		ret->count--;
		if (failure->code != GPU_PM_UNKNOWN_METRIC && failure->code != GPU_PM_PASSES)
			return false;
	}
	return ret->count || pm_fail(failure, GPU_PM_NO_CHIP, chip->name);
}

bool pm_metrics_choose(const struct cupti *cupti, const struct pm_chip *chip, const char *list,
		       struct pm_metrics *ret, struct pm_failure *failure)
{
	char *rest = NULL;

	*ret = (struct pm_metrics){ 0 };
	if (!list[0])
		return choose_usual(cupti, chip, ret, failure);
	if (strlen(list) >= sizeof(ret->text))
		return pm_fail(failure, GPU_PM_TOO_MANY, "");
	memcpy(ret->text, list, strlen(list) + 1);
	for (char *name = strtok_r(ret->text, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest)) {
		if (ret->count == GPU_COUNTED_MAX)
			return pm_fail(failure, GPU_PM_TOO_MANY, "");
		if (strlen(name) >= GPU_TEXT_MAX)
			return pm_fail(failure, GPU_PM_UNKNOWN_METRIC, name);
		if (!is_of_windows(name))
			return pm_fail(failure, GPU_PM_NOT_OF_WINDOWS, name);
		metric_add(ret, name);
	}
	return metrics_fit(cupti, chip, ret, failure);
}
