/*
 * Finds CUPTI: the one that the measured process has mapped, then where the loader finds it, then
 * where NVIDIA installs it.  That of the process is only loaded where nobody but root and the
 * caller can have put it there, since limpet may be root.
 */
#include "nvml/cupti.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static const char *const names[] = { "libcupti.so.13", "libcupti.so.12" };
static const char *const places[] = {
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

/* Only root and the caller can change what is there. */
static bool place_is_safe(const char *path)
{
	struct stat facts;

	if (lstat(path, &facts) || (facts.st_uid && facts.st_uid != geteuid()))
		return false;
	return !(facts.st_mode & S_IWOTH) && (!(facts.st_mode & S_IWGRP) || !facts.st_gid);
}

/* Nor in a folder above. */
static bool path_is_safe(char *path)
{
	char *slash;

	if (path[0] != '/' || !place_is_safe(path))
		return false;
	while ((slash = strrchr(path, '/')) && slash != path) {
		*slash = '\0';
		if (!place_is_safe(path))
			return false;
	}
	return place_is_safe("/");
}

/* It looks for libraries of its own in its folder only where the loader would. */
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

static void *library_load(const char *path)
{
	helpers_load(path);
	return dlopen(path, RTLD_NOW);
}

static void *library_load_first(const char *const *paths, size_t count)
{
	void *library = NULL;

	for (size_t i = 0; !library && i < count; i++)
		library = library_load(paths[i]);
	return library;
}

static void *library_load_safe(const char *path)
{
	char real[PATH_MAX], checked[PATH_MAX];

	if (!path[0] || !realpath(path, real))
		return NULL;
	memcpy(checked, real, sizeof(checked));
	return path_is_safe(checked) ? library_load(real) : NULL;
}

static void *library_open(const char *path)
{
	void *library = library_load_safe(path);

	if (!library)
		library = library_load_first(names, ARRAY_SIZE(names));
	return library ? library : library_load_first(places, ARRAY_SIZE(places));
}

int cupti_open(struct cupti *ret, const char *path)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *library;

	if (!cuda || !entries_find(ret, cuda, cuda_entries, ARRAY_SIZE(cuda_entries)))
		return GPU_PM_REFUSED + 1;
	library = library_open(path);
	if (!library)
		return GPU_PM_NO_LIBRARY + 1;
	return entries_find(ret, library, cupti_entries, ARRAY_SIZE(cupti_entries))
		       ? 0
		       : GPU_PM_OLD_LIBRARY + 1;
}
