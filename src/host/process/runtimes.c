/*
 * Recognises GPU runtimes by the libraries that are mapped.
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

/* Nearly all lines end here: only libraries count. */
static const char *library_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && strncmp(slash + 1, "lib", 3) == 0 ? slash + 1 : NULL;
}

static bool library_has_stem(const char *name, const char *stem)
{
	size_t length = strlen(stem);

	return strncmp(name, stem, length) == 0 && strncmp(name + length, ".so", 3) == 0;
}

static unsigned runtime_of(const char *path)
{
	const char *name = library_name(path);

	for (size_t i = 0; name && i < ARRAY_SIZE(libraries); i++)
		if (library_has_stem(name, libraries[i].stem))
			return 1u << libraries[i].runtime;
	return 0;
}

static const char *library_find(const struct maps *maps, const char *stem)
{
	for (size_t i = 0; i < maps->count; i++) {
		const char *name = library_name(maps->items[i].path);

		if (name && library_has_stem(name, stem))
			return maps->items[i].path;
	}
	return NULL;
}

void runtimes_cuda(const struct maps *maps, struct cuda_libraries *ret)
{
	ret->driver = library_find(maps, "libcuda");
	ret->runtime = library_find(maps, "libcudart");
	ret->profiler = library_find(maps, "libcupti");
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
