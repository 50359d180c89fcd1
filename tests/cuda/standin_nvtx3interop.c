/*
 * STAND-IN, for tests only, of libnvtx3interop.so: functions of NVTX for other languages, which
 * have the header inside.
 */
#include "standin_nvtx3.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void nvtxMarkEx(const void *event)
{
	(void)event;
}

EXPORT int nvtxRangePushA(const char *message)
{
	return nvtx3_push(message);
}

EXPORT int nvtxRangePop(void)
{
	return nvtx3_pop();
}
