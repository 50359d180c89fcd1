/*
 * Finds CUPTI: where the loader does, then where NVIDIA installs it; the first that has all that is
 * called.  A CUPTI that the measured process brings along is never loaded: limpet may be root, and
 * its author is not known.
 */
#include "nvml/cupti.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ENTRY(member, name)                          \
	{                                            \
		name, offsetof(struct cupti, member) \
	}

struct entry {
	const char *name;
	size_t offset;
};

static const struct entry cuda_entries[] = {
	ENTRY(cuda_init, "cuInit"),
	ENTRY(cuda_device_count, "cuDeviceGetCount"),
	ENTRY(cuda_bus, "cuDeviceGetPCIBusId"),
	ENTRY(cuda_error, "cuGetErrorString"),
};

static const struct entry cupti_entries[] = {
	ENTRY(error, "cuptiGetResultString"),
	ENTRY(initialize, "cuptiProfilerInitialize"),
	ENTRY(chip, "cuptiDeviceGetChipName"),
	ENTRY(availability, "cuptiPmSamplingGetCounterAvailability"),
	ENTRY(host_new, "cuptiProfilerHostInitialize"),
	ENTRY(host_free, "cuptiProfilerHostDeinitialize"),
	ENTRY(base_metrics, "cuptiProfilerHostGetBaseMetrics"),
	ENTRY(properties, "cuptiProfilerHostGetMetricProperties"),
	ENTRY(add_metrics, "cuptiProfilerHostConfigAddMetrics"),
	ENTRY(config_size, "cuptiProfilerHostGetConfigImageSize"),
	ENTRY(config, "cuptiProfilerHostGetConfigImage"),
	ENTRY(passes, "cuptiProfilerHostGetNumOfPasses"),
	ENTRY(evaluate, "cuptiProfilerHostEvaluateToGpuValues"),
	ENTRY(enable, "cuptiPmSamplingEnable"),
	ENTRY(set_config, "cuptiPmSamplingSetConfig"),
	ENTRY(start, "cuptiPmSamplingStart"),
	ENTRY(stop, "cuptiPmSamplingStop"),
	ENTRY(image_size, "cuptiPmSamplingGetCounterDataSize"),
	ENTRY(image_clear, "cuptiPmSamplingCounterDataImageInitialize"),
	ENTRY(decode, "cuptiPmSamplingDecodeData"),
	ENTRY(image_info, "cuptiPmSamplingGetCounterDataInfo"),
	ENTRY(sample, "cuptiPmSamplingCounterDataGetSampleInfo"),
};

static const char *const places[] = {
	"libcupti.so.13",
	"libcupti.so.12",
	"/usr/local/cuda/lib64/libcupti.so.13",
	"/usr/local/cuda/lib64/libcupti.so.12",
	"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
	"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12",
};

static bool entries_find(struct cupti *ret, void *library, const struct entry *entries,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		void *found = dlsym(library, entries[i].name);

		if (!found)
			return false;
		*(void **)((char *)ret + entries[i].offset) = found;
	}
	return true;
}

/* Loads CUPTI's own helper libraries from its folder, where the loader would not search. */
static void helpers_load(const char *path)
{
	static const char *const siblings[] = { "libnvperf_target.so", "libnvperf_host.so" };
	const char *slash = strrchr(path, '/');
	char sibling[PATH_MAX];

	for (size_t i = 0; slash && i < ARRAY_SIZE(siblings); i++) {
		snprintf(sibling, sizeof(sibling), "%.*s/%s", (int)(slash - path), path,
			 siblings[i]);
		(void)!dlopen(sibling, RTLD_NOW | RTLD_GLOBAL);
	}
}

static bool library_take(struct cupti *ret, void *library, const char *path)
{
	if (!entries_find(ret, library, cupti_entries, ARRAY_SIZE(cupti_entries))) {
		dlclose(library);
		return false;
	}
	helpers_load(path);
	return true;
}

int cupti_open(struct cupti *ret)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
	bool has_old = false;

	if (!cuda || !entries_find(ret, cuda, cuda_entries, ARRAY_SIZE(cuda_entries)))
		return GPU_PM_REFUSED + 1;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		void *library = dlopen(places[i], RTLD_NOW);

		if (library && library_take(ret, library, places[i]))
			return 0;
		has_old |= library != NULL;
	}
	return (has_old ? GPU_PM_OLD_LIBRARY : GPU_PM_NO_LIBRARY) + 1;
}
