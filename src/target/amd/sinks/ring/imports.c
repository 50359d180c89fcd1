/*
 * Functions of runtimes that have no tables, as modules import them; roctx as an imported library.
 */
#include "target/amd/sinks/ring/ring.h"

#include "target/domains/marker.h"
#include "target/hooks/wants.h"
#include "target/runtime/text.h"

/* An imported function, which returns a status or not; named as it is imported. */
#define IMPORTED(domain, way, count)                             \
	{                                                        \
		NULL, NULL, domain, way, NULL, NULL, count,      \
		{                                                \
			{                                        \
				VALUE_RESULT, CAPTURE_RESULT_INT \
			}                                        \
		}                                                \
	}
static const struct traced hip_status = IMPORTED(DOMAIN_HIP_RUNTIME, HOOK_ANY, 1);
static const struct traced hip_plain = IMPORTED(DOMAIN_HIP_RUNTIME, HOOK_ANY, 0);
static const struct traced compiler_status = IMPORTED(DOMAIN_HIP_COMPILER, HOOK_ANY, 1);
static const struct traced compiler_plain = IMPORTED(DOMAIN_HIP_COMPILER, HOOK_ANY, 0);
static const struct traced core_status = IMPORTED(DOMAIN_HSA_CORE, HOOK_ANY, 1);
static const struct traced core_plain = IMPORTED(DOMAIN_HSA_CORE, HOOK_ANY, 0);
static const struct traced amd_status = IMPORTED(DOMAIN_HSA_AMD, HOOK_ANY, 1);
static const struct traced amd_plain = IMPORTED(DOMAIN_HSA_AMD, HOOK_ANY, 0);
static const struct traced image_status = IMPORTED(DOMAIN_HSA_IMAGE, HOOK_ANY, 1);
static const struct traced finalizer_status = IMPORTED(DOMAIN_HSA_FINALIZER, HOOK_WIDE, 1);

struct import_pattern {
	const struct traced *traced;
	const char *text;
};

/* The first match counts. */
static const struct import_pattern hip_imports[] = {
	{ &hip_plain, "libamdhip64*:hipGetErrorName" },
	{ &hip_plain, "libamdhip64*:hipGetErrorString" },
	{ &hip_plain, "libamdhip64*:hipApiName" },
	{ &hip_plain, "libamdhip64*:hipKernelNameRef*" },
	{ &hip_plain, "libamdhip64*:hipCreateChannelDesc" },
	{ &hip_status, "libamdhip64*:hip*" },
	{ &compiler_plain, "libamdhip64*:__hipRegister*" },
	{ &compiler_plain, "libamdhip64*:__hipUnregister*" },
	{ &compiler_status, "libamdhip64*:__hip*" },
};
static const struct import_pattern hsa_imports[] = {
	{ &amd_plain, "libhsa-runtime64*:hsa_amd_signal_wait_*" },
	{ &amd_status, "libhsa-runtime64*:hsa_amd_*" },
	{ &finalizer_status, "libhsa-runtime64*:hsa_ext_program_*" },
	{ &image_status, "libhsa-runtime64*:hsa_ext_*" },
	{ &core_status, "libhsa-runtime64*:hsa_signal_create" },
	{ &core_status, "libhsa-runtime64*:hsa_signal_destroy" },
	{ &core_plain, "libhsa-runtime64*:hsa_signal_*" },
	{ &core_plain, "libhsa-runtime64*:hsa_queue_*_index_*" },
	{ &core_status, "libhsa-runtime64*:hsa_*" },
};

/* Adds the patterns of wanted domains, and excludes matches of the others. False: no room. */
static bool imports_add(const struct import_pattern *patterns, size_t count)
{
	bool fits = true;

	for (size_t i = 0; i < count; i++) {
		const struct traced *traced = patterns[i].traced;

		fits &= wants_add_pattern(ring_wants(traced->domain) ? traced : NULL,
					  patterns[i].text, text_length(patterns[i].text));
	}
	return fits;
}

static bool hip_start(const struct trace_request *request)
{
	(void)request;
	return imports_add(hip_imports, ARRAY_SIZE(hip_imports));
}

static bool hsa_start(const struct trace_request *request)
{
	(void)request;
	return imports_add(hsa_imports, ARRAY_SIZE(hsa_imports));
}

static const struct traced roctx_calls[] = {
	MARKS("roctxMarkA", marker_write_message),
	PUSHES("roctxRangePushA", marker_write_message),
	PUSHES("roctxRangePop", NULL),
	STARTS("roctxRangeStartA", marker_write_message),
	STOPS("roctxRangeStop"),
	MARKS("roctxGetThreadId", NULL),
	MARKS("roctxProfilerPause", NULL),
	MARKS("roctxProfilerResume", NULL),
	MARKS("roctxNameOsThread", marker_write_message),
	MARKS("roctxNameHsaAgent", marker_write_message),
	MARKS("roctxNameHipDevice", marker_write_message),
	MARKS("roctxNameHipStream", marker_write_message),
};

static const struct domain_hooks hooks_roctx = { DOMAIN_MARKER, roctx_calls,
						 ARRAY_SIZE(roctx_calls), NULL };
static const struct domain_hooks hooks_hip = { DOMAIN_HIP_RUNTIME, NULL, 0, hip_start };
static const struct domain_hooks hooks_compiler = { DOMAIN_HIP_COMPILER, NULL, 0, hip_start };
static const struct domain_hooks hooks_core = { DOMAIN_HSA_CORE, NULL, 0, hsa_start };
static const struct domain_hooks hooks_amd = { DOMAIN_HSA_AMD, NULL, 0, hsa_start };
static const struct domain_hooks hooks_image = { DOMAIN_HSA_IMAGE, NULL, 0, hsa_start };
static const struct domain_hooks hooks_finalizer = { DOMAIN_HSA_FINALIZER, NULL, 0, hsa_start };
static const struct domain_hooks hooks_rccl = { DOMAIN_RCCL, NULL, 0, NULL };
static const struct domain_hooks hooks_rocdecode = { DOMAIN_ROCDECODE, NULL, 0, NULL };
static const struct domain_hooks hooks_rocjpeg = { DOMAIN_ROCJPEG, NULL, 0, NULL };

const struct domain_hooks *const amd_hooks[AMD_HOOKS] = {
	&hooks_roctx, &hooks_hip,       &hooks_compiler, &hooks_core,      &hooks_amd,
	&hooks_image, &hooks_finalizer, &hooks_rccl,     &hooks_rocdecode, &hooks_rocjpeg,
};

static const struct amd_engine *engine;

void imports_start(const struct trace_request *request, const struct amd_engine *used)
{
	(void)request;
	engine = used;
}

/* rocprofiler_register_library_api_table(name, import, version, tables, count, id): a runtime calls
 * it once for each kind of table, on an application thread, which waits for limpet's, up to a
 * limit. */
static void on_registered(struct hook_around *around, uint64_t end)
{
	const struct hook_frame *frame = &around->frame;
	const char *name = (const char *)hook_argument(frame, 0);
	void **tables = (void **)hook_argument(frame, 3);

	(void)end;
	if (writers_are_on() && engine && name && tables)
		engine->registered(name, (uint32_t)hook_argument(frame, 2), tables,
				   hook_argument(frame, 4));
}

static void write_nothing(struct writer *writer, const struct hook *hook,
			  const struct hook_frame *frame, uint64_t end)
{
	(void)writer, (void)hook, (void)frame, (void)end;
}

const struct traced amd_registration = {
	.symbol = "rocprofiler_register_library_api_table",
	.is_only_called = true, /* a weak import: runtimes test its address, and call it */
	.domain = DOMAIN_FUNCTION,
	.way = HOOK_AROUND,
	.write = write_nothing,
	.after = on_registered,
};
