/*
 * Signatures and slot numbers of all API tables.
 */
#include "target/amd/tables/signature.h"

#define SIGNATURE(name, text, ...) { #name, text },
#define STATUS                     SIGNATURE
#define PLAIN                      SIGNATURE
#define WIDE                       SIGNATURE
#define MEMORY                     SIGNATURE
#define WORK_STATUS                SIGNATURE
#define WORK_PLAIN                 SIGNATURE
#define NEWER(name)                /* has no operation number */
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

#define LIST(list) ARRAY_SIZE(list), FIRST_##list, list
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
_Static_assert(FIRST_none <= API_SLOTS, "each has a stub");

const struct api_table api_tables[API_TABLES] = {
	{ "hsa", 0, true, false, CALLBACK_HSA_CORE, BUFFER_HSA_CORE, 0, CALLBACK_HSA_CORE, 1, 192,
	  8, LIST(hsa_core) },
	{ "hsa", 1, true, false, CALLBACK_HSA_AMD, BUFFER_HSA_AMD, 0, CALLBACK_HSA_AMD, 1, 192, 8,
	  LIST(hsa_amd_ext) },
	{ "hsa", 3, true, false, CALLBACK_HSA_IMAGE, BUFFER_HSA_IMAGE, 0, CALLBACK_HSA_IMAGE, 1,
	  192, 8, LIST(hsa_image_ext) },
	{ "hsa", 2, true, false, CALLBACK_HSA_FINALIZER, BUFFER_HSA_FINALIZER, 0,
	  CALLBACK_HSA_FINALIZER, 1, 192, 8, LIST(hsa_finalizer_ext) },
	{ "hip", 0, false, false, CALLBACK_HIP_RUNTIME, BUFFER_HIP_RUNTIME, BUFFER_HIP_RUNTIME_EXT,
	  CALLBACK_HIP_RUNTIME, 2, 88, 24, LIST(hip_runtime) },
	{ "hip_compiler", 0, false, false, CALLBACK_HIP_COMPILER, BUFFER_HIP_COMPILER,
	  BUFFER_HIP_COMPILER_EXT, CALLBACK_HIP_COMPILER, 4, 88, 24, LIST(hip_compiler) },
	{ "roctx", 0, false, false, CALLBACK_MARKER_CORE, BUFFER_MARKER_CORE, 0,
	  CALLBACK_MARKER_CORE, 8, 16, 8, LIST(roctx_core) },
	{ "roctx", 1, false, false, CALLBACK_MARKER_CONTROL, BUFFER_MARKER_CONTROL, 0,
	  CALLBACK_MARKER_CONTROL, 16, 16, 8, LIST(roctx_control) },
	{ "roctx", 2, false, false, CALLBACK_MARKER_NAME, BUFFER_MARKER_NAME, 0,
	  CALLBACK_MARKER_NAME, 32, 16, 8, LIST(roctx_name) },
	{ "rccl", 0, false, true, CALLBACK_RCCL, BUFFER_RCCL, 0, REQUEST_RCCL, 64, 152, 8,
	  LIST(rccl) },
	{ "rocdecode", 0, false, false, CALLBACK_ROCDECODE, BUFFER_ROCDECODE, BUFFER_ROCDECODE_EXT,
	  REQUEST_ROCDECODE, 128, 40, 8, LIST(rocdecode) },
	{ "rocjpeg", 0, false, false, CALLBACK_ROCJPEG, BUFFER_ROCJPEG, 0, REQUEST_ROCJPEG, 256, 48,
	  8, LIST(rocjpeg) },
};

const struct api_table *api_table_of_callback(int kind)
{
	for (unsigned i = 0; i < API_TABLES; i++)
		if (api_tables[i].callback_kind == kind)
			return &api_tables[i];
	return NULL;
}

const struct api_table *api_table_of_buffer(int kind)
{
	for (unsigned i = 0; kind && i < API_TABLES; i++)
		if (api_tables[i].buffer_kind == kind || api_tables[i].extended_kind == kind)
			return &api_tables[i];
	return NULL;
}
