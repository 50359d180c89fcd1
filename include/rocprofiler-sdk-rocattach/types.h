/*
 * The types of librocprofiler-sdk-rocattach: names, numbers and layout are those of AMD's library.
 */
#ifndef ROCPROFILER_SDK_ROCATTACH_TYPES_H
#define ROCPROFILER_SDK_ROCATTACH_TYPES_H

#include <stdint.h>

typedef enum rocattach_status_t {
	ROCATTACH_STATUS_SUCCESS = 0,
	ROCATTACH_STATUS_ERROR = 1,
	ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT = 2, /* also: attached already, not attached */
	ROCATTACH_STATUS_ERROR_NOT_SUPPORTED = 3,    /* such a process cannot be attached */
	ROCATTACH_STATUS_ERROR_PTRACE_ERROR = 4, /* another tracer has it: a debugger, a limpet */
	ROCATTACH_STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED = 5,
	ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND = 6,
	ROCATTACH_STATUS_LAST = 7,
} rocattach_status_t;

typedef struct rocattach_version_triplet_t {
	uint32_t major;
	uint32_t minor;
	uint32_t patch;
} rocattach_version_triplet_t;

#endif
