/*
 * STAND-IN, for tests only, of NVIDIA's libnvToolsExt.so.1 in a process without a tool: it answers
 * that it does not know levels, and gives every range the same id.
 */
#include "standin_nvtx.h"

#include "standin.h"

#define NO_TRACKING (-2)

STANDIN_EXPORT void nvtxMarkA(const char *message)
{
	(void)message;
}

STANDIN_EXPORT void nvtxMarkEx(const struct nvtx_attributes *event)
{
	(void)event;
}

STANDIN_EXPORT int nvtxRangePushA(const char *message)
{
	(void)message;
	return NO_TRACKING;
}

STANDIN_EXPORT int nvtxRangePushW(const wchar_t *message)
{
	(void)message;
	return NO_TRACKING;
}

STANDIN_EXPORT int nvtxRangePop(void)
{
	return NO_TRACKING;
}

STANDIN_EXPORT uint64_t nvtxRangeStartA(const char *message)
{
	(void)message;
	return 0;
}

STANDIN_EXPORT void nvtxRangeEnd(uint64_t id)
{
	(void)id;
}

STANDIN_EXPORT nvtxDomainHandle_t nvtxDomainCreateA(const char *name)
{
	static char domain;

	(void)name;
	return (nvtxDomainHandle_t)&domain;
}

STANDIN_EXPORT int nvtxDomainRangePushEx(nvtxDomainHandle_t domain,
					 const struct nvtx_attributes *event)
{
	(void)domain;
	(void)event;
	return NO_TRACKING;
}

STANDIN_EXPORT int nvtxDomainRangePop(nvtxDomainHandle_t domain)
{
	(void)domain;
	return NO_TRACKING;
}
