/*
 * The names of OpenCL's functions, and which are hooked only for device times.
 */
#include "target/domains/opencl/opencl.h"

/* clang-format off */
#define NAME(name, ...) [ENTRY_##name] = #name,
#define CALL         NAME
#define MAKES        NAME
#define COMMAND      NAME
#define MAPS         NAME
#define AROUND       NAME
#define AROUND_MAKES NAME
#define AROUND_PLAIN NAME
#define TIMED        NAME
#define TIMED_MAKES  NAME
#define END_OF_SLOTS

const char *const opencl_names[OPENCL_ENTRIES] = {
#include "target/domains/opencl/entries.def"
};

#undef CALL
#undef MAKES
#undef COMMAND
#undef MAPS
#undef AROUND
#undef AROUND_MAKES
#undef AROUND_PLAIN
#undef TIMED
#undef TIMED_MAKES
#define CALL(...)
#define MAKES(...)
#define COMMAND(...)
#define MAPS(...)
#define AROUND(...)
#define AROUND_MAKES(...)
#define AROUND_PLAIN(...)
#define TIMED(name, ...)       [ENTRY_##name] = true,
#define TIMED_MAKES(name, ...) [ENTRY_##name] = true,

const bool opencl_is_timed[OPENCL_ENTRIES + 1] = {
#include "target/domains/opencl/entries.def"
};
/* clang-format on */
