/*
 * The ABI between AMD's SDK 1.0.0 and tools: numbers, structures, callbacks. The tools in tests/sdk
 * are compiled with a header of their own.
 */
#pragma once

#include "shared/base/macros.h"

#define SDK_EXPORT __attribute__((visibility("default")))

enum callback_kind {
	CALLBACK_HSA_CORE = 1,
	CALLBACK_HSA_AMD,
	CALLBACK_HSA_IMAGE,
	CALLBACK_HSA_FINALIZER,
	CALLBACK_HIP_RUNTIME,
	CALLBACK_HIP_COMPILER,
	CALLBACK_MARKER_CORE,
	CALLBACK_MARKER_CONTROL,
	CALLBACK_MARKER_NAME,
	CALLBACK_CODE_OBJECT,
	CALLBACK_SCRATCH,
	CALLBACK_KERNEL,
	CALLBACK_COPY,
	CALLBACK_RCCL,
	CALLBACK_OMPT,
	CALLBACK_MEMORY,
	CALLBACK_RUNTIME,
	CALLBACK_ROCDECODE,
	CALLBACK_ROCJPEG,
	CALLBACK_STREAM,
	CALLBACK_MARKER_RANGE,
	CALLBACK_KINDS,
};

enum buffer_kind {
	BUFFER_HSA_CORE = 1,
	BUFFER_HSA_AMD,
	BUFFER_HSA_IMAGE,
	BUFFER_HSA_FINALIZER,
	BUFFER_HIP_RUNTIME,
	BUFFER_HIP_COMPILER,
	BUFFER_MARKER_CORE,
	BUFFER_MARKER_CONTROL,
	BUFFER_MARKER_NAME,
	BUFFER_COPY,
	BUFFER_KERNEL,
	BUFFER_SCRATCH,
	BUFFER_RETIREMENT,
	BUFFER_RCCL,
	BUFFER_OMPT,
	BUFFER_MEMORY,
	BUFFER_RUNTIME,
	BUFFER_ROCDECODE,
	BUFFER_ROCJPEG,
	BUFFER_STREAM,
	BUFFER_HIP_RUNTIME_EXT,
	BUFFER_HIP_COMPILER_EXT,
	BUFFER_ROCDECODE_EXT,
	BUFFER_KFD_EVENT_MIGRATE,
	BUFFER_KFD_EVENT_FAULT,
	BUFFER_KFD_EVENT_QUEUE,
	BUFFER_KFD_EVENT_UNMAP,
	BUFFER_KFD_EVENT_DROPPED,
	BUFFER_KFD_MIGRATE,
	BUFFER_KFD_FAULT,
	BUFFER_KFD_QUEUE,
	BUFFER_MARKER_RANGE,
	BUFFER_KINDS,
};

/* The first nine numbers are those of callback kinds. */
enum request_kind {
	REQUEST_COPY = 10,
	REQUEST_KERNEL,
	REQUEST_SCRATCH,
	REQUEST_RCCL,
	REQUEST_OMPT,
	REQUEST_MEMORY,
	REQUEST_ROCDECODE,
	REQUEST_ROCJPEG,
	REQUEST_MARKER_RANGE,
	REQUEST_KINDS,
};

enum callback_phase { PHASE_NONE, PHASE_ENTER, PHASE_EXIT };
enum buffer_policy { POLICY_NONE, POLICY_DISCARD, POLICY_LOSSLESS, POLICIES };
enum { CATEGORY_TRACING = 1, CATEGORY_COUNTERS = 3 };
enum { COUNTER_HEADER = 1, COUNTER_VALUE };
enum { LIBRARY_SDK = 1 };

/* A handle of a context, buffer, thread or agent. */
struct sdk_handle {
	uint64_t handle;
};

struct correlation {
	uint64_t internal, external, ancestor;
};

struct callback_record {
	struct sdk_handle context;
	uint64_t thread;
	struct correlation correlation;
	int32_t kind, operation, phase;
	void *payload;
};
_Static_assert(sizeof(struct callback_record) == 64, "as in the headers");

typedef void callback_function(struct callback_record record, uint64_t *user_data, void *data);

struct record_header {
	uint32_t category, kind;
	void *payload;
};

typedef void buffer_function(struct sdk_handle context, struct sdk_handle buffer,
			     struct record_header **headers, size_t count, void *data,
			     uint64_t drops);

/* The record of all API kinds. */
struct api_record {
	uint64_t size;
	int32_t kind, operation;
	struct correlation correlation;
	uint64_t start_ns, end_ns, thread;
};
_Static_assert(sizeof(struct api_record) == 64, "as in the headers");

struct retirement_record {
	uint64_t size;
	int32_t kind;
	uint64_t time_ns, internal;
};
_Static_assert(sizeof(struct retirement_record) == 32, "as in the headers");

struct runtime_record {
	uint64_t size;
	int32_t kind, operation;
	struct correlation correlation;
	uint64_t thread, time_ns, version, instance;
};
_Static_assert(sizeof(struct runtime_record) == 72, "as in the headers");

struct runtime_data {
	uint64_t size, version, instance;
};

typedef int request_function(uint64_t thread, struct sdk_handle context, int kind, int operation,
			     uint64_t internal, uint64_t *external, void *data);

typedef int kind_function(int kind, void *data);
typedef int operation_function(int kind, int operation, void *data);
typedef int callback_argument_function(int kind, int operation, uint32_t number,
				       const void *address, int32_t indirections, const char *type,
				       const char *name, const char *value, int32_t dereferences,
				       void *data);
typedef int buffer_argument_function(int kind, int operation, uint32_t number, const void *address,
				     int32_t indirections, const char *type, const char *name,
				     const char *value, void *data);
typedef void table_function(int table, uint64_t version, uint64_t instance, void **tables,
			    uint64_t count, void *data);
typedef void library_function(int library, void *data);

/* A payload: its size, the arguments laid out as in AMD's structure of the function, the result. */
#define ARGUMENTS_MAX 192
#define RESULT_MAX    24
