/*
 * All devices that CUPTI can sample, under NVML's numbers: CUDA may number them differently, and
 * list fewer (CUDA_VISIBLE_DEVICES).  The hardware of each writes a sample each period into a
 * buffer, which is drained periodically; counts are summed, other values are averaged over time.
 */
#include "nvml/pm.h"

#include <math.h>
#include <stdlib.h>

#define BUS_ROOM        32
#define BUFFER_BYTES    (64u << 20)
#define IMAGE_SAMPLES   64u
#define PERIODS         10u /* of a window */
#define PERIOD_LEAST_NS 1000000ull
#define PERIOD_MOST_NS  100000000ull
#define ROUNDS_MAX      1000u /* of an image; more is not waited for */

static void window_clear(struct pm_device *device)
{
	device->has_lost = false;
	device->begin_ns = device->end_ns = 0;
	device->time_ns = 0;
	for (size_t i = 0; i < GPU_COUNTED_MAX; i++)
		device->sums[i] = device->times_ns[i] = 0;
}

static bool image_clear(struct pm *pm, struct pm_device *device)
{
	struct cupti_image image =
		CUPTI_GIVEN(struct cupti_image, image, .sampler = device->sampler,
			    .image_size = device->image_size, .image = device->image);

	return pm_check(pm, pm->cupti.image_clear(&image));
}

static bool image_open(struct pm *pm, struct pm_device *device)
{
	struct cupti_image_size size = CUPTI_GIVEN(
		struct cupti_image_size, image_size, .sampler = device->sampler,
		.names = pm->metrics.names, .count = pm->metrics.count, .samples = IMAGE_SAMPLES);

	if (!pm_check(pm, pm->cupti.image_size(&size)))
		return false;
	device->image_size = size.image_size;
	device->image = malloc(size.image_size);
	return device->image ? image_clear(pm, device) : pm_fail(pm, GPU_PM_REFUSED, "no memory");
}

/* Some chips have no clock that does not change: there a period is about as many cycles. */
static bool config_set(struct pm *pm, const struct pm_device *device,
		       const struct cupti_config *config, uint64_t interval_ns)
{
	uint64_t period_ns = MAX(interval_ns / PERIODS, (uint64_t)PERIOD_LEAST_NS);
	struct cupti_set_config set = CUPTI_GIVEN(
		struct cupti_set_config, keeps, .sampler = device->sampler,
		.config_size = config->config_size, .config = config->config,
		.buffer_size = BUFFER_BYTES, .interval = MIN(period_ns, (uint64_t)PERIOD_MOST_NS),
		.trigger = CUPTI_BY_TIME, .keeps = CUPTI_KEEP_OLDEST);
	int result = pm->cupti.set_config(&set);

	if (result == CUPTI_NOT_SUPPORTED || result == CUPTI_INVALID_PARAMETER) {
		set.trigger = CUPTI_BY_CYCLES;
		result = pm->cupti.set_config(&set);
	}
	return pm_check(pm, result);
}

bool pm_device_open(struct pm *pm, struct pm_device *device, uint64_t interval_ns)
{
	struct cupti_enable enabled =
		CUPTI_GIVEN(struct cupti_enable, sampler, .device = device->chip.device);
	struct cupti_config config;
	bool is_set;

	if (!pm_configure(pm, &device->chip, &config))
		return false;
	device->host = config.host; /* and its configuration, which may be read until the end */
	is_set = pm_check(pm, pm->cupti.enable(&enabled));
	device->sampler = enabled.sampler;
	if (is_set)
		is_set = config_set(pm, device, &config, interval_ns);
	return is_set && image_open(pm, device);
}

bool pm_device_start(struct pm *pm, struct pm_device *device)
{
	struct cupti_sampler given =
		CUPTI_GIVEN(struct cupti_sampler, sampler, .sampler = device->sampler);

	window_clear(device);
	device->is_first = true;
	device->told_ns = clock_ns();
	return pm_check(pm, pm->cupti.start(&given));
}

static void sample_add(struct pm_device *device, const struct pm_metrics *metrics,
		       const struct cupti_sample *sample, const double *values)
{
	double time_ns = (double)(sample->end_ns - sample->begin_ns);

	for (size_t i = 0; i < metrics->count; i++) {
		if (!isfinite(values[i]))
			continue;
		device->sums[i] += metrics->adds_up[i] ? values[i] : values[i] * time_ns;
		device->times_ns[i] += time_ns;
	}
	device->time_ns += time_ns;
	if (!device->end_ns)
		device->begin_ns = sample->begin_ns;
	device->end_ns = sample->end_ns;
}

static void sample_read(struct pm *pm, struct pm_device *device, size_t index)
{
	struct cupti_sample sample = CUPTI_GIVEN(struct cupti_sample, end_ns,
						 .sampler = device->sampler, .image = device->image,
						 .image_size = device->image_size, .index = index);
	double values[GPU_COUNTED_MAX] = { 0 };
	struct cupti_evaluate asked = CUPTI_GIVEN(
		struct cupti_evaluate, values, .host = device->host, .image = device->image,
		.image_size = device->image_size, .index = index, .names = pm->metrics.names,
		.count = pm->metrics.count, .values = values);

	if (pm->cupti.sample(&sample) || sample.end_ns <= sample.begin_ns ||
	    pm->cupti.evaluate(&asked))
		device->has_lost = true;
	else if (device->is_first)
		device->is_first = false;
	else
		sample_add(device, &pm->metrics, &sample, values);
}

/* A sample is read after its end: the least difference is the most exact. */
static void offset_learn(struct pm_device *device)
{
	int64_t offset_ns = (int64_t)(clock_ns() - device->end_ns);

	if (!device->end_ns || (device->has_offset && offset_ns >= device->offset_ns))
		return;
	device->offset_ns = offset_ns;
	device->has_offset = true;
}

static bool image_drain(struct pm *pm, struct pm_device *device, bool *ret_has_more)
{
	struct cupti_decode decoded =
		CUPTI_GIVEN(struct cupti_decode, has_overflown, .sampler = device->sampler,
			    .image = device->image, .image_size = device->image_size);
	struct cupti_image_info info =
		CUPTI_GIVEN(struct cupti_image_info, completed, .image = device->image,
			    .image_size = device->image_size);

	if (!pm_check(pm, pm->cupti.decode(&decoded)) || !pm_check(pm, pm->cupti.image_info(&info)))
		return false;
	device->has_lost |= decoded.has_overflown;
	for (size_t i = 0; i < info.completed; i++)
		sample_read(pm, device, i);
	offset_learn(device);
	*ret_has_more = decoded.reason == CUPTI_IMAGE_IS_FULL && info.completed;
	return image_clear(pm, device);
}

bool pm_device_drain(struct pm *pm, struct pm_device *device)
{
	bool has_more = true;

	for (unsigned i = 0; has_more && i < ROUNDS_MAX; i++)
		if (!image_drain(pm, device, &has_more))
			return false;
	return true;
}

/* One after the other, although the offset is learned meanwhile.  Where all was lost: until now. */
static void window_times(struct pm_device *device, struct gpu_message *ret)
{
	uint64_t offset_ns = (uint64_t)device->offset_ns, told_ns = device->told_ns;
	bool has_any = device->end_ns != 0;

	ret->begin_ns = has_any ? MAX(device->begin_ns + offset_ns, told_ns) : told_ns;
	ret->end_ns = has_any ? device->end_ns + offset_ns : clock_ns();
	ret->end_ns = MAX(ret->end_ns, ret->begin_ns + 1);
	device->told_ns = ret->end_ns;
}

bool pm_device_window(struct pm_device *device, const struct pm_metrics *metrics,
		      struct gpu_message *ret)
{
	*ret = (struct gpu_message){ .magic = GPU_MAGIC,
				     .kind = GPU_COUNTED_WINDOW,
				     .device = device->number };
	if (!device->end_ns && !device->has_lost)
		return false;
	window_times(device, ret);
	for (size_t i = 0; i < metrics->count && !device->has_lost; i++) {
		if (device->times_ns[i] < device->time_ns) /* some were no numbers */
			continue;
		ret->values[i] = device->sums[i] / (metrics->adds_up[i] ? 1 : device->times_ns[i]);
		ret->present |= 1u << i;
	}
	window_clear(device);
	return true;
}

void pm_device_stop(struct pm *pm, struct pm_device *device)
{
	struct cupti_sampler given =
		CUPTI_GIVEN(struct cupti_sampler, sampler, .sampler = device->sampler);

	(void)!pm->cupti.stop(&given);
}

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
