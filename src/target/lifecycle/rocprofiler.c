/*
 * More functions of librocprofiler-sdk.so.1: version, time, state. Tools call them on any thread.
 */
#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/lifecycle/tools.h"
#include "target/runtime/kernel_clock.h"
#include "target/runtime/page.h"

#include <time.h>

#define EXPORT __attribute__((visibility("default")))

struct sdk_version {
	uint32_t major, minor, patch;
};

EXPORT int rocprofiler_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch);
EXPORT int rocprofiler_get_version_triplet(struct sdk_version *ret);
EXPORT int rocprofiler_get_timestamp(uint64_t *ret);
EXPORT int rocprofiler_get_thread_id(uint64_t *ret);
EXPORT int rocprofiler_is_initialized(int *ret);
EXPORT int rocprofiler_is_finalized(int *ret);
EXPORT const char *rocprofiler_get_status_name(int status);
EXPORT const char *rocprofiler_get_status_string(int status);

int rocprofiler_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch)
{
	if (major)
		*major = 1;
	if (minor)
		*minor = 0;
	if (patch)
		*patch = 0;
	return SDK_SUCCESS;
}

int rocprofiler_get_version_triplet(struct sdk_version *ret)
{
	return ret ? rocprofiler_get_version(&ret->major, &ret->minor, &ret->patch)
		   : SDK_INVALID_ARGUMENT;
}

int rocprofiler_get_timestamp(uint64_t *ret)
{
	if (!ret)
		return SDK_INVALID_ARGUMENT;
	*ret = kernel_clock_ns(CLOCK_BOOTTIME);
	return SDK_SUCCESS;
}

int rocprofiler_get_thread_id(uint64_t *ret)
{
	if (!ret)
		return SDK_INVALID_ARGUMENT;
	*ret = (uint64_t)raw0(SYS_gettid);
	return SDK_SUCCESS;
}

/* -1 while initialization runs, 1 once it has finished. */
int rocprofiler_is_initialized(int *ret)
{
	if (!ret)
		return SDK_INVALID_ARGUMENT;
	*ret = __atomic_load_n(&tools_are_opening, __ATOMIC_RELAXED) ? -1 : 0;
	for (unsigned i = 0; i < tools_count(); i++) {
		if (tools[i].is_initialized && *ret == 0)
			*ret = 1;
		else if (tools[i].page->is_inside && !tools[i].is_initialized)
			*ret = -1;
	}
	return SDK_SUCCESS;
}

/* -1 while tools are being detached or finalized, 1 once exit() has finalized them. */
int rocprofiler_is_finalized(int *ret)
{
	if (!ret)
		return SDK_INVALID_ARGUMENT;
	*ret = __atomic_load_n(&tools_finality, __ATOMIC_RELAXED);
	return SDK_SUCCESS;
}

static const struct {
	const char *name, *text;
} statuses[] = {
#define STATUS(number, name, text) [SDK_##number] = { "ROCPROFILER_STATUS_" name, text },
#include "target/amd/sinks/sdk/base/statuses.def"
#undef STATUS
};

const char *rocprofiler_get_status_name(int status)
{
	return status >= 0 && (size_t)status < ARRAY_SIZE(statuses) ? statuses[status].name : NULL;
}

const char *rocprofiler_get_status_string(int status)
{
	return status >= 0 && (size_t)status < ARRAY_SIZE(statuses) ? statuses[status].text : NULL;
}
