/*
 * STAND-IN, for tests only, of NVIDIA's libnvidia-ml.so.1: two devices that say what can be
 * checked, written to the contract of its public interface as far as limpet uses it.  In no way
 * NVIDIA's.
 *
 *   STANDIN_NVML_PID=N        the process that uses device 0
 *   STANDIN_NVML_OLD=1        devices without sampling of performance
 *   STANDIN_NVML_REFUSES=1    does not begin
 *   STANDIN_NVML_CRASHES=1    ends the process that asks a second time
 */
#include "standin_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB              1048576ull
#define NOT_SUPPORTED    3
#define NOT_FOUND        6
#define WRONG            2
#define DRIVER_NOT_THERE 9
#define LINK_METRICS     60u

struct sample {
	uint64_t taken_ns;
};
struct metric {
	unsigned number;
	int result;
	double value;
	const char *names[3];
};
struct comparison {
	unsigned version, count;
	struct sample *before, *after;
	struct metric metrics[98];
};
struct support {
	unsigned version, is_supported;
};
struct memory {
	unsigned long long total, free, used;
};
struct utilization {
	unsigned gpu, memory;
};
struct process_sample {
	unsigned pid;
	unsigned long long time_us;
	unsigned sm, memory, encoder, decoder;
};
struct process {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2(void);
const char *nvmlErrorString(int result);
int nvmlDeviceGetCount_v2(unsigned *ret);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **ret);
int nvmlDeviceGetName(void *device, char *ret, unsigned room);
int nvmlDeviceGetPowerUsage(void *device, unsigned *ret);
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *ret);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *ret);
int nvmlDeviceGetUtilizationRates(void *device, struct utilization *ret);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *ret);
int nvmlDeviceGetProcessUtilization(void *device, struct process_sample *ret, unsigned *count,
				    unsigned long long since_us);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *ret);
int nvmlGpmQueryDeviceSupport(void *device, struct support *ret);
int nvmlGpmSampleAlloc(struct sample **ret);
int nvmlGpmSampleGet(void *device, struct sample *sample);
int nvmlGpmMetricsGet(struct comparison *ret);

static char devices[2];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static unsigned index_of(const void *device)
{
	return (unsigned)((const char *)device - devices);
}

static unsigned user(void)
{
	const char *text = getenv("STANDIN_NVML_PID");

	return text ? (unsigned)atoi(text) : 1;
}

STANDIN_EXPORT int nvmlInit_v2(void)
{
	return getenv("STANDIN_NVML_REFUSES") ? DRIVER_NOT_THERE : 0;
}

STANDIN_EXPORT const char *nvmlErrorString(int result)
{
	return result == DRIVER_NOT_THERE ? "Driver Not Loaded" : "Unknown Error";
}

STANDIN_EXPORT int nvmlDeviceGetCount_v2(unsigned *ret)
{
	*ret = 2;
	return 0;
}

STANDIN_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret)
{
	*ret = &devices[index % 2];
	return index < 2 ? 0 : WRONG;
}

STANDIN_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **ret)
{
	*ret = &devices[!strcmp(bus, "0000:02:00.0")];
	return strncmp(bus, "0000:0", 6) ? NOT_FOUND : 0;
}

STANDIN_EXPORT int nvmlDeviceGetName(void *device, char *ret, unsigned room)
{
	(void)device;
	snprintf(ret, room, "Stand-in GPU");
	return 0;
}

STANDIN_EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *ret)
{
	*ret = 123450 + index_of(device);
	return 0;
}

STANDIN_EXPORT int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *ret)
{
	(void)device;
	*ret = kind == 1 ? 1980 : 2619;
	return 0;
}

STANDIN_EXPORT int nvmlDeviceGetMemoryInfo(void *device, struct memory *ret)
{
	*ret = (struct memory){ 8000 * MIB, 3000 * MIB, (5000 + index_of(device)) * MIB };
	return 0;
}

STANDIN_EXPORT int nvmlDeviceGetUtilizationRates(void *device, struct utilization *ret)
{
	(void)device;
	*ret = (struct utilization){ 42, 7 };
	return 0;
}

/* Not known of these devices. */
STANDIN_EXPORT int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *ret)
{
	(void)device;
	(void)sensor;
	(void)ret;
	return NOT_SUPPORTED;
}

/* The process, another one, and samples from before. */
STANDIN_EXPORT int nvmlDeviceGetProcessUtilization(void *device, struct process_sample *ret,
						   unsigned *count, unsigned long long since_us)
{
	uint64_t now_us = now_ns() / 1000;

	if (index_of(device) || *count < 3)
		return NOT_FOUND;
	ret[0] = (struct process_sample){ .pid = user(), .time_us = since_us, .sm = 99 };
	ret[1] = (struct process_sample){ .pid = user(), .time_us = now_us, .sm = 30 };
	ret[2] = (struct process_sample){ .pid = 1, .time_us = now_us, .sm = 60 };
	*count = 3;
	return 0;
}

STANDIN_EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
							   struct process *ret)
{
	*count = 0;
	if (index_of(device))
		return 0;
	ret[0] = (struct process){ .pid = 1, .memory = 77 };
	ret[1] = (struct process){ .pid = user(), .memory = 2000 * MIB };
	*count = 2;
	return 0;
}

STANDIN_EXPORT int nvmlGpmQueryDeviceSupport(void *device, struct support *ret)
{
	(void)device;
	if (ret->version != 1)
		return WRONG;
	ret->is_supported = !getenv("STANDIN_NVML_OLD");
	return 0;
}

STANDIN_EXPORT int nvmlGpmSampleAlloc(struct sample **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : WRONG;
}

STANDIN_EXPORT int nvmlGpmSampleGet(void *device, struct sample *sample)
{
	(void)device;
	if (getenv("STANDIN_NVML_CRASHES") && sample->taken_ns)
		abort();
	sample->taken_ns = now_ns();
	return 0;
}

/* Each metric is its number, in percent or MiB a second; devices have no links. */
STANDIN_EXPORT int nvmlGpmMetricsGet(struct comparison *ret)
{
	if (ret->version != 1 || !ret->count || ret->count > 98 || ret->before == ret->after ||
	    !ret->before->taken_ns || ret->before->taken_ns > ret->after->taken_ns)
		return WRONG;
	for (unsigned i = 0; i < ret->count; i++) {
		ret->metrics[i].value = ret->metrics[i].number;
		ret->metrics[i].result = ret->metrics[i].number < LINK_METRICS ? 0 : NOT_SUPPORTED;
	}
	return 0;
}
