/*
 * Signatures of the functions in all API tables.
 */
#include "target/amd/tables/api_table.h"

#include "shared/wire/domains.h"
#include "target/runtime/text.h"

#define SLOT(name, text) { #name, text },
#define NEWER(name)      { #name, NULL },
static const struct signature hsa_core[] = {
#include "target/amd/tables/hsa_core.def"
};
static const struct signature hsa_amd_ext[] = {
#include "target/amd/tables/hsa_amd_ext.def"
};
static const struct signature hsa_image_ext[] = {
#include "target/amd/tables/hsa_image_ext.def"
};
static const struct signature hsa_finalizer_ext[] = {
#include "target/amd/tables/hsa_finalizer_ext.def"
};
static const struct signature hip_runtime[] = {
#include "target/amd/tables/hip_runtime.def"
};
static const struct signature hip_compiler[] = {
#include "target/amd/tables/hip_compiler.def"
};
static const struct signature roctx_core[] = {
#include "target/amd/tables/roctx_core.def"
};
static const struct signature roctx_control[] = {
#include "target/amd/tables/roctx_control.def"
};
static const struct signature roctx_name[] = {
#include "target/amd/tables/roctx_name.def"
};
static const struct signature rccl[] = {
#include "target/amd/tables/rccl.def"
};
static const struct signature rocdecode[] = {
#include "target/amd/tables/rocdecode.def"
};
static const struct signature rocjpeg[] = {
#include "target/amd/tables/rocjpeg.def"
};

/* `newer`: how many functions at the end have no signature. */
#define LIST(list, newer) ARRAY_SIZE(list), ARRAY_SIZE(list) - (newer), FIRST_##list, list
enum {
	FIRST_hsa_core = 0,
	FIRST_hsa_amd_ext = FIRST_hsa_core + ARRAY_SIZE(hsa_core),
	FIRST_hsa_image_ext = FIRST_hsa_amd_ext + ARRAY_SIZE(hsa_amd_ext),
	FIRST_hsa_finalizer_ext = FIRST_hsa_image_ext + ARRAY_SIZE(hsa_image_ext),
	FIRST_hip_runtime = FIRST_hsa_finalizer_ext + ARRAY_SIZE(hsa_finalizer_ext),
	FIRST_hip_compiler = FIRST_hip_runtime + ARRAY_SIZE(hip_runtime),
	FIRST_roctx_core = FIRST_hip_compiler + ARRAY_SIZE(hip_compiler),
	FIRST_roctx_control = FIRST_roctx_core + ARRAY_SIZE(roctx_core),
	FIRST_roctx_name = FIRST_roctx_control + ARRAY_SIZE(roctx_control),
	FIRST_rccl = FIRST_roctx_name + ARRAY_SIZE(roctx_name),
	FIRST_rocdecode = FIRST_rccl + ARRAY_SIZE(rccl),
	FIRST_rocjpeg = FIRST_rocdecode + ARRAY_SIZE(rocdecode),
	FIRST_none = FIRST_rocjpeg + ARRAY_SIZE(rocjpeg),
};
_Static_assert(FIRST_none <= API_FUNCTIONS, "each has a layout");

struct call_layout api_layouts[API_FUNCTIONS];

const struct api_table api_tables[API_TABLES] = {
	[API_HSA_CORE] = { "hsa", 0, true, false, DOMAIN_HSA_CORE, LIST(hsa_core, 0) },
	[API_HSA_AMD] = { "hsa", 1, true, false, DOMAIN_HSA_AMD, LIST(hsa_amd_ext, 0) },
	[API_HSA_IMAGE] = { "hsa", 3, true, false, DOMAIN_HSA_IMAGE, LIST(hsa_image_ext, 1) },
	[API_HSA_FINALIZER] = { "hsa", 2, true, false, DOMAIN_HSA_FINALIZER,
				LIST(hsa_finalizer_ext, 0) },
	[API_HIP] = { "hip", 0, false, false, DOMAIN_HIP_RUNTIME, LIST(hip_runtime, 0) },
	[API_HIP_COMPILER] = { "hip_compiler", 0, false, false, DOMAIN_HIP_COMPILER,
			       LIST(hip_compiler, 0) },
	[API_ROCTX] = { "roctx", 0, false, false, DOMAIN_MARKER, LIST(roctx_core, 0) },
	[API_ROCTX_CONTROL] = { "roctx", 1, false, false, DOMAIN_MARKER, LIST(roctx_control, 0) },
	[API_ROCTX_NAME] = { "roctx", 2, false, false, DOMAIN_MARKER, LIST(roctx_name, 0) },
	[API_RCCL] = { "rccl", 0, false, true, DOMAIN_RCCL, LIST(rccl, 1) },
	[API_ROCDECODE] = { "rocdecode", 0, false, false, DOMAIN_ROCDECODE, LIST(rocdecode, 0) },
	[API_ROCJPEG] = { "rocjpeg", 0, false, false, DOMAIN_ROCJPEG, LIST(rocjpeg, 0) },
};

unsigned api_function(const struct api_table *table, const char *name)
{
	unsigned i = 0;

	while (i < table->named && !text_equal(table->signatures[i].name, name))
		i++;
	return i;
}
