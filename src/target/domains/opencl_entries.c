/*
 * What is written about each function of OpenCL.
 */
#include "target/domains/opencl.h"

/* clang-format off */
#define RESULT 1, { { VALUE_RESULT, CAPTURE_RESULT_INT } }
#define OBJECT 1, { { VALUE_OBJECT, CAPTURE_RESULT } }
#define ENTRY(name, way, before, after, ...) \
	[ENTRY_##name] = { NULL, #name, DOMAIN_OPENCL, way, NULL, NULL, __VA_ARGS__, before, after },

#define CALL(name)                        ENTRY(name, HOOK_ANY, NULL, NULL, RESULT)
#define MAKES(name)                       ENTRY(name, HOOK_ANY, NULL, NULL, OBJECT)
#define COMMAND(name)                     ENTRY(name, HOOK_AROUND, command_before, command_after, RESULT)
#define MAPS(name)                        ENTRY(name, HOOK_AROUND, command_before, command_after, OBJECT)
#define AROUND(name, before, after)       ENTRY(name, HOOK_AROUND, before, after, RESULT)
#define AROUND_MAKES(name, before, after) ENTRY(name, HOOK_AROUND, before, after, OBJECT)
#define AROUND_PLAIN(name, before, after) ENTRY(name, HOOK_AROUND, before, after, 0, { { 0, 0 } })
#define END_OF_SLOTS

const struct traced opencl_traced[OPENCL_ENTRIES + 1] = {
#include "target/domains/opencl_entries.def"
	[OPENCL_ENTRIES] = { NULL, NULL, DOMAIN_OPENCL, HOOK_ANY, NULL, NULL, RESULT, NULL, NULL },
};
/* clang-format on */

const struct traced opencl_kernel_work = {
	.name = "kernel",
	.domain = DOMAIN_KERNEL,
	.value_count = 15,
	.values = { { VALUE_NAME },
		    { VALUE_DEVICE },
		    { VALUE_QUEUE },
		    { VALUE_STREAM },
		    { VALUE_THREAD },
		    { VALUE_CAUSE },
		    { VALUE_DISPATCH },
		    { VALUE_GRID_X },
		    { VALUE_GRID_Y },
		    { VALUE_GRID_Z },
		    { VALUE_GROUP_X },
		    { VALUE_GROUP_Y },
		    { VALUE_GROUP_Z },
		    { VALUE_SCRATCH_BYTES },
		    { VALUE_LOCAL_BYTES } },
};

const struct traced opencl_copy_work = {
	.name = "copy",
	.domain = DOMAIN_COPY,
	.value_count = 10,
	.values = { { VALUE_SIZE },
		    { VALUE_DEVICE },
		    { VALUE_FROM_DEVICE },
		    { VALUE_ADDRESS },
		    { VALUE_OLD_ADDRESS },
		    { VALUE_DIRECTION },
		    { VALUE_QUEUE },
		    { VALUE_STREAM },
		    { VALUE_THREAD },
		    { VALUE_CAUSE } },
};

const struct traced opencl_memory_work = {
	.name = "memory",
	.domain = DOMAIN_MEMORY,
	.value_count = 8,
	.values = { { VALUE_SIZE },
		    { VALUE_ADDRESS },
		    { VALUE_DEVICE },
		    { VALUE_OPERATION },
		    { VALUE_QUEUE },
		    { VALUE_STREAM },
		    { VALUE_THREAD },
		    { VALUE_CAUSE } },
};
