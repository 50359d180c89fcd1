/*
 * Traces imported functions of libcudart. Works without CUPTI. A statically linked runtime is not
 * imported, and appears only by its driver calls.
 */
#include "target/domains/cuda/cuda.h"

#include "target/hooks/wants.h"
#include "target/runtime/text.h"

static void write_call(struct writer *writer, const struct hook *hook,
		       const struct hook_frame *frame, uint64_t end)
{
	if (hook_write_call(writer, hook, frame, end) && cuda_writes_stacks())
		writer_callers(writer, frame, CALLERS_COPIED);
}

#define RESULT                                   \
	{                                        \
		VALUE_RESULT, CAPTURE_RESULT_INT \
	}
#define CALL(symbol, name, ...)                                                            \
	{                                                                                  \
		symbol, name, DOMAIN_CUDA_RUNTIME, HOOK_ANY, write_call, NULL, __VA_ARGS__ \
	}

static const struct traced calls[] = {
#define RUNTIME_CALL(name, symbol) CALL(#symbol, #name, 1, { RESULT }),
#define RUNTIME_BYTES(name, symbol, argument) \
	CALL(#symbol, #name, 2, { RESULT, { VALUE_SIZE, CAPTURE_ARG##argument } }),
#include "target/domains/cuda/runtime_calls.def"
#undef RUNTIME_CALL
#undef RUNTIME_BYTES
};

/* Every other function, by its imported name. */
static const struct traced status = CALL(NULL, NULL, 1, { RESULT });
static const struct traced plain = CALL(NULL, NULL, 0, { { 0, 0 } });

/* The first match counts. */
static const struct {
	const struct traced *traced;
	const char *text;
} patterns[] = {
	{ &plain, "libcudart.so*:cudaGetErrorName" },
	{ &plain, "libcudart.so*:cudaGetErrorString" },
	{ &plain, "libcudart.so*:cudaCreateChannelDesc" },
	{ &status, "libcudart.so*:cuda*" },
};

static bool runtime_calls_start(const struct trace_request *request)
{
	bool fits = true;

	for (size_t i = 0; request_has(request, CUDA_API_ALL) && i < ARRAY_SIZE(patterns); i++)
		fits &= wants_add_pattern(patterns[i].traced, patterns[i].text,
					  text_length(patterns[i].text));
	return fits;
}

const struct domain_hooks hooks_cuda_runtime = { DOMAIN_CUDA_RUNTIME, calls, ARRAY_SIZE(calls),
						 runtime_calls_start };
