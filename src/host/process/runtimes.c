/*
 * Recognises GPU runtimes by the libraries that are mapped.  Host only.
 */
#include "host/process/runtimes.h"

#include <stdio.h>
#include <string.h>

/* The stem of a library's name: ".so" or ".so.N" must follow. */
static const struct {
	enum runtime runtime;
	const char *stem;
} libraries[] = {
	{ RUNTIME_HIP, "libamdhip64" },
	{ RUNTIME_HSA, "libhsa-runtime64" },
	{ RUNTIME_CUDA, "libcuda" },
	{ RUNTIME_CUDA, "libcudart" },
	{ RUNTIME_OPENCL, "libOpenCL" },
	{ RUNTIME_OPENCL, "libamdocl64" },
	{ RUNTIME_OPENCL, "libnvidia-opencl" },
	{ RUNTIME_OPENCL, "libpocl" },
};

static const char *const names[RUNTIME_COUNT] = {
	[RUNTIME_HIP] = "hip",
	[RUNTIME_HSA] = "hsa",
	[RUNTIME_CUDA] = "cuda",
	[RUNTIME_OPENCL] = "opencl",
};

static unsigned runtime_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	/* Nearly all lines end here: only libraries count. */
	if (!slash || strncmp(slash + 1, "lib", 3) != 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		size_t length = strlen(libraries[i].stem);

		if (strncmp(slash + 1, libraries[i].stem, length) == 0 &&
		    strncmp(slash + 1 + length, ".so", 3) == 0)
			return 1u << libraries[i].runtime;
	}
	return 0;
}

unsigned runtimes_find(const struct maps *maps)
{
	unsigned found = 0;

	for (size_t i = 0; i < maps->count; i++)
		found |= runtime_of(maps->items[i].path);
	return found;
}

const char *runtime_name(enum runtime runtime)
{
	return names[runtime];
}

const char *runtimes_describe(unsigned runtimes, char *buffer, size_t capacity)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (unsigned i = 0; i < RUNTIME_COUNT && used < capacity; i++)
		if (runtimes >> i & 1)
			used += (size_t)snprintf(buffer + used, capacity - used, "%s%s",
						 used ? "," : "", names[i]);
	return buffer;
}
