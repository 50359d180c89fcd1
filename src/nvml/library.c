/*
 * Finds NVML, through the loader's own search.
 */
#include "nvml/nvml.h"

#include <dlfcn.h>

#define ENTRY(member, is_needed, name)                         \
	{                                                      \
		name, offsetof(struct nvml, member), is_needed \
	}

static const struct entry {
	const char *name;
	size_t offset;
	bool is_needed;
} entries[] = {
	ENTRY(init, true, "nvmlInit_v2"),
	ENTRY(error, true, "nvmlErrorString"),
	ENTRY(device_count, true, "nvmlDeviceGetCount_v2"),
	ENTRY(device, true, "nvmlDeviceGetHandleByIndex_v2"),
	ENTRY(device_by_bus, false, "nvmlDeviceGetHandleByPciBusId_v2"),
	ENTRY(device_name, true, "nvmlDeviceGetName"),
	ENTRY(power, true, "nvmlDeviceGetPowerUsage"),
	ENTRY(clock, true, "nvmlDeviceGetClockInfo"),
	ENTRY(memory, true, "nvmlDeviceGetMemoryInfo"),
	ENTRY(utilization, true, "nvmlDeviceGetUtilizationRates"),
	ENTRY(temperature, true, "nvmlDeviceGetTemperature"),
	ENTRY(process_samples, true, "nvmlDeviceGetProcessUtilization"),
	ENTRY(processes, false, "nvmlDeviceGetComputeRunningProcesses_v3"),
	ENTRY(sampling_support, false, "nvmlGpmQueryDeviceSupport"),
	ENTRY(sample_new, false, "nvmlGpmSampleAlloc"),
	ENTRY(sample_take, false, "nvmlGpmSampleGet"),
	ENTRY(sample_compare, false, "nvmlGpmMetricsGet"),
};

int nvml_open(struct nvml *ret)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	if (!library)
		return GPU_NO_LIBRARY + 1;
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		void *found = dlsym(library, entries[i].name);

		if (!found && entries[i].is_needed)
			return GPU_OLD_LIBRARY + 1;
		*(void **)((char *)ret + entries[i].offset) = found;
	}
	return 0;
}
