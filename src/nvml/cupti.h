/*
 * The part of CUPTI that limpet-nvml calls, declared here: the build needs none of its headers (one
 * of them is C++).  A call takes one structure, which begins with its own size up to its last
 * member; all return 0 for success.
 */
#pragma once

#include "shared/wire/gpu_metrics.h"

#include <stddef.h>

struct cupti_plain {
	size_t size;
	void *unused;
};
struct cupti_chip {
	size_t size;
	void *unused;
	size_t device;
	const char *name;
};
struct cupti_availability {
	size_t size;
	void *unused;
	size_t device, image_size;
	uint8_t *image; /* NULL: how large is it? */
};
struct cupti_host_new {
	size_t size;
	void *unused;
	int profiler; /* CUPTI_PM_SAMPLING */
	const char *chip;
	const uint8_t *availability;
	void *host;
};
struct cupti_host {
	size_t size;
	void *unused, *host;
};
struct cupti_add_metrics {
	size_t size;
	void *unused, *host;
	const char *const *names;
	size_t count;
};
struct cupti_config_size {
	size_t size;
	void *unused, *host;
	size_t config_size;
};
struct cupti_config {
	size_t size;
	void *unused, *host;
	size_t config_size;
	uint8_t *config;
};
struct cupti_passes {
	size_t size;
	void *unused;
	size_t config_size;
	uint8_t *config;
	size_t passes;
};
struct cupti_properties {
	size_t size;
	void *unused, *host;
	const char *name, *description, *part, *dimension;
	int kind;
};
struct cupti_base_metrics {
	size_t size;
	void *unused, *host;
	int kind;
	const char *const *names;
	size_t count;
};
struct cupti_enable {
	size_t size;
	void *unused;
	size_t device;
	void *sampler;
};
struct cupti_sampler {
	size_t size;
	void *unused, *sampler;
};
struct cupti_set_config {
	size_t size;
	void *unused, *sampler;
	size_t config_size;
	const uint8_t *config;
	size_t buffer_size;
	uint64_t interval;
	int trigger, keeps;
};
struct cupti_image_size {
	size_t size;
	void *unused, *sampler;
	const char *const *names;
	size_t count;
	uint32_t samples;
	size_t image_size;
};
struct cupti_image {
	size_t size;
	void *unused, *sampler;
	size_t image_size;
	uint8_t *image;
};
struct cupti_decode {
	size_t size;
	void *unused, *sampler;
	uint8_t *image;
	size_t image_size;
	int reason;
	uint8_t has_overflown;
};
struct cupti_image_info {
	size_t size;
	void *unused;
	const uint8_t *image;
	size_t image_size, total, populated, completed;
};
struct cupti_sample {
	size_t size;
	void *unused, *sampler;
	const uint8_t *image;
	size_t image_size, index;
	uint64_t begin_ns, end_ns; /* of the device's clock */
};
struct cupti_evaluate {
	size_t size;
	void *unused, *host;
	const uint8_t *image;
	size_t image_size, index;
	const char *const *names;
	size_t count;
	double *values;
};
_Static_assert(offsetof(struct cupti_decode, has_overflown) == 44, "as in the header");
_Static_assert(offsetof(struct cupti_set_config, keeps) == 60, "as in the header");
_Static_assert(offsetof(struct cupti_image_size, image_size) == 48, "as in the header");

#define CUPTI_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))
#define CUPTI_GIVEN(type, last, ...)                        \
	{                                                   \
		.size = CUPTI_SIZE(type, last), __VA_ARGS__ \
	}

enum { CUPTI_PM_SAMPLING = 1 };
enum { CUPTI_BY_CYCLES, CUPTI_BY_TIME };
enum { CUPTI_IMAGE_IS_FULL = 1 };
enum { CUPTI_KEEP_OLDEST };
enum { CUPTI_METRIC_KINDS = 3 };

/* Results of its calls. */
enum {
	CUPTI_INVALID_PARAMETER = 1,
	CUPTI_METRIC_IS_UNKNOWN = 17,
	CUPTI_HARDWARE_BUSY = 26,
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_NO_RIGHTS = 35,
	CUPTI_NO_RIGHTS_VIRTUAL = 40,
	CUPTI_NOT_FOR_DEVICES_FIRST = 41, /* confidential computing, CMP, MIG, SLI, WSL, chip */
	CUPTI_NOT_FOR_DEVICES_LAST = 46,
};

/* Its functions: the member of struct cupti, the argument, the name in the library. */
#define CUPTI_FUNCTIONS(FUNCTION)                                                           \
	FUNCTION(initialize, cupti_plain, "cuptiProfilerInitialize")                        \
	FUNCTION(chip, cupti_chip, "cuptiDeviceGetChipName")                                \
	FUNCTION(availability, cupti_availability, "cuptiPmSamplingGetCounterAvailability") \
	FUNCTION(host_new, cupti_host_new, "cuptiProfilerHostInitialize")                   \
	FUNCTION(host_free, cupti_host, "cuptiProfilerHostDeinitialize")                    \
	FUNCTION(base_metrics, cupti_base_metrics, "cuptiProfilerHostGetBaseMetrics")       \
	FUNCTION(properties, cupti_properties, "cuptiProfilerHostGetMetricProperties")      \
	FUNCTION(add_metrics, cupti_add_metrics, "cuptiProfilerHostConfigAddMetrics")       \
	FUNCTION(config_size, cupti_config_size, "cuptiProfilerHostGetConfigImageSize")     \
	FUNCTION(config, cupti_config, "cuptiProfilerHostGetConfigImage")                   \
	FUNCTION(passes, cupti_passes, "cuptiProfilerHostGetNumOfPasses")                   \
	FUNCTION(evaluate, cupti_evaluate, "cuptiProfilerHostEvaluateToGpuValues")          \
	FUNCTION(enable, cupti_enable, "cuptiPmSamplingEnable")                             \
	FUNCTION(set_config, cupti_set_config, "cuptiPmSamplingSetConfig")                  \
	FUNCTION(start, cupti_sampler, "cuptiPmSamplingStart")                              \
	FUNCTION(stop, cupti_sampler, "cuptiPmSamplingStop")                                \
	FUNCTION(image_size, cupti_image_size, "cuptiPmSamplingGetCounterDataSize")         \
	FUNCTION(image_clear, cupti_image, "cuptiPmSamplingCounterDataImageInitialize")     \
	FUNCTION(decode, cupti_decode, "cuptiPmSamplingDecodeData")                         \
	FUNCTION(image_info, cupti_image_info, "cuptiPmSamplingGetCounterDataInfo")         \
	FUNCTION(sample, cupti_sample, "cuptiPmSamplingCounterDataGetSampleInfo")

#define CUPTI_MEMBER(member, type, name) int (*member)(struct type * given);

struct cupti {
	/* Of libcuda.so.1. */
	int (*cuda_init)(unsigned flags);
	int (*cuda_device_count)(int *ret);
	int (*cuda_bus)(char *ret, int room, int device);
	int (*cuda_error)(int result, const char **ret);

	int (*error)(int result, const char **ret);
	CUPTI_FUNCTIONS(CUPTI_MEMBER)
};

/* 0, or which failure: enum gpu_failure and one. */
int cupti_open(struct cupti *ret);
