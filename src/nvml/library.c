/*
 * Finds the libraries: NVML and CUDA through the loader's own search; CUPTI where the loader does,
 * then where NVIDIA installs it, the first that has all that is called.  A CUPTI that the measured
 * process brings along is never loaded: limpet may be root, and its author is not known.
 */
#include "nvml/cupti.h"
#include "nvml/nvml.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct entry {
	const char *name;
	size_t offset;
};

#define ENTRY(type, member, name)                   \
	{                                           \
		name, offsetof(struct type, member) \
	}

static const struct entry nvml_entries[] = {
	ENTRY(nvml, init, "nvmlInit_v2"),
	ENTRY(nvml, error, "nvmlErrorString"),
	ENTRY(nvml, device_count, "nvmlDeviceGetCount_v2"),
	ENTRY(nvml, device, "nvmlDeviceGetHandleByIndex_v2"),
	ENTRY(nvml, device_name, "nvmlDeviceGetName"),
	ENTRY(nvml, power, "nvmlDeviceGetPowerUsage"),
	ENTRY(nvml, clock, "nvmlDeviceGetClockInfo"),
	ENTRY(nvml, memory, "nvmlDeviceGetMemoryInfo"),
	ENTRY(nvml, utilization, "nvmlDeviceGetUtilizationRates"),
	ENTRY(nvml, temperature, "nvmlDeviceGetTemperature"),
	ENTRY(nvml, process_samples, "nvmlDeviceGetProcessUtilization"),
};

/* The functions that may be NULL. */
static const struct entry nvml_optional[] = {
	ENTRY(nvml, device_by_bus, "nvmlDeviceGetHandleByPciBusId_v2"),
	ENTRY(nvml, processes, "nvmlDeviceGetComputeRunningProcesses_v3"),
	ENTRY(nvml, sampling_support, "nvmlGpmQueryDeviceSupport"),
	ENTRY(nvml, sample_new, "nvmlGpmSampleAlloc"),
	ENTRY(nvml, sample_take, "nvmlGpmSampleGet"),
	ENTRY(nvml, sample_compare, "nvmlGpmMetricsGet"),
};

static const struct entry cuda_entries[] = {
	ENTRY(cupti, cuda_init, "cuInit"),
	ENTRY(cupti, cuda_device_count, "cuDeviceGetCount"),
	ENTRY(cupti, cuda_bus, "cuDeviceGetPCIBusId"),
	ENTRY(cupti, cuda_error, "cuGetErrorString"),
};

#define CUPTI_ENTRY(member, type, name) ENTRY(cupti, member, name),

static const struct entry cupti_entries[] = { ENTRY(cupti, error, "cuptiGetResultString"),
					      CUPTI_FUNCTIONS(CUPTI_ENTRY) };

static const char *const cupti_paths[] = {
	"libcupti.so.13",
	"libcupti.so.12",
	"/usr/local/cuda/lib64/libcupti.so.13",
	"/usr/local/cuda/lib64/libcupti.so.12",
	"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
	"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12",
};

/* False: not all are there. */
static bool entries_find(void *ret, void *library, const struct entry *entries, size_t count)
{
	bool has_all = true;

	for (size_t i = 0; i < count; i++) {
		void *found = dlsym(library, entries[i].name);

		has_all &= found != NULL;
		*(void **)((char *)ret + entries[i].offset) = found;
	}
	return has_all;
}

int nvml_open(struct nvml *ret)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	if (!library)
		return GPU_NO_LIBRARY + 1;
	(void)entries_find(ret, library, nvml_optional, ARRAY_SIZE(nvml_optional));
	return entries_find(ret, library, nvml_entries, ARRAY_SIZE(nvml_entries))
		       ? 0
		       : GPU_OLD_LIBRARY + 1;
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

int cupti_open(struct cupti *ret)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
	bool has_old = false;

	if (!cuda || !entries_find(ret, cuda, cuda_entries, ARRAY_SIZE(cuda_entries)))
		return GPU_PM_REFUSED + 1;
	for (size_t i = 0; i < ARRAY_SIZE(cupti_paths); i++) {
		void *library = dlopen(cupti_paths[i], RTLD_NOW);

		if (!library)
			continue;
		if (entries_find(ret, library, cupti_entries, ARRAY_SIZE(cupti_entries))) {
			helpers_load(cupti_paths[i]);
			return 0;
		}
		dlclose(library);
		has_old = true;
	}
	return (has_old ? GPU_PM_OLD_LIBRARY : GPU_PM_NO_LIBRARY) + 1;
}
