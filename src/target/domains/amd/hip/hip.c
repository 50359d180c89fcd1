/*
 * HIP: its whole table, by the names of its slots; of an older runtime, its imported functions.
 */
#include "target/domains/amd/amd.h"
#include "target/domains/amd/hip/activity.h"
#include "target/domains/amd/slots.h"
#include "target/domains/amd/wants.h"

static void write_call(struct writer *writer, const struct hook *hook,
		       const struct hook_frame *frame, uint64_t end)
{
	if (amd_wants(DOMAIN_HIP_RUNTIME))
		(void)hook_write_call(writer, hook, frame, end);
	activity_leave(frame);
}

#define STATUS(name, signature) SLOT_STATUS(name, DOMAIN_HIP_RUNTIME, HOOK_ENTERED, write_call),
#define PLAIN(name, signature)  SLOT_PLAIN(name, DOMAIN_HIP_RUNTIME, HOOK_ANY, NULL),
static const struct traced runtime[] = {
#include "target/amd/tables/hip_runtime.def"
};
#undef STATUS
#undef PLAIN

#define STATUS(name, signature) SLOT_STATUS(name, DOMAIN_HIP_COMPILER, HOOK_ANY, NULL),
#define PLAIN(name, signature)  SLOT_PLAIN(name, DOMAIN_HIP_COMPILER, HOOK_ANY, NULL),
static const struct traced compiler[] = {
#include "target/amd/tables/hip_compiler.def"
};
#undef STATUS
#undef PLAIN

const struct slot_list hip_lists[2] = {
	{ "hip", 0, false, false, DOMAIN_HIP_RUNTIME, runtime, ARRAY_SIZE(runtime) },
	{ "hip_compiler", 0, false, false, DOMAIN_HIP_COMPILER, compiler, ARRAY_SIZE(compiler) },
};

/* Functions are named as they are imported. */
#define IMPORTED(domain, count)                                  \
	{                                                        \
		NULL, NULL, domain, HOOK_ANY, NULL, NULL, count, \
		{                                                \
			{                                        \
				VALUE_RESULT, CAPTURE_RESULT_INT \
			}                                        \
		}                                                \
	}
static const struct traced runtime_status = IMPORTED(DOMAIN_HIP_RUNTIME, 1);
static const struct traced runtime_plain = IMPORTED(DOMAIN_HIP_RUNTIME, 0);
static const struct traced compiler_status = IMPORTED(DOMAIN_HIP_COMPILER, 1);
static const struct traced compiler_plain = IMPORTED(DOMAIN_HIP_COMPILER, 0);

/* The first match counts. */
static const struct import_pattern imports[] = {
	{ &runtime_plain, "libamdhip64*:hipGetErrorName" },
	{ &runtime_plain, "libamdhip64*:hipGetErrorString" },
	{ &runtime_plain, "libamdhip64*:hipApiName" },
	{ &runtime_plain, "libamdhip64*:hipKernelNameRef*" },
	{ &runtime_plain, "libamdhip64*:hipCreateChannelDesc" },
	{ &runtime_status, "libamdhip64*:hip*" },
	{ &compiler_plain, "libamdhip64*:__hipRegister*" },
	{ &compiler_plain, "libamdhip64*:__hipUnregister*" },
	{ &compiler_status, "libamdhip64*:__hip*" },
};

static bool start_runtime(const struct trace_request *request)
{
	(void)request;
	return imports_add(imports, ARRAY_SIZE(imports), DOMAIN_HIP_RUNTIME);
}

static bool start_compiler(const struct trace_request *request)
{
	(void)request;
	return imports_add(imports, ARRAY_SIZE(imports), DOMAIN_HIP_COMPILER);
}

const struct domain_hooks hooks_hip_runtime = { DOMAIN_HIP_RUNTIME, NULL, 0, start_runtime };
const struct domain_hooks hooks_hip_compiler = { DOMAIN_HIP_COMPILER, NULL, 0, start_compiler };
