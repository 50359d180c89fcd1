/*
 * HIP, HSA, RCCL, rocDecode, rocJPEG and roctx: they register function tables with the agent.
 */
#pragma once

#include "target/domains/runtime.h"

extern const struct runtime runtime_amd;

extern const struct domain_hooks hooks_roctx, hooks_hip_runtime, hooks_hip_compiler, hooks_hsa_core,
	hooks_hsa_amd, hooks_hsa_image, hooks_hsa_finalizer, hooks_rccl, hooks_rocdecode,
	hooks_rocjpeg;
