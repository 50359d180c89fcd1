/*
 * Registers the domains that need no GPU runtime.
 */
#include "target/domains/cpu/cpu.h"

#include "target/domains/cpu/nvtx.h"

static const struct domain_hooks *const hooks[] = {
	&hooks_alloc, &hooks_io, &hooks_lock, &hooks_function, &hooks_nvtx,
};

static bool cpu_start(const struct trace_request *request)
{
	nvtx_tables_begin(request->is_wanted[DOMAIN_MARKER]);
	return true;
}

const struct runtime runtime_cpu = {
	.name = "cpu",
	.hooks = hooks,
	.hook_count = ARRAY_SIZE(hooks),
	.start = cpu_start,
	.scan = nvtx_tables_scan,
};
