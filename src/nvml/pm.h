/*
 * PM sampling: counters inside the device, which its hardware sums up over short periods, for all
 * its users.  The periods of a window are put together here.
 *
 * pm.c          the devices: finds, begins, reads, ends
 * pm_metrics.c  which metrics there are, and whether they can be sampled at once
 */
#pragma once

#include "nvml/cupti.h"
#include "nvml/nvml.h"

#define PM_NAMES_ROOM 4096u

/* Metrics that are sampled, alike on all devices. */
struct pm_metrics {
	const char *names[GPU_COUNTED_MAX];
	bool adds_up[GPU_COUNTED_MAX];
	size_t count;
	char text[PM_NAMES_ROOM]; /* the memory of names */
};

/* A chip that CUDA lists and that can be sampled. */
struct pm_chip {
	size_t device; /* as CUDA counts */
	const char *name;
	uint8_t *availability;
};

struct pm_device {
	struct pm_chip chip;
	uint32_t number; /* as limpet counts */
	void *host, *sampler;
	uint8_t *image;
	size_t image_size;
	bool is_first;     /* a sample that began before the start is ignored */
	int64_t offset_ns; /* of its clock to CLOCK_MONOTONIC */
	bool has_offset;
	uint64_t told_ns; /* where the last window ended, by CLOCK_MONOTONIC */

	/* Of the window that is open. */
	bool has_lost;
	uint64_t begin_ns, end_ns; /* of the device's clock; end 0: nothing yet */
	double time_ns;            /* of all samples */
	double sums[GPU_COUNTED_MAX], times_ns[GPU_COUNTED_MAX];
};

struct pm {
	struct cupti cupti;
	struct pm_metrics metrics;
	struct pm_device devices[GPU_DEVICES_MAX];
	size_t count;
	struct {
		enum gpu_failure code;
		char text[GPU_TEXT_MAX];
	} failure;
};

/* Those that follow and are bool: false for a failure, which is in pm. */
bool pm_fail(struct pm *pm, enum gpu_failure code, const char *text);
/* Describes a failed result of CUPTI. */
bool pm_check(struct pm *pm, int result);

bool pm_chip_open(struct pm *pm, struct pm_chip *chip);
/* A host object of the metrics, and its configuration, which the caller frees. */
bool pm_configure(struct pm *pm, const struct pm_chip *chip, struct cupti_config *ret);
/* The metrics of a list with commas; "": the default ones that this chip can count at once. */
bool pm_metrics_choose(struct pm *pm, const struct pm_chip *chip, const char *list);
/* What a metric is; NULL: not known. */
const char *pm_describe(struct pm *pm, void *host, const char *name);
/* All metrics of the first device, by their base names. */
bool pm_list(struct pm *pm, void report(const char *name, const char *description));

bool pm_device_open(struct pm *pm, struct pm_device *device, uint64_t interval_ns);
/* A window begins. */
bool pm_device_start(struct pm *pm, struct pm_device *device);
/* Reads what the hardware has so far. */
bool pm_device_drain(struct pm *pm, struct pm_device *device);
/* The window ends, and the next one begins; false: there is nothing in it, and nothing was lost. */
bool pm_device_window(struct pm_device *device, const struct pm_metrics *metrics,
		      struct gpu_message *ret);
void pm_device_stop(struct pm *pm, struct pm_device *device);

/* The library, and all devices that it can sample. */
bool pm_open(struct pm *pm);
/* Prepares those that NVML lists, too, with its numbers, for these metrics. */
bool pm_prepare(struct pm *pm, const struct nvml *nvml, const struct device *known, uint32_t count,
		const char *metrics, uint64_t interval_ns);
