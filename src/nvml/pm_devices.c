/*
 * All devices that CUPTI can sample, under NVML's numbers: CUDA may number them differently, and
 * list fewer (CUDA_VISIBLE_DEVICES).
 */
#include "nvml/pm.h"

#define BUS_ROOM 32

static bool cuda_begin(struct pm *pm, int *ret_count)
{
	int result = pm->cupti.cuda_init(0);
	const char *text = NULL;

	if (!result)
		result = pm->cupti.cuda_device_count(ret_count);
	if (!result && *ret_count > 0)
		return true;
	if (!result || pm->cupti.cuda_error(result, &text))
		text = "CUDA has no device";
	return pm_fail(pm, GPU_PM_REFUSED, text);
}

/* One that cannot be sampled does not hide the others. */
bool pm_open(struct pm *pm)
{
	struct cupti_plain given = CUPTI_GIVEN(struct cupti_plain, unused, .unused = NULL);
	int count = 0, r = cupti_open(&pm->cupti);

	if (r)
		return pm_fail(pm, (enum gpu_failure)(r - 1), "libcuda.so.1 is not there");
	if (!cuda_begin(pm, &count) || !pm_check(pm, pm->cupti.initialize(&given)))
		return false;
	for (int i = 0; i < MIN(count, (int)GPU_DEVICES_MAX); i++) {
		struct pm_chip chip = { .device = (size_t)i };

		if (pm_chip_open(pm, &chip))
			pm->devices[pm->count++].chip = chip;
	}
	return pm->count > 0;
}

/* UINT32_MAX: not in NVML. */
static uint32_t number_find(const struct pm *pm, const struct pm_device *device,
			    const struct nvml *nvml, const struct device *known, uint32_t count)
{
	char bus[BUS_ROOM] = "";
	void *handle = NULL;

	if (count == 1 && pm->count == 1)
		return 0;
	if (!nvml->device_by_bus ||
	    pm->cupti.cuda_bus(bus, sizeof(bus), (int)device->chip.device) ||
	    nvml->device_by_bus(bus, &handle))
		return UINT32_MAX;
	for (uint32_t i = 0; i < count; i++)
		if (known[i].handle == handle)
			return i;
	return UINT32_MAX;
}

bool pm_prepare(struct pm *pm, const struct nvml *nvml, const struct device *known, uint32_t count,
		const char *metrics, uint64_t interval_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < pm->count; i++) {
		pm->devices[i].number = number_find(pm, &pm->devices[i], nvml, known, count);
		if (pm->devices[i].number != UINT32_MAX)
			pm->devices[kept++] = pm->devices[i];
	}
	pm->count = kept;
	if (!pm->count)
		return pm_fail(pm, GPU_PM_REFUSED, "NVML does not know CUDA's devices");
	if (!pm_metrics_choose(pm, &pm->devices[0].chip, metrics))
		return false;
	for (size_t i = 0; i < pm->count; i++)
		if (!pm_device_open(pm, &pm->devices[i], interval_ns))
			return false;
	return true;
}
