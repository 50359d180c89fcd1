/*
 * The status numbers that SDK functions return.
 */
#pragma once

enum sdk_status {
#define STATUS(name, amd, text) SDK_##name,
#include "target/amd/sinks/sdk/base/statuses.def"
#undef STATUS
	SDK_STATUSES,
};
