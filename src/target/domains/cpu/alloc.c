/*
 * Traces calls that allocate and free memory: every call, or samples by bytes (alloc_samples.c).
 */
#include "target/domains/cpu/alloc_samples.h"
#include "target/domains/cpu/cpu.h"
#include "target/hooks/writer.h"

static bool alloc_start(const struct trace_request *request)
{
	enum callers_extent extent = request->alloc_stacks ? CALLERS_LINKED : CALLERS_DIRECT;

	writer_callers_use(DOMAIN_ALLOC, request->alloc_sample ? CALLERS_NONE : extent);
	return !request->alloc_sample || alloc_samples_start(request);
}

#define TAKES(symbol, name, shape, origin, ...)                                      \
	{                                                                            \
		symbol, name, DOMAIN_ALLOC, HOOK_REGISTERS, NULL, NULL, __VA_ARGS__, \
	},
#define GIVES(symbol, name, ...)                                                     \
	{                                                                            \
		symbol, name, DOMAIN_ALLOC, HOOK_REGISTERS, NULL, NULL, __VA_ARGS__, \
	},
static const struct traced calls[] = {
#include "target/domains/cpu/alloc_calls.def"
};

const struct domain_hooks hooks_alloc = { DOMAIN_ALLOC, calls, ARRAY_SIZE(calls), alloc_start,
					  alloc_samples };
