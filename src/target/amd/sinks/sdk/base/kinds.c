/*
 * Names of kinds and operations, and functions that iterate them. Called by tools, on any thread.
 */
#include "target/amd/sinks/sdk/base/kinds.h"

#include "target/amd/sinks/sdk/base/status.h"
#include "target/runtime/text.h"

const struct tool_table tool_tables[API_TABLES] = {
	[API_HSA_CORE] = { CALLBACK_HSA_CORE, BUFFER_HSA_CORE, 0, CALLBACK_HSA_CORE, 1, 192, 8 },
	[API_HSA_AMD] = { CALLBACK_HSA_AMD, BUFFER_HSA_AMD, 0, CALLBACK_HSA_AMD, 1, 192, 8 },
	[API_HSA_IMAGE] = { CALLBACK_HSA_IMAGE, BUFFER_HSA_IMAGE, 0, CALLBACK_HSA_IMAGE, 1, 192,
			    8 },
	[API_HSA_FINALIZER] = { CALLBACK_HSA_FINALIZER, BUFFER_HSA_FINALIZER, 0,
				CALLBACK_HSA_FINALIZER, 1, 192, 8 },
	[API_HIP] = { CALLBACK_HIP_RUNTIME, BUFFER_HIP_RUNTIME, BUFFER_HIP_RUNTIME_EXT,
		      CALLBACK_HIP_RUNTIME, 2, 88, 24 },
	[API_HIP_COMPILER] = { CALLBACK_HIP_COMPILER, BUFFER_HIP_COMPILER, BUFFER_HIP_COMPILER_EXT,
			       CALLBACK_HIP_COMPILER, 4, 88, 24 },
	[API_ROCTX] = { CALLBACK_MARKER_CORE, BUFFER_MARKER_CORE, 0, CALLBACK_MARKER_CORE, 8, 16,
			8 },
	[API_ROCTX_CONTROL] = { CALLBACK_MARKER_CONTROL, BUFFER_MARKER_CONTROL, 0,
				CALLBACK_MARKER_CONTROL, 16, 16, 8 },
	[API_ROCTX_NAME] = { CALLBACK_MARKER_NAME, BUFFER_MARKER_NAME, 0, CALLBACK_MARKER_NAME, 32,
			     16, 8 },
	[API_RCCL] = { CALLBACK_RCCL, BUFFER_RCCL, 0, REQUEST_RCCL, 64, 152, 8 },
	[API_ROCDECODE] = { CALLBACK_ROCDECODE, BUFFER_ROCDECODE, BUFFER_ROCDECODE_EXT,
			    REQUEST_ROCDECODE, 128, 40, 8 },
	[API_ROCJPEG] = { CALLBACK_ROCJPEG, BUFFER_ROCJPEG, 0, REQUEST_ROCJPEG, 256, 48, 8 },
};

const struct api_table *table_of_callback(int kind)
{
	for (unsigned i = 0; i < API_TABLES; i++)
		if (tool_tables[i].callback_kind == kind)
			return &api_tables[i];
	return NULL;
}

const struct api_table *table_of_buffer(int kind)
{
	for (unsigned i = 0; kind && i < API_TABLES; i++)
		if (tool_tables[i].buffer_kind == kind || tool_tables[i].extended_kind == kind)
			return &api_tables[i];
	return NULL;
}

/* Operations of a kind that is no API table. */
struct operation_list {
	const char *const *names;
	uint16_t count;
};

#define NAMES(list)                    \
	{                              \
		list, ARRAY_SIZE(list) \
	}

static const char *const code_objects[] = { "CODE_OBJECT_NONE", "CODE_OBJECT_LOAD",
					    "CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER",
					    "CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER" };
static const char *const scratches[] = { "SCRATCH_MEMORY_NONE", "SCRATCH_MEMORY_ALLOC",
					 "SCRATCH_MEMORY_FREE", "SCRATCH_MEMORY_ASYNC_RECLAIM" };
static const char *const kernels[] = { "KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE",
				       "KERNEL_DISPATCH_COMPLETE" };
static const char *const copies[] = { "MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST",
				      "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
				      "MEMORY_COPY_DEVICE_TO_DEVICE" };
static const char *const memories[] = { "MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE",
					"MEMORY_ALLOCATION_VMEM_ALLOCATE", "MEMORY_ALLOCATION_FREE",
					"MEMORY_ALLOCATION_VMEM_FREE" };
static const char *const runtimes[] = { "<unknown-runtime>", "HSA runtime",
					"HIP runtime",       "Marker (ROCTx) runtime",
					"RCCL runtime",      "rocDecode runtime",
					"rocJPEG runtime" };
static const char *const streams[] = { "HIP_STREAM_NONE", "HIP_STREAM_CREATE", "HIP_STREAM_DESTROY",
				       "HIP_STREAM_SET" };
static const char *const ranges[] = { "roctxMarkA", "roctxThreadRangeA", "roctxProcessRangeA",
				      "roctxGetThreadId" };

struct kind {
	const char *name;
	struct operation_list operations;
};

static const struct kind callback_kinds[CALLBACK_KINDS] = {
	[0] = { "NONE", { 0 } },
	[CALLBACK_HSA_CORE] = { "HSA_CORE_API", { 0 } },
	[CALLBACK_HSA_AMD] = { "HSA_AMD_EXT_API", { 0 } },
	[CALLBACK_HSA_IMAGE] = { "HSA_IMAGE_EXT_API", { 0 } },
	[CALLBACK_HSA_FINALIZER] = { "HSA_FINALIZE_EXT_API", { 0 } },
	[CALLBACK_HIP_RUNTIME] = { "HIP_RUNTIME_API", { 0 } },
	[CALLBACK_HIP_COMPILER] = { "HIP_COMPILER_API", { 0 } },
	[CALLBACK_MARKER_CORE] = { "MARKER_CORE_API", { 0 } },
	[CALLBACK_MARKER_CONTROL] = { "MARKER_CONTROL_API", { 0 } },
	[CALLBACK_MARKER_NAME] = { "MARKER_NAME_API", { 0 } },
	[CALLBACK_CODE_OBJECT] = { "CODE_OBJECT", NAMES(code_objects) },
	[CALLBACK_SCRATCH] = { "SCRATCH_MEMORY", NAMES(scratches) },
	[CALLBACK_KERNEL] = { "KERNEL_DISPATCH", NAMES(kernels) },
	[CALLBACK_COPY] = { "MEMORY_COPY", NAMES(copies) },
	[CALLBACK_RCCL] = { "RCCL_API", { 0 } },
	[CALLBACK_OMPT] = { "OMPT", { 0 } },
	[CALLBACK_MEMORY] = { "MEMORY_ALLOCATION", NAMES(memories) },
	[CALLBACK_RUNTIME] = { "RUNTIME_INITIALIZATION", NAMES(runtimes) },
	[CALLBACK_ROCDECODE] = { "ROCDECODE_API", { 0 } },
	[CALLBACK_ROCJPEG] = { "ROCJPEG_API", { 0 } },
	[CALLBACK_STREAM] = { "HIP_STREAM", NAMES(streams) },
	[CALLBACK_MARKER_RANGE] = { "MARKER_CORE_RANGE_API", NAMES(ranges) },
};

static const struct kind buffer_kinds[BUFFER_KINDS] = {
	[0] = { "NONE", { 0 } },
	[BUFFER_HSA_CORE] = { "HSA_CORE_API", { 0 } },
	[BUFFER_HSA_AMD] = { "HSA_AMD_EXT_API", { 0 } },
	[BUFFER_HSA_IMAGE] = { "HSA_IMAGE_EXT_API", { 0 } },
	[BUFFER_HSA_FINALIZER] = { "HSA_FINALIZE_EXT_API", { 0 } },
	[BUFFER_HIP_RUNTIME] = { "HIP_RUNTIME_API", { 0 } },
	[BUFFER_HIP_COMPILER] = { "HIP_COMPILER_API", { 0 } },
	[BUFFER_MARKER_CORE] = { "MARKER_CORE_API", { 0 } },
	[BUFFER_MARKER_CONTROL] = { "MARKER_CONTROL_API", { 0 } },
	[BUFFER_MARKER_NAME] = { "MARKER_NAME_API", { 0 } },
	[BUFFER_COPY] = { "MEMORY_COPY", NAMES(copies) },
	[BUFFER_KERNEL] = { "KERNEL_DISPATCH", NAMES(kernels) },
	[BUFFER_SCRATCH] = { "SCRATCH_MEMORY", NAMES(scratches) },
	[BUFFER_RETIREMENT] = { "CORRELATION_ID_RETIREMENT", { 0 } },
	[BUFFER_RCCL] = { "RCCL_API", { 0 } },
	[BUFFER_OMPT] = { "OMPT", { 0 } },
	[BUFFER_MEMORY] = { "MEMORY_ALLOCATION", NAMES(memories) },
	[BUFFER_RUNTIME] = { "RUNTIME_INITIALIZATION", NAMES(runtimes) },
	[BUFFER_ROCDECODE] = { "ROCDECODE_API", { 0 } },
	[BUFFER_ROCJPEG] = { "ROCJPEG_API", { 0 } },
	[BUFFER_STREAM] = { "HIP_STREAM", NAMES(streams) },
	[BUFFER_HIP_RUNTIME_EXT] = { "HIP_RUNTIME_API_EXT", { 0 } },
	[BUFFER_HIP_COMPILER_EXT] = { "HIP_COMPILER_API_EXT", { 0 } },
	[BUFFER_ROCDECODE_EXT] = { "ROCDECODE_API_EXT", { 0 } },
	[BUFFER_KFD_EVENT_MIGRATE] = { "KFD_EVENT_PAGE_MIGRATE", { 0 } },
	[BUFFER_KFD_EVENT_FAULT] = { "KFD_EVENT_PAGE_FAULT", { 0 } },
	[BUFFER_KFD_EVENT_QUEUE] = { "KFD_EVENT_QUEUE", { 0 } },
	[BUFFER_KFD_EVENT_UNMAP] = { "KFD_EVENT_UNMAP_FROM_GPU", { 0 } },
	[BUFFER_KFD_EVENT_DROPPED] = { "KFD_EVENT_DROPPED_EVENTS", { 0 } },
	[BUFFER_KFD_MIGRATE] = { "KFD_PAGE_MIGRATE", { 0 } },
	[BUFFER_KFD_FAULT] = { "KFD_PAGE_FAULT", { 0 } },
	[BUFFER_KFD_QUEUE] = { "KFD_QUEUE", { 0 } },
	[BUFFER_MARKER_RANGE] = { "MARKER_CORE_RANGE_API", NAMES(ranges) },
};

static const char *const request_kinds[REQUEST_KINDS] = {
	"NONE",
	"HSA_CORE_API",
	"HSA_AMD_EXT_API",
	"HSA_IMAGE_EXT_API",
	"HSA_FINALIZE_EXT_API",
	"HIP_RUNTIME_API",
	"HIP_COMPILER_API",
	"MARKER_CORE_API",
	"MARKER_CONTROL_API",
	"MARKER_NAME_API",
	"MEMORY_COPY",
	"KERNEL_DISPATCH",
	"SCRATCH_MEMORY",
	"RCCL_API",
	"OMPT",
	"MEMORY_ALLOCATION",
	"ROCDECODE_API",
	"ROCJPEG_API",
	"MARKER_CORE_RANGE_API",
};

/* Indexed by the number of the table's bit. */
static const char *const intercept_tables[] = {
	"HSA",
	"HIP (runtime)",
	"HIP (compiler)",
	"MARKER (ROCTx)",
	"MARKER (ROCTx Control)",
	"MARKER (ROCTx Name)",
	"RCCL",
	"rocDecode",
	"rocJPEG",
};

static void give_name(const char *found, const char **name, uint64_t *length)
{
	if (name)
		*name = found;
	if (length)
		*length = found ? text_length(found) : 0;
}

static unsigned operation_count(const struct kind *kind, const struct api_table *table)
{
	return table ? table->count : kind->operations.count;
}

static const char *operation_name(const struct kind *kind, const struct api_table *table,
				  int operation)
{
	if (operation < 0 || (unsigned)operation >= operation_count(kind, table))
		return NULL;
	return table ? table->signatures[operation].name : kind->operations.names[operation];
}

static int name_operation(const struct kind *kind, const struct api_table *table, int operation,
			  const char **name, uint64_t *length)
{
	const char *found = operation_name(kind, table, operation);

	give_name(found, name, length);
	return found ? SDK_SUCCESS : SDK_OPERATION_NOT_FOUND;
}

static void each_operation(int kind, unsigned count, operation_function *callback, void *data)
{
	for (unsigned i = 0; i < count; i++)
		if (callback(kind, (int)i, data))
			return;
}

SDK_EXPORT int rocprofiler_query_callback_tracing_kind_name(int kind, const char **name,
							    uint64_t *length);
SDK_EXPORT int rocprofiler_query_callback_tracing_kind_operation_name(int kind, int operation,
								      const char **name,
								      uint64_t *length);
SDK_EXPORT int rocprofiler_iterate_callback_tracing_kinds(kind_function *callback, void *data);
SDK_EXPORT int rocprofiler_iterate_callback_tracing_kind_operations(int kind,
								    operation_function *callback,
								    void *data);
SDK_EXPORT int rocprofiler_query_buffer_tracing_kind_name(int kind, const char **name,
							  uint64_t *length);
SDK_EXPORT int rocprofiler_query_buffer_tracing_kind_operation_name(int kind, int operation,
								    const char **name,
								    uint64_t *length);
SDK_EXPORT int rocprofiler_iterate_buffer_tracing_kinds(kind_function *callback, void *data);
SDK_EXPORT int rocprofiler_iterate_buffer_tracing_kind_operations(int kind,
								  operation_function *callback,
								  void *data);
SDK_EXPORT int rocprofiler_query_external_correlation_id_request_kind_name(int kind,
									   const char **name,
									   uint64_t *length);
SDK_EXPORT int rocprofiler_query_intercept_table_name(int table, const char **name,
						      uint64_t *length);

int rocprofiler_query_callback_tracing_kind_name(int kind, const char **name, uint64_t *length)
{
	bool is_known = kind >= 0 && kind < CALLBACK_KINDS;

	give_name(is_known ? callback_kinds[kind].name : NULL, name, length);
	return is_known ? SDK_SUCCESS : SDK_KIND_NOT_FOUND;
}

int rocprofiler_query_callback_tracing_kind_operation_name(int kind, int operation,
							   const char **name, uint64_t *length)
{
	if (kind < 0 || kind >= CALLBACK_KINDS)
		return SDK_KIND_NOT_FOUND;
	if (!kind)
		return SDK_INVALID_ARGUMENT;
	return name_operation(&callback_kinds[kind], table_of_callback(kind), operation, name,
			      length);
}

int rocprofiler_iterate_callback_tracing_kinds(kind_function *callback, void *data)
{
	if (!callback)
		return SDK_INVALID_ARGUMENT;
	for (int kind = 0; kind < CALLBACK_KINDS; kind++)
		if (callback(kind, data))
			break;
	return SDK_SUCCESS;
}

int rocprofiler_iterate_callback_tracing_kind_operations(int kind, operation_function *callback,
							 void *data)
{
	if (kind <= 0 || kind >= CALLBACK_KINDS || !callback)
		return SDK_INVALID_ARGUMENT;
	each_operation(kind, operation_count(&callback_kinds[kind], table_of_callback(kind)),
		       callback, data);
	return SDK_SUCCESS;
}

int rocprofiler_query_buffer_tracing_kind_name(int kind, const char **name, uint64_t *length)
{
	bool is_known = kind >= 0 && kind < BUFFER_KINDS;

	give_name(is_known ? buffer_kinds[kind].name : NULL, name, length);
	return is_known ? SDK_SUCCESS : SDK_KIND_NOT_FOUND;
}

int rocprofiler_query_buffer_tracing_kind_operation_name(int kind, int operation, const char **name,
							 uint64_t *length)
{
	if (kind < 0 || kind >= BUFFER_KINDS)
		return SDK_KIND_NOT_FOUND;
	if (!kind)
		return SDK_INVALID_ARGUMENT;
	if (kind == BUFFER_RETIREMENT)
		return SDK_NOT_IMPLEMENTED;
	return name_operation(&buffer_kinds[kind], table_of_buffer(kind), operation, name, length);
}

int rocprofiler_iterate_buffer_tracing_kinds(kind_function *callback, void *data)
{
	if (!callback)
		return SDK_INVALID_ARGUMENT;
	for (int kind = 0; kind < BUFFER_KINDS; kind++)
		if (callback(kind, data))
			break;
	return SDK_SUCCESS;
}

int rocprofiler_iterate_buffer_tracing_kind_operations(int kind, operation_function *callback,
						       void *data)
{
	if (kind <= 0 || kind >= BUFFER_KINDS || !callback)
		return SDK_INVALID_ARGUMENT;
	if (kind == BUFFER_RETIREMENT)
		return SDK_NOT_IMPLEMENTED;
	each_operation(kind, operation_count(&buffer_kinds[kind], table_of_buffer(kind)), callback,
		       data);
	return SDK_SUCCESS;
}

int rocprofiler_query_external_correlation_id_request_kind_name(int kind, const char **name,
								uint64_t *length)
{
	bool is_known = kind >= 0 && kind < REQUEST_KINDS;

	give_name(is_known ? request_kinds[kind] : NULL, name, length);
	return is_known ? SDK_SUCCESS : SDK_KIND_NOT_FOUND;
}

int rocprofiler_query_intercept_table_name(int table, const char **name, uint64_t *length)
{
	const char *found = NULL;

	for (unsigned i = 0; i < ARRAY_SIZE(intercept_tables); i++)
		if (table == 1 << i)
			found = intercept_tables[i];
	give_name(found, name, length);
	return found ? SDK_SUCCESS : SDK_KIND_NOT_FOUND;
}
