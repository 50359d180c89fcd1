/*
 * The list of domains, and what the host asks of them.
 */
#include "target/domains/domain.h"
#include "target/runtime/text.h"

const struct domain *const domains[DOMAINS] = {
	[DOMAIN_ALLOC] = &domain_alloc,
	[DOMAIN_IO] = &domain_io,
	[DOMAIN_LOCK] = &domain_lock,
	[DOMAIN_FUNCTION] = &domain_function,
	[DOMAIN_MARKER] = &domain_marker,
	[DOMAIN_OPENCL] = &domain_opencl,
	[DOMAIN_HIP_RUNTIME] = &domain_hip_runtime,
	[DOMAIN_HIP_COMPILER] = &domain_hip_compiler,
	[DOMAIN_HSA_CORE] = &domain_hsa_core,
	[DOMAIN_HSA_AMD] = &domain_hsa_amd,
	[DOMAIN_HSA_IMAGE] = &domain_hsa_image,
	[DOMAIN_HSA_FINALIZER] = &domain_hsa_finalizer,
	[DOMAIN_RCCL] = &domain_rccl,
	[DOMAIN_KERNEL] = &domain_kernel,
	[DOMAIN_COPY] = &domain_copy,
	[DOMAIN_MEMORY] = &domain_memory,
	[DOMAIN_SCRATCH] = &domain_scratch,
};

const struct gpu_runtime *const gpu_runtimes[GPU_RUNTIMES] = { &gpu_amd, &gpu_opencl };

domain_symbol *domain_find_symbol;

static bool part_is(const char *part, size_t length, const char *name)
{
	size_t i = 0;

	while (i < length && name[i] && part[i] == name[i])
		i++;
	return i == length && !name[i];
}

static bool part_begins(const char *part, size_t length, const char *name, const char **rest)
{
	size_t size = text_length(name);

	*rest = part + size;
	return length > size && part_is(part, size, name);
}

static uint64_t number(const char *text, const char *end)
{
	uint64_t value = 0;

	for (; text < end && *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	return value;
}

bool request_next(const char **part, size_t *length)
{
	*part += *length;
	while (**part == ';')
		(*part)++;
	for (*length = 0; (*part)[*length] && (*part)[*length] != ';';)
		(*length)++;
	return *length > 0;
}

static void read_part(struct trace_request *request, const char *part, size_t length)
{
	const char *rest;

	for (unsigned i = 0; i < DOMAINS; i++)
		request->is_wanted[i] |= part_is(part, length, domains[i]->name);
	request->asks_number |= part_is(part, length, "ask-number");
	request->opencl_device_time |= part_is(part, length, "opencl-device-time");
	if (part_is(part, length, "lock-all"))
		request->is_wanted[DOMAIN_LOCK] = request->all_locks = true;
	if (part_is(part, length, "alloc-stack"))
		request->is_wanted[DOMAIN_ALLOC] = request->alloc_stacks = true;
	if (part_begins(part, length, "alloc-sample=", &rest)) {
		request->is_wanted[DOMAIN_ALLOC] = true;
		request->alloc_sample = number(rest, part + length);
	}
	if (part_begins(part, length, "function=", &rest))
		request->is_wanted[DOMAIN_FUNCTION] = true;
}

void request_read(const char *text, struct trace_request *ret)
{
	const char *part = text;
	size_t length = 0;

	*ret = (struct trace_request){ .text = text };
	while (request_next(&part, &length))
		read_part(ret, part, length);
}
