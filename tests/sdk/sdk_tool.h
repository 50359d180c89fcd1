/*
 * What a tool library sees of AMD's SDK 1.0.0, written down from its documents for our own tools;
 * and a log that the tools keep.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
	uint64_t handle;
} handle_t;

typedef struct {
	size_t size;
	const char *name;
	const uint32_t handle;
} client_t;

typedef struct {
	size_t size;
	int (*initialize)(void (*finalize)(client_t), void *data);
	void (*finalize)(void *data);
	void *data;
} tool_t;

typedef struct {
	size_t size;
	int (*attach)(void (*detach)(client_t), handle_t *contexts, uint64_t count, void *data);
	void (*detach)(void *data);
	void *data;
} tool_attach_t;

typedef struct {
	uint64_t internal, external, ancestor;
} correlation_t;

typedef struct {
	handle_t context;
	uint64_t thread;
	correlation_t correlation;
	int kind, operation, phase;
	void *payload;
} record_t;

typedef struct {
	uint32_t category, kind;
	void *payload;
} header_t;

typedef struct {
	uint64_t size;
	int kind, operation;
	correlation_t correlation;
	uint64_t start, end, thread;
} api_record_t;

typedef void callback_t(record_t record, uint64_t *user_data, void *data);
typedef void buffer_callback_t(handle_t context, handle_t buffer, header_t **headers, size_t count,
			       void *data, uint64_t drops);
typedef int request_t(uint64_t thread, handle_t context, int kind, int operation, uint64_t internal,
		      uint64_t *external, void *data);
typedef int args_t(int kind, int operation, uint32_t number, const void *address, int indirections,
		   const char *type, const char *name, const char *value, int dereferences,
		   void *data);

enum { PHASE_ENTER = 1, PHASE_EXIT = 2 };
enum { POLICY_DISCARD = 1, POLICY_LOSSLESS = 2 };
enum {
	HSA_CORE = 1,
	HSA_AMD,
	HSA_IMAGE,
	HSA_FINALIZER,
	HIP_RUNTIME,
	HIP_COMPILER,
	MARKER_CORE,
	MARKER_CONTROL,
	MARKER_NAME,
	CALLBACK_CODE_OBJECT,
	CALLBACK_RCCL = 14,
	CALLBACK_ROCDECODE = 18,
	CALLBACK_ROCJPEG,
	BUFFER_RETIREMENT = 13,
	BUFFER_RCCL = 14,
	BUFFER_HIP_RUNTIME_EXT = 21,
};

EXPORT tool_t *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
				     client_t *client);
EXPORT tool_attach_t *rocprofiler_configure_attach(uint32_t version, const char *text,
						   uint32_t priority, client_t *client);

int rocprofiler_create_context(handle_t *ret);
int rocprofiler_start_context(handle_t context);
int rocprofiler_stop_context(handle_t context);
int rocprofiler_context_is_active(handle_t context, int *ret);
int rocprofiler_context_is_valid(handle_t context, int *ret);
int rocprofiler_configure_callback_tracing_service(handle_t context, int kind,
						   const int *operations, size_t count,
						   callback_t *callback, void *data);
int rocprofiler_configure_buffer_tracing_service(handle_t context, int kind, const int *operations,
						 size_t count, handle_t buffer);
int rocprofiler_configure_external_correlation_id_request_service(handle_t context,
								  const int *kinds, size_t count,
								  request_t *callback, void *data);
int rocprofiler_create_buffer(handle_t context, size_t size, size_t watermark, int policy,
			      buffer_callback_t *callback, void *data, handle_t *ret);
int rocprofiler_flush_buffer(handle_t buffer);
int rocprofiler_destroy_buffer(handle_t buffer);
int rocprofiler_create_callback_thread(handle_t *ret);
int rocprofiler_assign_callback_thread(handle_t buffer, handle_t thread);
int rocprofiler_push_external_correlation_id(handle_t context, uint64_t thread, uint64_t value);
int rocprofiler_pop_external_correlation_id(handle_t context, uint64_t thread, uint64_t *ret);
int rocprofiler_iterate_callback_tracing_kind_operation_args(record_t record, args_t *callback,
							     int dereferences, void *data);
int rocprofiler_query_callback_tracing_kind_name(int kind, const char **name, uint64_t *length);
int rocprofiler_query_callback_tracing_kind_operation_name(int kind, int operation,
							   const char **name, uint64_t *length);
int rocprofiler_query_buffer_tracing_kind_operation_name(int kind, int operation, const char **name,
							 uint64_t *length);
int rocprofiler_at_intercept_table_registration(void (*callback)(int, uint64_t, uint64_t, void **,
								 uint64_t, void *),
						int tables, void *data);
int rocprofiler_at_internal_thread_create(void (*before)(int, void *), void (*after)(int, void *),
					  int libraries, void *data);
int rocprofiler_query_available_agents(int version,
				       int (*callback)(int, const void **, size_t, void *),
				       size_t size, void *data);
int rocprofiler_get_thread_id(uint64_t *ret);
int rocprofiler_get_timestamp(uint64_t *ret);
int rocprofiler_is_finalized(int *ret);
const char *rocprofiler_get_status_name(int status);
const char *rocprofiler_get_status_string(int status);

/* Lines go to the file that SDK_LOG names; each whole, in the order in which they are written. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says in the log what should have been 0 and was not. */
void log_wrong(int status, const char *what);
#define MUST(call) log_wrong(call, #call)

#ifdef __cplusplus
}
#endif
