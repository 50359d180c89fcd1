/*
 * Which GPU runtimes a process has loaded.
 */
#pragma once

#include "host/process/maps.h"

enum runtime {
	RUNTIME_HIP,
	RUNTIME_HSA,
	RUNTIME_CUDA,
	RUNTIME_OPENCL,
	RUNTIME_COUNT,
};

/* One bit for each enum runtime. */
unsigned runtimes_find(const struct maps *maps);

/* CUDA's libraries, by path; NULL: not mapped.  Valid as long as the maps. */
struct cuda_libraries {
	const char *driver, *runtime, *profiler;
};
void runtimes_cuda(const struct maps *maps, struct cuda_libraries *ret);

/* "hip", "hsa", ... */
const char *runtime_name(enum runtime runtime);

/* "hip,hsa"; "" for none.  Returns the buffer. */
const char *runtimes_describe(unsigned runtimes, char *buffer, size_t capacity);
