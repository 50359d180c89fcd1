/*
 * STAND-IN, for tests only, of the PM sampling in NVIDIA's libcupti.so.13: a chip whose hardware
 * has a sample each period, with values that can be checked, on a clock of its own.  It answers as
 * the public headers say, and refuses structures of a wrong size and calls out of order.  In no way
 * NVIDIA's.
 *
 *   STANDIN_PM=NUMBER         that answer to who wants to begin (35: no rights, 26: held)
 *   STANDIN_PM_CHIP=1         a chip that cannot be sampled
 *   STANDIN_PM_CYCLES=1       no clock but that of its cycles
 *   STANDIN_PM_OVERFLOWS=1    its buffer is always full
 *   STANDIN_PM_CRASHES=1      ends the process that decodes
 *   STANDIN_PM_UNDECODED=1    nothing can be decoded
 *   STANDIN_PM_LATE=1         no sample ever ends
 *   STANDIN_PM_NAN=1          each third value of sm__inst_executed is no number
 *   STANDIN_PM_HANGS=1        does not come back from its beginning
 */
#include "standin_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INVALID_PARAMETER 1
#define INVALID_OPERATION 7
#define UNKNOWN_METRIC    17
#define NOT_SUPPORTED     27
#define HARDWARE          9
#define INVALID_CHIP      46
#define METRICS_MAX       64u
#define A_PASS            8u /* metrics of it */
#define CHIP              "standin100"
#define CLOCK_AHEAD_NS    5000000000000000ull
#define IMAGE_MAGIC       0x70696d67u
#define CONFIG_MAGIC      0x70636667u

struct plain {
	size_t size;
	void *unused;
};
struct chip {
	size_t size;
	void *unused;
	size_t device;
	const char *name;
};
struct availability {
	size_t size;
	void *unused;
	size_t device, image_size;
	uint8_t *image;
};
struct host_new {
	size_t size;
	void *unused;
	int profiler;
	const char *chip;
	const uint8_t *availability;
	struct host *host;
};
struct host_only {
	size_t size;
	void *unused;
	struct host *host;
};
struct base_metrics {
	size_t size;
	void *unused;
	struct host *host;
	int kind;
	const char *const *names;
	size_t count;
};
struct properties {
	size_t size;
	void *unused;
	struct host *host;
	const char *name, *description, *part, *dimension;
	int kind;
};
struct add_metrics {
	size_t size;
	void *unused;
	struct host *host;
	const char *const *names;
	size_t count;
};
struct config_size {
	size_t size;
	void *unused;
	struct host *host;
	size_t config_size;
};
struct config {
	size_t size;
	void *unused;
	struct host *host;
	size_t config_size;
	uint8_t *config;
};
struct passes {
	size_t size;
	void *unused;
	size_t config_size;
	uint8_t *config;
	size_t passes;
};
struct enable {
	size_t size;
	void *unused;
	size_t device;
	struct sampler *sampler;
};
struct sampler_only {
	size_t size;
	void *unused;
	struct sampler *sampler;
};
struct set_config {
	size_t size;
	void *unused;
	struct sampler *sampler;
	size_t config_size;
	const uint8_t *config;
	size_t buffer_size;
	uint64_t interval;
	int trigger, keeps;
};
struct image_size {
	size_t size;
	void *unused;
	struct sampler *sampler;
	const char *const *names;
	size_t count;
	uint32_t samples;
	size_t image_size;
};
struct image_clear {
	size_t size;
	void *unused;
	struct sampler *sampler;
	size_t image_size;
	uint8_t *image;
};
struct decode {
	size_t size;
	void *unused;
	struct sampler *sampler;
	uint8_t *image;
	size_t image_size;
	int reason;
	uint8_t has_overflown;
};
struct image_info {
	size_t size;
	void *unused;
	const uint8_t *image;
	size_t image_size, total, populated, completed;
};
struct sample_info {
	size_t size;
	void *unused;
	struct sampler *sampler;
	const uint8_t *image;
	size_t image_size, index;
	uint64_t begin_ns, end_ns;
};
struct evaluate {
	size_t size;
	void *unused;
	struct host *host;
	const uint8_t *image;
	size_t image_size, index;
	const char *const *names;
	size_t count;
	double *values;
};

#define SIZE(type, last)      (offsetof(struct type, last) + sizeof(((struct type *)0)->last))
#define IS(given, type, last) ((given)->size == SIZE(type, last) && !(given)->unused)

struct host {
	size_t passes;
};
struct sampler {
	bool is_set, is_on;
	uint64_t period_ns, start_ns, stop_ns, taken; /* samples that were decoded */
};
struct image {
	uint32_t magic, room, count, unused;
	uint64_t first, begin_ns, period_ns;
};

static const char *const metrics[] = {
	"sm__cycles_active", "sm__warps_active",  "dram__bytes",
	"dram__bytes_read",  "dram__bytes_write", "sm__inst_executed",
};

int cuptiGetResultString(int result, const char **ret);
int cuptiProfilerInitialize(struct plain *given);
int cuptiDeviceGetChipName(struct chip *given);
int cuptiPmSamplingGetCounterAvailability(struct availability *given);
int cuptiProfilerHostInitialize(struct host_new *given);
int cuptiProfilerHostDeinitialize(struct host_only *given);
int cuptiProfilerHostGetBaseMetrics(struct base_metrics *given);
int cuptiProfilerHostGetMetricProperties(struct properties *given);
int cuptiProfilerHostConfigAddMetrics(struct add_metrics *given);
int cuptiProfilerHostGetConfigImageSize(struct config_size *given);
int cuptiProfilerHostGetConfigImage(struct config *given);
int cuptiProfilerHostGetNumOfPasses(struct passes *given);
int cuptiProfilerHostEvaluateToGpuValues(struct evaluate *given);
int cuptiPmSamplingEnable(struct enable *given);
int cuptiPmSamplingSetConfig(struct set_config *given);
int cuptiPmSamplingStart(struct sampler_only *given);
int cuptiPmSamplingStop(struct sampler_only *given);
int cuptiPmSamplingGetCounterDataSize(struct image_size *given);
int cuptiPmSamplingCounterDataImageInitialize(struct image_clear *given);
int cuptiPmSamplingDecodeData(struct decode *given);
int cuptiPmSamplingGetCounterDataInfo(struct image_info *given);
int cuptiPmSamplingCounterDataGetSampleInfo(struct sample_info *given);

static struct sampler the_sampler;
static bool is_begun, is_enabled;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

STANDIN_EXPORT int cuptiGetResultString(int result, const char **ret)
{
	*ret = result == 35 ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR_OF_STANDIN";
	return 0;
}

STANDIN_EXPORT int cuptiProfilerInitialize(struct plain *given)
{
	while (getenv("STANDIN_PM_HANGS"))
		pause();
	is_begun = true;
	return IS(given, plain, unused) ? 0 : INVALID_PARAMETER;
}

STANDIN_EXPORT int cuptiDeviceGetChipName(struct chip *given)
{
	if (!IS(given, chip, name) || given->device || !is_begun)
		return INVALID_PARAMETER;
	given->name = CHIP;
	return 0;
}

STANDIN_EXPORT int cuptiPmSamplingGetCounterAvailability(struct availability *given)
{
	if (!IS(given, availability, image) || given->device)
		return INVALID_PARAMETER;
	if (given->image && given->image_size != 16)
		return INVALID_PARAMETER;
	if (given->image)
		memset(given->image, 7, 16);
	given->image_size = 16;
	return 0;
}

STANDIN_EXPORT int cuptiProfilerHostInitialize(struct host_new *given)
{
	if (getenv("STANDIN_PM_CHIP"))
		return INVALID_CHIP;
	if (!IS(given, host_new, host) || given->profiler != 1 || strcmp(given->chip, CHIP) ||
	    given->availability[0] != 7)
		return INVALID_PARAMETER;
	given->host = calloc(1, sizeof(*given->host));
	return 0;
}

STANDIN_EXPORT int cuptiProfilerHostDeinitialize(struct host_only *given)
{
	free(given->host);
	return IS(given, host_only, host) ? 0 : INVALID_PARAMETER;
}

STANDIN_EXPORT int cuptiProfilerHostGetBaseMetrics(struct base_metrics *given)
{
	if (!IS(given, base_metrics, count) || given->kind < 0 || given->kind > 2)
		return INVALID_PARAMETER;
	given->names = metrics;
	given->count = given->kind ? 0 : sizeof(metrics) / sizeof(metrics[0]);
	return 0;
}

static bool is_known(const char *name)
{
	size_t length = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		if (strlen(metrics[i]) == length && !strncmp(metrics[i], name, length))
			return true;
	return false;
}

STANDIN_EXPORT int cuptiProfilerHostGetMetricProperties(struct properties *given)
{
	if (!IS(given, properties, kind))
		return INVALID_PARAMETER;
	given->description = "of the stand-in";
	return is_known(given->name) ? 0 : UNKNOWN_METRIC;
}

STANDIN_EXPORT int cuptiProfilerHostConfigAddMetrics(struct add_metrics *given)
{
	if (!IS(given, add_metrics, count))
		return INVALID_PARAMETER;
	for (size_t i = 0; i < given->count; i++)
		if (!is_known(given->names[i]))
			return UNKNOWN_METRIC;
	given->host->passes += (given->count + A_PASS - 1) / A_PASS;
	return 0;
}

STANDIN_EXPORT int cuptiProfilerHostGetConfigImageSize(struct config_size *given)
{
	given->config_size = 16;
	return IS(given, config_size, config_size) ? 0 : INVALID_PARAMETER;
}

STANDIN_EXPORT int cuptiProfilerHostGetConfigImage(struct config *given)
{
	uint32_t content[4] = { CONFIG_MAGIC, (uint32_t)given->host->passes, 0, 0 };

	if (!IS(given, config, config) || given->config_size < sizeof(content))
		return INVALID_PARAMETER;
	memcpy(given->config, content, sizeof(content));
	return 0;
}

STANDIN_EXPORT int cuptiProfilerHostGetNumOfPasses(struct passes *given)
{
	uint32_t content[2];

	memcpy(content, given->config, sizeof(content));
	if (!IS(given, passes, passes) || content[0] != CONFIG_MAGIC)
		return INVALID_PARAMETER;
	given->passes = content[1];
	return 0;
}

STANDIN_EXPORT int cuptiPmSamplingEnable(struct enable *given)
{
	const char *answer = getenv("STANDIN_PM");

	if (answer)
		return atoi(answer);
	if (!IS(given, enable, sampler) || given->device)
		return INVALID_PARAMETER;
	if (is_enabled)
		return INVALID_OPERATION;
	is_enabled = true;
	given->sampler = &the_sampler;
	return 0;
}

STANDIN_EXPORT int cuptiPmSamplingSetConfig(struct set_config *given)
{
	uint32_t content[2];

	if (!IS(given, set_config, keeps) || !given->buffer_size || !given->interval)
		return INVALID_PARAMETER;
	memcpy(content, given->config, sizeof(content));
	if (given->trigger == 1 && getenv("STANDIN_PM_CYCLES"))
		return NOT_SUPPORTED;
	if (content[0] != CONFIG_MAGIC || content[1] > 1)
		return NOT_SUPPORTED;
	given->sampler->period_ns = given->interval;
	given->sampler->is_set = true;
	return 0;
}

STANDIN_EXPORT int cuptiPmSamplingStart(struct sampler_only *given)
{
	struct sampler *sampler = given->sampler;

	if (!IS(given, sampler_only, sampler))
		return INVALID_PARAMETER;
	if (!sampler->is_set || sampler->is_on)
		return INVALID_OPERATION;
	sampler->is_on = true;
	sampler->start_ns = now_ns();
	sampler->stop_ns = UINT64_MAX;
	sampler->taken = 0;
	return 0;
}

STANDIN_EXPORT int cuptiPmSamplingStop(struct sampler_only *given)
{
	if (!IS(given, sampler_only, sampler))
		return INVALID_PARAMETER;
	if (!given->sampler->is_on)
		return INVALID_OPERATION;
	given->sampler->is_on = false;
	given->sampler->stop_ns = now_ns();
	return 0;
}

STANDIN_EXPORT int cuptiPmSamplingGetCounterDataSize(struct image_size *given)
{
	if (!IS(given, image_size, image_size) || !given->count || given->count > METRICS_MAX)
		return INVALID_PARAMETER;
	given->image_size = sizeof(struct image) + given->samples;
	return 0;
}

STANDIN_EXPORT int cuptiPmSamplingCounterDataImageInitialize(struct image_clear *given)
{
	const struct image image = { .magic = IMAGE_MAGIC,
				     .room = (uint32_t)(given->image_size - sizeof(image)) };

	if (!IS(given, image_clear, image) || given->image_size < sizeof(image))
		return INVALID_PARAMETER;
	memcpy(given->image, &image, sizeof(image));
	return 0;
}

/* The first sample began before it was started. */
STANDIN_EXPORT int cuptiPmSamplingDecodeData(struct decode *given)
{
	struct sampler *sampler = given->sampler;
	uint64_t end_ns, ready;
	struct image image;

	if (getenv("STANDIN_PM_CRASHES"))
		abort();
	if (getenv("STANDIN_PM_UNDECODED"))
		return HARDWARE;
	memcpy(&image, given->image, sizeof(image));
	if (!IS(given, decode, has_overflown) || image.magic != IMAGE_MAGIC || image.count)
		return INVALID_PARAMETER;
	end_ns = sampler->stop_ns == UINT64_MAX ? now_ns() : sampler->stop_ns;
	ready = (end_ns - sampler->start_ns) / sampler->period_ns + 1 - sampler->taken;
	image.first = sampler->taken;
	image.count = ready < image.room ? (uint32_t)ready : image.room;
	if (getenv("STANDIN_PM_LATE"))
		image.count = 0;
	image.begin_ns = sampler->start_ns - sampler->period_ns + CLOCK_AHEAD_NS;
	image.period_ns = sampler->period_ns;
	sampler->taken += image.count;
	given->reason = image.count == image.room ? 1 : 2;
	given->has_overflown = getenv("STANDIN_PM_OVERFLOWS") != NULL;
	memcpy(given->image, &image, sizeof(image));
	return 0;
}

STANDIN_EXPORT int cuptiPmSamplingGetCounterDataInfo(struct image_info *given)
{
	struct image image;

	memcpy(&image, given->image, sizeof(image));
	if (!IS(given, image_info, completed) || image.magic != IMAGE_MAGIC)
		return INVALID_PARAMETER;
	given->total = image.room;
	given->populated = given->completed = image.count;
	return 0;
}

STANDIN_EXPORT int cuptiPmSamplingCounterDataGetSampleInfo(struct sample_info *given)
{
	struct image image;

	memcpy(&image, given->image, sizeof(image));
	if (!IS(given, sample_info, end_ns) || given->index >= image.count)
		return INVALID_PARAMETER;
	given->begin_ns = image.begin_ns + (image.first + given->index) * image.period_ns;
	given->end_ns = given->begin_ns + image.period_ns;
	return 0;
}

/* Sums are 1000 a sample; the rest is 20 and 60 in turn, 40 on average; the first sample is wrong.
 */
static double value_of(const char *name, uint64_t number)
{
	if (!number)
		return 1e12;
	if (getenv("STANDIN_PM_NAN") && !strncmp(name, "sm__inst_executed.", 18) && number % 3 == 1)
		return NAN;
	if (strlen(name) > 4 && !strcmp(name + strlen(name) - 4, ".sum"))
		return 1000;
	return number % 2 ? 20 : 60;
}

STANDIN_EXPORT int cuptiProfilerHostEvaluateToGpuValues(struct evaluate *given)
{
	struct image image;

	memcpy(&image, given->image, sizeof(image));
	if (!IS(given, evaluate, values) || given->index >= image.count)
		return INVALID_PARAMETER;
	for (size_t i = 0; i < given->count; i++)
		given->values[i] = value_of(given->names[i], image.first + given->index);
	return 0;
}
