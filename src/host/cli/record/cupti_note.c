/*
 * Reports before a trace what CUPTI will leave in the process.
 */
#include "host/cli/record/messages.h"

#include "host/core/text/print.h"
#include "host/model/domains.h"
#include "host/process/maps.h"
#include "host/process/runtimes.h"

#include <stdio.h>

static bool has_cuda(pid_t pid)
{
	struct maps maps = { 0 };
	struct err ignored; /* of a process that has just ended */
	bool has = !maps_read(pid, &maps, &ignored) && runtimes_find(&maps) & 1u << RUNTIME_CUDA;

	maps_done(&maps);
	return has;
}

/* --kernel-trace and --sys-trace use CUPTI only where the process has CUDA.  Nothing is known of a
 * program that has not started. */
static bool uses_cupti(const struct visit *self)
{
	const uint32_t needs =
		DOMAIN_BIT(CUDA) | DOMAIN_BIT(KERNEL) | DOMAIN_BIT(COPY) | DOMAIN_BIT(MEMORY);

	for (size_t i = 0; self->domains & needs && i < self->pid_count; i++)
		if (has_cuda(self->pids[i]))
			return true;
	return !self->pid_count && self->domains & DOMAIN_BIT(CUDA) &&
	       !(self->domains & DOMAINS_HIP);
}

void note_cupti(const struct visit *self)
{
	if (uses_cupti(self))
		print(stderr,
		      "note: CUPTI stays loaded in the process after this trace: a kernel launch "
		      "takes about 1 us longer then, and measured programs kept 0.62 to 1.00 of "
		      "their speed; --cuda-runtime-trace does not use CUPTI\n");
}
