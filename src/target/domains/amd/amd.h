/*
 * AMD's runtimes, HIP, HSA, RCCL, rocDecode and rocJPEG, and roctx: all of them give the agent
 * tables of their functions.
 */
#pragma once

#include "target/domains/runtime.h"

extern const struct runtime runtime_amd;

extern const struct domain_hooks hooks_roctx, hooks_hip_runtime, hooks_hip_compiler, hooks_hsa_core,
	hooks_hsa_amd, hooks_hsa_image, hooks_hsa_finalizer, hooks_rccl, hooks_rocdecode,
	hooks_rocjpeg;
