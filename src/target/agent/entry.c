/*
 * The agent's entry point: selects the copy of this library to use. Runs on the control thread.
 */
#include "target/agent/agent.h"

#include "shared/arch/syscall.h"
#include "shared/wire/page.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

#define EXPORT __attribute__((visibility("default")))

typedef int agent_function(struct boot_context *, int socket);

void agent_stay(void)
{
	libc_open(AGENT_SONAME, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Only the copy that came with the region may use its fork turn: both are unmapped together. */
static struct fork_turn *turn_of(const struct boot_context *boot)
{
	return boot->region && boot->agent_entry == (uint64_t)limpet_agent_run
		       ? (struct fork_turn *)(boot->region + REGION_DATA + DATA_FORKS)
		       : NULL;
}

/* The target may have a copy of this library under its own name: the first copy that the loader
 * knows has the tools, and does the work. A copy of another version is not used. */
static agent_function *find_first_copy(const struct boot_context *boot)
{
	void *handle = libc_open(AGENT_SONAME, RTLD_LAZY | RTLD_NOLOAD);
	const uint32_t *version = handle ? libc_symbol(handle, AGENT_VERSION_SYMBOL) : NULL;
	agent_function *entry = limpet_agent_run;

	if (version && *version == limpet_agent_version)
		entry = (agent_function *)libc_symbol(handle, BOOT_AGENT_ENTRY);
	entry = entry ? entry : limpet_agent_run;
	if ((uint64_t)entry != boot->agent_entry)
		agent_stay();
	if (handle)
		libc_close(handle);
	return entry;
}

/* True if another host attached first, by another method. */
static bool is_held(void)
{
	return page_is_own() && agent_page.control_tid &&
	       raw3(SYS_tgkill, agent_page.pid, agent_page.control_tid, 0) != -ESRCH;
}

EXPORT const uint32_t limpet_agent_version = AGENT_VERSION;

EXPORT int limpet_agent_run(struct boot_context *boot, int socket)
{
	agent_function *first;

	libc_calls_use(&boot->libc, turn_of(boot));
	first = find_first_copy(boot);
	if (first != limpet_agent_run)
		return first(boot, socket);
	return is_held() ? AGENT_RESTS : agent_reside(boot, socket);
}
