/*
 * STAND-IN, for tests only.  The functions of NVTX that the stand-in libnvToolsExt.so.1 exports,
 * with the types of the published interface.
 */
#pragma once

#include <stdint.h>
#include <wchar.h>

typedef struct nvtx_domain *nvtxDomainHandle_t;

struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type; /* 1: narrow, 2: wide */
	const void *message;
};

void nvtxMarkA(const char *message);
void nvtxMarkEx(const struct nvtx_attributes *event);
int nvtxRangePushA(const char *message);
int nvtxRangePushW(const wchar_t *message);
int nvtxRangePop(void);
uint64_t nvtxRangeStartA(const char *message);
void nvtxRangeEnd(uint64_t id);
nvtxDomainHandle_t nvtxDomainCreateA(const char *name);
int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const struct nvtx_attributes *event);
int nvtxDomainRangePop(nvtxDomainHandle_t domain);
