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
	struct got_libc functions = {
		.iterate = libc_iterate,
		.symbol = libc_symbol,
		.symbol_of_version = libc_symbol_of_version,
		.find_module = libc_find_module,
		.find_symbol = libc_find_symbol,
		.hold = libc_hold,
		.open = libc_open,
		.close = libc_close,
	};
	int (*page_size)(void) = backend_symbol("getpagesize");
	const void *const ours[GOT_EXCLUDED_MAX] = { (const void *)backend_open,
						     (const void *)limpet_agent_libc };

	if (!libc_can_iterate() || !page_size)
		return -ENOSYS;
	functions.page_size = (uint64_t)page_size();
	return got_open(&functions, ours);
}

int backend_watch(const struct watch_calls *calls)
{
	struct watch_libc functions = {
		.all = libc,
		.create = (void *)libc->pthread_create,
		.join = (void *)libc->pthread_join,
		.attr_init = (void *)libc->pthread_attr_init,
		.attr_setstack = (void *)libc->pthread_attr_setstack,
	};

	return watch_start(&functions, calls);
}
