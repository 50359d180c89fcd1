/*
 * The numbers that rocprofiler functions return, as far as we return them.
 */
#pragma once

enum sdk_status {
	SDK_SUCCESS = 0,
	SDK_ERROR = 1,
	SDK_CONTEXT_NOT_FOUND = 2,
	SDK_CONTEXT_ERROR = 9,
	SDK_CONTEXT_ID_NOT_ZERO = 13,
	SDK_CONFIGURATION_LOCKED = 16,
	SDK_INVALID_ARGUMENT = 19,
	SDK_FINALIZED = 21,
};
