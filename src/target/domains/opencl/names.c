/*
 * The names of OpenCL's functions, and which are hooked only for device times.
 */
#include "target/domains/opencl/opencl.h"

/* clang-format off */
const char *const opencl_names[OPENCL_ENTRIES] = {
#define OPENCL(kind, name, ...) [ENTRY_##name] = #name,
#define END_OF_SLOTS
#include "target/domains/opencl/entries.def"
};

enum { CALL, MAKES, COMMAND, MAPS, AROUND, AROUND_MAKES, AROUND_PLAIN, TIMED, TIMED_MAKES };

const bool opencl_is_timed[OPENCL_ENTRIES + 1] = {
#define OPENCL(kind, name, ...) [ENTRY_##name] = (kind) >= TIMED,
#define END_OF_SLOTS
#include "target/domains/opencl/entries.def"
};
/* clang-format on */
