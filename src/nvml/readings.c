/*
 * The readings of one device at the end of a window.  A missing one is left out, never 0.
 */
#include "nvml/nvml.h"

#define BYTES_PER_MIB    1048576.0
#define PROCESSES_MAX    256u
#define SAMPLING_VERSION 1u
#define LINKS_FROM       20u /* numbers of PCIe's and NVLink's traffic */

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { SENSOR_DEVICE = 0 };

/* How sampling numbers each metric; 0: not by sampling. */
static const uint32_t sampled[GPU_METRICS] = {
#define GPU_METRIC(name, key, unit, number, description) [GPU_##name] = number,
#include "shared/wire/gpu_metrics.def"
};

static void message_put(struct gpu_message *message, enum gpu_metric metric, double value)
{
	message->values[metric] = value;
	message->present |= 1u << metric;
}

void device_open(const struct nvml *nvml, struct device *device)
{
	struct nvml_sampling_support support = { SAMPLING_VERSION, 0 };

	if (!nvml->sampling_support || !nvml->sample_new || !nvml->sample_take ||
	    !nvml->sample_compare || nvml->sampling_support(device->handle, &support) ||
	    !support.is_supported || nvml->sample_new(&device->samples[0]) ||
	    nvml->sample_new(&device->samples[1]))
		device->samples[0] = device->samples[1] = NULL;
}

/* Samples of earlier windows do not count. */
void device_begin(const struct nvml *nvml, struct device *device)
{
	struct nvml_process_sample samples[PROCESSES_MAX];
	uint32_t count = PROCESSES_MAX;

	device->has_latest = device->samples[0] &&
			     !nvml->sample_take(device->handle, device->samples[device->latest]);
	if (nvml->process_samples(device->handle, samples, &count, device->seen_us))
		count = 0;
	for (uint32_t i = 0; i < MIN(count, PROCESSES_MAX); i++)
		device->seen_us = MAX(device->seen_us, samples[i].time_us);
	device->begin_ns = clock_ns();
}

/* Traffic of links is in MiB there. */
static void sampled_put(const struct nvml_sampled_all *all, struct gpu_message *message)
{
	for (uint32_t i = 0, at = 0; i < GPU_METRICS; i++) {
		double factor = sampled[i] >= LINKS_FROM ? BYTES_PER_MIB : 1;

		if (!sampled[i])
			continue;
		if (!all->metrics[at].result)
			message_put(message, (enum gpu_metric)i, all->metrics[at].value * factor);
		at++;
	}
}

/* The difference of two samples, of which the later one begins the next window. */
static void read_sampled(const struct nvml *nvml, struct device *device,
			 struct gpu_message *message)
{
	struct nvml_sampled_all all = { .version = SAMPLING_VERSION };
	unsigned next = !device->latest;

	if (!device->samples[0] || nvml->sample_take(device->handle, device->samples[next]))
		return;
	all.before = device->samples[device->latest];
	all.after = device->samples[next];
	for (uint32_t i = 0; i < GPU_METRICS; i++)
		if (sampled[i])
			all.metrics[all.count++].metric = sampled[i];
	if (device->has_latest && !nvml->sample_compare(&all))
		sampled_put(&all, message);
	device->latest = next;
	device->has_latest = true;
}

static void read_levels(const struct nvml *nvml, struct device *device, struct gpu_message *message)
{
	struct nvml_utilization utilization;
	struct nvml_memory memory;
	uint32_t value;

	if (!nvml->power(device->handle, &value))
		message_put(message, GPU_POWER, value / 1000.0);
	if (!nvml->clock(device->handle, CLOCK_SM, &value))
		message_put(message, GPU_SM_CLOCK, value);
	if (!nvml->clock(device->handle, CLOCK_MEMORY, &value))
		message_put(message, GPU_MEMORY_CLOCK, value);
	if (!nvml->temperature(device->handle, SENSOR_DEVICE, &value))
		message_put(message, GPU_TEMPERATURE, value);
	if (!nvml->memory(device->handle, &memory))
		message_put(message, GPU_MEMORY_USED, (double)memory.used);
	if (!nvml->utilization(device->handle, &utilization))
		message_put(message, GPU_UTILIZATION, utilization.gpu);
}

static void read_process_samples(const struct nvml *nvml, struct device *device, uint32_t pid,
				 struct gpu_message *message)
{
	struct nvml_process_sample samples[PROCESSES_MAX];
	uint32_t count = PROCESSES_MAX, found = 0;
	uint64_t latest_us = device->seen_us;
	double sum = 0;

	if (nvml->process_samples(device->handle, samples, &count, device->seen_us))
		return;
	for (uint32_t i = 0; i < MIN(count, PROCESSES_MAX); i++) {
		latest_us = MAX(latest_us, samples[i].time_us);
		if (samples[i].pid != pid || samples[i].time_us <= device->seen_us)
			continue;
		sum += samples[i].sm;
		found++;
	}
	device->seen_us = latest_us;
	if (found)
		message_put(message, GPU_PROCESS_SM, sum / found);
}

static void read_process_memory(const struct nvml *nvml, const struct device *device, uint32_t pid,
				struct gpu_message *message)
{
	struct nvml_process processes[PROCESSES_MAX];
	uint32_t count = PROCESSES_MAX;

	if (!nvml->processes || nvml->processes(device->handle, &count, processes))
		return;
	for (uint32_t i = 0; i < MIN(count, PROCESSES_MAX); i++)
		if (processes[i].pid == pid && processes[i].memory != UINT64_MAX)
			message_put(message, GPU_PROCESS_MEMORY, (double)processes[i].memory);
}

void device_read(const struct nvml *nvml, struct device *device, uint32_t pid,
		 struct gpu_message *ret)
{
	*ret = (struct gpu_message){ .magic = GPU_MAGIC,
				     .kind = GPU_WINDOW,
				     .begin_ns = device->begin_ns };
	read_sampled(nvml, device, ret);
	read_levels(nvml, device, ret);
	if (pid) {
		read_process_samples(nvml, device, pid, ret);
		read_process_memory(nvml, device, pid, ret);
	}
	ret->end_ns = device->begin_ns = clock_ns();
}
