/*
 * Lists the runtimes.
 */
#include "target/tool/runtimes.h"

#include "target/amd/sinks/ring/ring.h"
#include "target/domains/cpu/cpu.h"
#include "target/domains/cuda/cuda.h"
#include "target/domains/opencl/opencl.h"

const struct runtime *const runtimes[RUNTIMES] = { &runtime_cpu, &runtime_amd, &runtime_opencl,
						   &runtime_cuda };
