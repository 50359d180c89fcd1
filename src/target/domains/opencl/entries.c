/*
 * How calls of each OpenCL function are recorded.
 */
#include "target/domains/opencl/opencl.h"

/* For calls that are hooked because of their device work. */
static void write_call(struct writer *writer, const struct hook *hook,
		       const struct hook_frame *frame, uint64_t end)
{
	if (opencl_writes(DOMAIN_OPENCL))
		(void)hook_write_call(writer, hook, frame, end);
}

/* clang-format off */
#define RESULT 1, { { VALUE_RESULT, CAPTURE_RESULT_INT } }
#define OBJECT 1, { { VALUE_OBJECT, CAPTURE_RESULT } }
#define ENTRY(name, way, write, before, after, ...) \
	[ENTRY_##name] = { NULL, #name, DOMAIN_OPENCL, way, write, NULL, __VA_ARGS__, before, after },
#define ENTRY_AROUND(name, before, after, ...) \
	ENTRY(name, HOOK_AROUND, write_call, before, after, __VA_ARGS__)

#define CALL(name)                        ENTRY(name, HOOK_ANY, NULL, NULL, NULL, RESULT)
#define MAKES(name)                       ENTRY(name, HOOK_ANY, NULL, NULL, NULL, OBJECT)
#define COMMAND(name)                     ENTRY_AROUND(name, command_before, command_after, RESULT)
#define MAPS(name)                        ENTRY_AROUND(name, command_before, command_after, OBJECT)
#define AROUND(name, before, after)       ENTRY_AROUND(name, before, after, RESULT)
#define AROUND_MAKES(name, before, after) ENTRY_AROUND(name, before, after, OBJECT)
#define AROUND_PLAIN(name, before, after) ENTRY_AROUND(name, before, after, 0, { { 0, 0 } })
#define TIMED(name, before, after)        ENTRY_AROUND(name, before, after, RESULT)
#define TIMED_MAKES(name, before, after)  ENTRY_AROUND(name, before, after, OBJECT)
#define OPENCL(kind, name, ...)           kind(name, ##__VA_ARGS__)
#define END_OF_SLOTS

const struct traced opencl_traced[OPENCL_ENTRIES + 1] = {
#include "target/domains/opencl/entries.def"
	[OPENCL_ENTRIES] = { NULL, NULL, DOMAIN_OPENCL, HOOK_ANY, NULL, NULL, RESULT, NULL, NULL },
};
/* clang-format on */
