/*
 * What is traced without any GPU runtime.
 */
#include "target/domains/cpu/cpu.h"

static const struct domain_hooks *const hooks[] = {
	&hooks_alloc, &hooks_io, &hooks_lock, &hooks_function, &hooks_nvtx,
};

const struct runtime runtime_cpu = {
	.name = "cpu",
	.hooks = hooks,
	.hook_count = ARRAY_SIZE(hooks),
};
