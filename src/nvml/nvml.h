/*
 * limpet-nvml: reads devices through NVIDIA's management library, which must never be loaded into a
 * target.  A process of its own, since limpet is static and the library is not.  The called part of
 * NVML is declared here: the build needs none of its headers.
 *
 * main.c      speaks with limpet
 * library.c   finds the functions of all libraries
 * readings.c  reads one device
 * pm.h        counters that CUPTI samples
 */
#pragma once

#include "shared/wire/gpu_metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct nvml_sampled {
	uint32_t metric;
	int result;
	double value;
	const char *names[3];
};
struct nvml_sampled_all {
	uint32_t version, count;
	void *before, *after;
	struct nvml_sampled metrics[GPU_METRICS];
	struct nvml_sampled unused[512]; /* newer ones may think of more */
};
struct nvml_sampling_support {
	uint32_t version, is_supported;
};
struct nvml_utilization {
	uint32_t gpu, memory;
};
struct nvml_memory {
	uint64_t total, free, used;
};
struct nvml_process_sample {
	uint32_t pid;
	uint64_t time_us;
	uint32_t sm, memory, encoder, decoder;
};
struct nvml_process {
	uint32_t pid;
	uint64_t memory;
	uint32_t gpu_instance, compute_instance;
};

/* The public interface's functions; all return 0 for success.  Those for sampling and for buses may
 * be NULL. */
struct nvml {
	int (*init)(void);
	const char *(*error)(int result);
	int (*device_count)(uint32_t *ret);
	int (*device)(uint32_t index, void **ret);
	int (*device_by_bus)(const char *bus, void **ret);
	int (*device_name)(void *device, char *ret, uint32_t room);
	int (*power)(void *device, uint32_t *ret_mw);
	int (*clock)(void *device, int kind, uint32_t *ret_mhz);
	int (*memory)(void *device, struct nvml_memory *ret);
	int (*utilization)(void *device, struct nvml_utilization *ret);
	int (*temperature)(void *device, int sensor, uint32_t *ret);
	int (*process_samples)(void *device, struct nvml_process_sample *ret, uint32_t *count,
			       uint64_t since_us);
	int (*processes)(void *device, uint32_t *count, struct nvml_process *ret);
	int (*sampling_support)(void *device, struct nvml_sampling_support *ret);
	int (*sample_new)(void **ret);
	int (*sample_take)(void *device, void *sample);
	int (*sample_compare)(struct nvml_sampled_all *all);
};
/* 0, or which failure: enum gpu_failure and one. */
int nvml_open(struct nvml *ret);

/* CLOCK_MONOTONIC. */
static inline uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct device {
	void *handle;
	void *samples[2]; /* NULL: it has no sampling */
	unsigned latest;  /* which of them */
	bool has_latest;
	uint64_t begin_ns;
	uint64_t seen_us; /* of the last sample of a process */
};
void device_open(const struct nvml *nvml, struct device *device);
/* A window begins. */
void device_begin(const struct nvml *nvml, struct device *device);
/* It ends, and the next one begins. */
void device_read(const struct nvml *nvml, struct device *device, uint32_t pid,
		 struct gpu_message *ret);
