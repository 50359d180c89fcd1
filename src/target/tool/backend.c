/*
 * Runs on threads of the agent's runner.
 */
#include "target/tool/backend.h"

#include "target/agent/rings.h"
#include "target/runtime/libc_calls.h"
#include "target/tool/watch.h"

#include <errno.h>

#pragma weak limpet_agent_libc
#pragma weak limpet_agent_turn

static const struct boot_libc *libc;

bool backend_use_agent(void)
{
	libc = limpet_agent_libc ? limpet_agent_libc() : NULL;
	if (libc)
		libc_calls_use(libc, limpet_agent_turn ? limpet_agent_turn() : NULL);
	return libc != NULL;
}

void *backend_symbol(const char *name)
{
	return libc_symbol(RTLD_DEFAULT, name);
}

int backend_open(void)
{
	int (*page_size)(void) = backend_symbol("getpagesize");
	const void *const ours[GOT_EXCLUDED_MAX] = { (const void *)backend_open,
						     (const void *)limpet_agent_libc };

	if (!libc_can_iterate() || !page_size)
		return -ENOSYS;
	return got_open((uint64_t)page_size(), ours);
}

int backend_watch(const struct watch_calls *calls)
{
	return watch_start(libc, calls);
}
