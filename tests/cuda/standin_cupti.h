/*
 * STAND-IN, for tests only: what its libcupti.so.13 offers, as far as limpet uses it.  In no way
 * NVIDIA's.
 */
#pragma once

#include "standin_cuda.h"

struct callback_data {
	uint32_t site;
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_number;
	uint64_t *correlation_data;
	uint32_t correlation;
};
_Static_assert(offsetof(struct callback_data, correlation) == 64, "as in the header");

typedef void callback(void *user, int domain, uint32_t function, const struct callback_data *data);
typedef void buffer_requested(uint8_t **buffer, size_t *size, size_t *record_max);
typedef void buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			      size_t valid);

int cuptiGetVersion(uint32_t *version);
int cuptiGetTimestamp(uint64_t *ret);
int cuptiSubscribe(void **ret, callback *given, void *user);
int cuptiUnsubscribe(void *handle);
int cuptiEnableCallback(uint32_t is_on, void *handle, int domain, uint32_t function);
int cuptiGetCallbackName(int domain, uint32_t function, const char **ret);
int cuptiEnableDomain(uint32_t is_on, void *handle, int domain);
int cuptiActivityRegisterCallbacks(buffer_requested *requested, buffer_completed *completed);
int cuptiActivitySetAttribute(int attribute, size_t *size, void *value);
int cuptiActivityEnable(int kind);
int cuptiActivityDisable(int kind);
int cuptiActivityFlushAll(uint32_t flags);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *ret);
int cuptiFinalize(void);
void standin_cupti_state(struct standin_cupti_state *ret);
