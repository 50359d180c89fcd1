/*
 * On threads of the agent's runner.
 */
#include "target/tool/backend.h"

#include "target/agent/rings.h"
#include "target/tool/loader.h"
#include "target/tool/watch.h"

#include <errno.h>

#pragma weak limpet_agent_libc

typedef void *dlsym_function(void *, const char *);

static const struct boot_libc *libc;

bool backend_use_agent(void)
{
	libc = limpet_agent_libc ? limpet_agent_libc() : NULL;
	return libc != NULL;
}

void *backend_symbol(const char *name)
{
	return ((dlsym_function *)libc->dlsym)(RTLD_DEFAULT, name);
}

int backend_open(void)
{
	struct loader_libc loader = {
		.iterate = backend_symbol("dl_iterate_phdr"),
		.open = (void *)libc->dlopen,
		.close = (void *)libc->dlclose,
		.register_fork = backend_symbol("__register_atfork"),
	};
	struct got_libc functions = {
		.iterate = loader_iterate,
		.symbol = (void *)libc->dlsym,
		.symbol_of_version = backend_symbol("dlvsym"),
		.find_module = backend_symbol("dladdr"),
		.find_symbol = backend_symbol("dladdr1"),
		.open = loader_open,
		.close = loader_close,
	};
	int (*page_size)(void) = backend_symbol("getpagesize");
	const void *const ours[GOT_EXCLUDED_MAX] = { (const void *)backend_open,
						     (const void *)limpet_agent_libc };

	if (!loader.iterate || !page_size)
		return -ENOSYS;
	loader_use(&loader);
	functions.page_size = (uint64_t)page_size();
	return got_open(&functions, ours);
}

int backend_watch(void (*on_scan)(const struct got_report *),
		  void (*look)(bool have_modules_changed))
{
	struct watch_libc functions = {
		.all = libc,
		.create = (void *)libc->pthread_create,
		.join = (void *)libc->pthread_join,
		.attr_init = (void *)libc->pthread_attr_init,
		.attr_setstack = (void *)libc->pthread_attr_setstack,
	};

	return watch_start(&functions, on_scan, look);
}
