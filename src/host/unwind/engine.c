/*
 * Runtimes that compile at run time, by the names of their files.
 */
#include "host/unwind/engine.h"

#include <string.h>

#include "host/process/memory.h"
#include "shared/arch/elf.h"
#include "shared/wire/boot.h"

#define NODE_NAMES "start it with --perf-basic-prof"
#define WASM_NAMES "start it with --profile perfmap, or set that profiler in its Config"

/* The part of a mapping that is searched for addresses. */
#define BYSTANDER_BYTES (64u << 10)

/* Searched in this order: libraries that other runtimes use as well are last. */
static const struct {
	const char *file; /* how its name begins */
	struct engine engine;
	bool is_bystander; /* mapped in many programs: its code is that with its addresses */
} engines[] = {
	{ "libjvm.so", { "java", "[JIT of java]", "record with --java-names" } },
	{ "beam.smp",
	  { "erlang", "[JIT of erlang]", "start it with +JPperf true", FRAMES_NONE, "JPperf" } },
	{ "node", { "node", "[JIT of node]", NODE_NAMES } },
	{ "libnode.so", { "node", "[JIT of node]", NODE_NAMES } },
	{ "chrom", { "V8", "[JIT of V8]", NODE_NAMES } },
	{ "libcoreclr.so",
	  { "dotnet", "[JIT of dotnet]", "start it with DOTNET_PerfMapEnabled=1" } },
	{ "mono", { "mono", "[JIT of mono]", "start it with --jitmap" } },
	{ "libmono", { "mono", "[JIT of mono]", "start it with --jitmap" } },
	{ "libxul.so", { "Firefox", "[JIT of Firefox]", NULL } },
	{ "libmozjs", { "SpiderMonkey", "[JIT of SpiderMonkey]", NULL } },
	{ "libjulia", { "julia", "[JIT of julia]", "start it with ENABLE_JITPROFILING=1" } },
	{ "pypy", { "pypy", "[JIT of pypy]", NULL } },
	{ "libpypy", { "pypy", "[JIT of pypy]", NULL } },
	{ "luajit", { "luajit", "[JIT of luajit]", NULL, FRAMES_OF_LUAJIT } },
	{ "libluajit", { "luajit", "[JIT of luajit]", NULL, FRAMES_OF_LUAJIT } },
	{ "racket", { "racket", "[JIT of racket]", NULL, FRAMES_NONE } },
	{ "sbcl.core",
	  { "sbcl", "[JIT of sbcl]", NULL,
	    ARCH_RETURN_ON_STACK ? FRAMES_BY_POINTER : FRAMES_NONE } },
	{ "libguile", { "guile", "[JIT of guile]", NULL, FRAMES_BY_ENTRY } },
	{ "ruby", { "ruby", "[JIT of ruby]", "start it with --yjit-perf" } },
	{ "libruby", { "ruby", "[JIT of ruby]", "start it with --yjit-perf" } },
	{ "qemu-", { "qemu", "[JIT of qemu]", "start it with -perfmap" } },
	{ "wasmtime", { "wasmtime", "[JIT of wasmtime]", WASM_NAMES } },
	{ "libwasmtime", { "wasmtime", "[JIT of wasmtime]", WASM_NAMES } },
	{ "_libwasmtime", { "wasmtime", "[JIT of wasmtime]", WASM_NAMES } },
	{ "libffi.so", { "libffi", "[JIT of libffi]", NULL }, .is_bystander = true },
	{ "libLLVM", { "LLVM", "[JIT of LLVM]", NULL } },
	{ "libpcre2-", { "pcre2", "[JIT of pcre2]", NULL } },
	{ "libpcre.so", { "pcre", "[JIT of pcre]", NULL } },
};

/* The code that PHP compiles is in memory that its processes share; pcre2's code for it is not. */
static const struct engine php = { "php", "[JIT of php]", "start it with opcache.jit_debug=16" };
static const struct engine unknown = { "", "[JIT]", NULL };
/* limpet's own code in the process, which has no file. */
static const struct engine own = { "limpet", "[limpet]", NULL };

static const char *base_of(const struct module *module)
{
	const char *slash = module->kind == MODULE_FILE ? strrchr(module->path, '/') : NULL;

	return slash ? slash + 1 : "";
}

static bool has_file(const struct space *space, const char *begin)
{
	for (size_t i = 0; i < space->count; i++)
		if (!strncmp(base_of(space->ranges[i].module), begin, strlen(begin)))
			return true;
	return false;
}

/* "[anon:v8]": a name that the process has set. */
static const struct engine *engine_by_mapping(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (!strncmp(path, "[anon", 5) && strcasestr(path, engines[i].engine.name))
			return &engines[i].engine;
	return NULL;
}

/* The bootstrap code has no name; its region holds the boot context. */
static bool is_bootstrap(const struct space *space, const struct space_range *range)
{
	uint64_t region = range->start - REGION_CODE;
	struct boot_context context;
	const size_t size = offsetof(struct boot_context, libc);

	return range->module->kind == MODULE_ANONYMOUS &&
	       range->end - range->start == REGION_CODE_SIZE &&
	       memory_copy_from(space->pid, region + REGION_DATA + DATA_CONTEXT, &context, size) ==
		       (ssize_t)size &&
	       context.magic == BOOT_MAGIC && context.region == region;
}

/* From the first byte of a library to its last; empty: not mapped. */
static struct space_range file_extent(const struct space *space, const char *begin)
{
	struct space_range extent = { .start = UINT64_MAX };

	for (size_t i = 0; i < space->count; i++) {
		const struct space_range *range = &space->ranges[i];

		if (strncmp(base_of(range->module), begin, strlen(begin)) != 0)
			continue;
		extent.start = MIN(extent.start, range->start);
		extent.end = MAX(extent.end, range->end);
	}
	return extent;
}

/* A closure of libffi jumps to the library, by an address next to its instructions. */
static bool holds_addresses_of(const struct space *space, const struct space_range *range,
			       const char *begin)
{
	const struct space_range extent = file_extent(space, begin);
	uint64_t words[512], size = MIN(range->end - range->start, BYSTANDER_BYTES);

	for (uint64_t at = 0; at + sizeof(words) <= size; at += sizeof(words)) {
		if (memory_copy_from(space->pid, range->start + at, words, sizeof(words)) !=
		    (ssize_t)sizeof(words))
			return false;
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			if (words[i] >= extent.start && words[i] < extent.end)
				return true;
	}
	return false;
}

const struct engine *engine_of(const struct space *space, const struct space_range *range)
{
	const char *path = range->module->path;
	const struct engine *named =
		(!strncmp(path, "/memfd:limpet-", 14) || !strncmp(path, "/memfd:liblimpet-", 17))
			? &own
			: engine_by_mapping(path);

	if (!named && is_bootstrap(space, range))
		named = &own;
	if (named)
		return named;
	if (!strncmp(path, "/dev/zero", 9) && has_file(space, "php"))
		return &php;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (has_file(space, engines[i].file) &&
		    (!engines[i].is_bystander || holds_addresses_of(space, range, engines[i].file)))
			return &engines[i].engine;
	return &unknown;
}

bool engine_has_image(const struct module *module)
{
	const char *base = base_of(module);

	for (size_t i = 0; !module->is_object && i < ARRAY_SIZE(engines); i++)
		if (!strcmp(base, engines[i].file))
			return true;
	return false;
}

const struct engine *engine_by_path(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (!strcmp(engines[i].engine.path, path))
			return &engines[i].engine;
	if (!strcmp(php.path, path))
		return &php;
	if (!strcmp(own.path, path))
		return &own;
	return strcmp(unknown.path, path) ? NULL : &unknown;
}
