/*
 * HSA: the tables that its root points to, by the names of their slots; for a runtime older than
 * such tables, its imported functions.
 */
#include "target/domains/amd/amd.h"
#include "target/domains/amd/hsa/life.h"
#include "target/domains/amd/hsa/memory.h"
#include "target/domains/amd/hsa/work.h"
#include "target/domains/amd/slots.h"
#include "target/domains/amd/wants.h"

static void write_wanted(struct writer *writer, const struct hook *hook,
			 const struct hook_frame *frame, uint64_t end)
{
	if (amd_wants(hook->traced->domain))
		(void)hook_write_call(writer, hook, frame, end);
}

#define WORK_STATUS(name, signature, before, after) \
	SLOT_AROUND(name, DOMAIN, 1, write_wanted, before, after),
#define WORK_PLAIN(name, signature, before, after) \
	SLOT_AROUND(name, DOMAIN, 0, write_wanted, before, after),
#define MEMORY(name, signature, write) SLOT_STATUS(name, DOMAIN, HOOK_ANY, write),
#define STATUS(name, signature)        SLOT_STATUS(name, DOMAIN, HOOK_ANY, NULL),
#define PLAIN(name, signature)         SLOT_PLAIN(name, DOMAIN, HOOK_ANY, NULL),
#define WIDE(name, signature)          SLOT_STATUS(name, DOMAIN, HOOK_WIDE, NULL),
#define NEWER(name)                    SLOT_STATUS(name, DOMAIN, HOOK_ANY, NULL),

#define DOMAIN DOMAIN_HSA_CORE
static const struct traced core[] = {
#include "target/amd/tables/hsa_core.def"
};
#undef DOMAIN
#define DOMAIN DOMAIN_HSA_AMD
static const struct traced amd_ext[] = {
#include "target/amd/tables/hsa_amd_ext.def"
};
#undef DOMAIN
#define DOMAIN DOMAIN_HSA_IMAGE
static const struct traced image_ext[] = {
#include "target/amd/tables/hsa_image_ext.def"
};
#undef DOMAIN
#define DOMAIN DOMAIN_HSA_FINALIZER
static const struct traced finalizer_ext[] = {
#include "target/amd/tables/hsa_finalizer_ext.def"
};
#undef DOMAIN

const struct slot_list hsa_lists[4] = {
	{ "hsa", 0, true, false, DOMAIN_HSA_CORE, core, ARRAY_SIZE(core) },
	{ "hsa", 1, true, false, DOMAIN_HSA_AMD, amd_ext, ARRAY_SIZE(amd_ext) },
	{ "hsa", 2, true, false, DOMAIN_HSA_FINALIZER, finalizer_ext, ARRAY_SIZE(finalizer_ext) },
	{ "hsa", 3, true, false, DOMAIN_HSA_IMAGE, image_ext, ARRAY_SIZE(image_ext) },
};

#define IMPORTED(domain, way, count)                             \
	{                                                        \
		NULL, NULL, domain, way, NULL, NULL, count,      \
		{                                                \
			{                                        \
				VALUE_RESULT, CAPTURE_RESULT_INT \
			}                                        \
		}                                                \
	}
static const struct traced core_status = IMPORTED(DOMAIN_HSA_CORE, HOOK_ANY, 1);
static const struct traced core_plain = IMPORTED(DOMAIN_HSA_CORE, HOOK_ANY, 0);
static const struct traced amd_status = IMPORTED(DOMAIN_HSA_AMD, HOOK_ANY, 1);
static const struct traced amd_plain = IMPORTED(DOMAIN_HSA_AMD, HOOK_ANY, 0);
static const struct traced image_status = IMPORTED(DOMAIN_HSA_IMAGE, HOOK_ANY, 1);
static const struct traced finalizer_status = IMPORTED(DOMAIN_HSA_FINALIZER, HOOK_WIDE, 1);

/* The first match counts. */
static const struct import_pattern imports[] = {
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

static bool hsa_start(const struct trace_request *request)
{
	(void)request;
	return imports_add(imports, ARRAY_SIZE(imports), DOMAIN_HSA_CORE);
}

static bool start_amd(const struct trace_request *request)
{
	(void)request;
	return imports_add(imports, ARRAY_SIZE(imports), DOMAIN_HSA_AMD);
}

static bool start_image(const struct trace_request *request)
{
	(void)request;
	return imports_add(imports, ARRAY_SIZE(imports), DOMAIN_HSA_IMAGE);
}

static bool start_finalizer(const struct trace_request *request)
{
	(void)request;
	return imports_add(imports, ARRAY_SIZE(imports), DOMAIN_HSA_FINALIZER);
}

const struct domain_hooks hooks_hsa_core = { DOMAIN_HSA_CORE, NULL, 0, hsa_start };
const struct domain_hooks hooks_hsa_amd = { DOMAIN_HSA_AMD, NULL, 0, start_amd };
const struct domain_hooks hooks_hsa_image = { DOMAIN_HSA_IMAGE, NULL, 0, start_image };
const struct domain_hooks hooks_hsa_finalizer = { DOMAIN_HSA_FINALIZER, NULL, 0, start_finalizer };
