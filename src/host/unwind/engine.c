/*
 * Runtimes that compile while they run, by the names of their files.  Host only.
 */
#include "host/unwind/engine.h"

#include <string.h>
#include <sys/uio.h>

#include "host/process/memory.h"
#include "shared/arch/elf.h"
#include "shared/wire/boot.h"

#define NODE_NAMES "start it with --perf-basic-prof"

/* Files of one are searched in this order: libraries that others use as well stand last. */
static const struct {
	const char *file; /* how its name begins */
	struct engine engine;
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
	{ "libffi.so", { "libffi", "[JIT of libffi]", NULL } },
	{ "libLLVM", { "LLVM", "[JIT of LLVM]", NULL } },
	{ "libpcre2-", { "pcre2", "[JIT of pcre2]", NULL } },
	{ "libpcre.so", { "pcre", "[JIT of pcre]", NULL } },
};

/* What it compiles lies in memory that its processes share; what pcre2 makes for it does not. */
static const struct engine php = { "php", "[JIT of php]", "start it with opcache.jit_debug=16" };
static const struct engine unknown = { "", "[JIT]", NULL };
/* What limpet brought into the process, which no file of it shows. */
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

/* "[anon:v8]": the process has named it. */
static const struct engine *engine_by_mapping(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (!strncmp(path, "[anon", 5) && strcasestr(path, engines[i].engine.name))
			return &engines[i].engine;
	return NULL;
}

static bool is_own(const char *path)
{
	return !strncmp(path, "/memfd:limpet-", 14) || !strncmp(path, "/memfd:liblimpet-", 17);
}

/* Bootstrap code has no name; beside it lies what the host has told it. */
static bool is_bootstrap(const struct space *space, const struct space_range *range)
{
	uint64_t region = range->start - REGION_CODE;
	struct boot_context context;
	const size_t size = offsetof(struct boot_context, libc);
	struct iovec local = { &context, size };
	struct iovec remote = { (void *)(uintptr_t)(region + REGION_DATA + DATA_CONTEXT), size };

	return range->module->kind == MODULE_ANONYMOUS &&
	       range->end - range->start == REGION_CODE_SIZE &&
	       memory_copy(space->pid, &local, 1, &remote, 1) == (ssize_t)size &&
	       context.magic == BOOT_MAGIC && context.region == region;
}

const struct engine *engine_of(const struct space *space, const struct space_range *range)
{
	const char *path = range->module->path;
	const struct engine *named = is_own(path) ? &own : engine_by_mapping(path);

	if (!named && is_bootstrap(space, range))
		named = &own;
	if (named)
		return named;
	if (!strncmp(path, "/dev/zero", 9) && has_file(space, "php"))
		return &php;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (has_file(space, engines[i].file))
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
