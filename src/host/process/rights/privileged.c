/*
 * Reads the kernel's flag for the program's rights (AT_SECURE); where that may not be read, the
 * facts visible to every user.
 */
#include "host/process/rights/privileged.h"

#include "host/process/auxv.h"
#include "host/process/status.h"

#include <elf.h>

static bool has_more_rights(const struct process_status *status)
{
	return status->uid != status->euid || status->gid != status->egid ||
	       (status->euid && status->capabilities);
}

bool program_is_privileged(pid_t pid)
{
	struct process_status status;
	struct err ignored = { 0 };
	struct auxv auxv;

	if (!auxv_read(pid, &auxv, &ignored))
		return auxv_value(&auxv, AT_SECURE);
	return !status_read(pid, pid, &status, &ignored) && has_more_rights(&status);
}
