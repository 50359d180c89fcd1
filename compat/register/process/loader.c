/*
 * Runs inside the target, on any thread.
 */
#include "compat/register/process/loader.h"

#include "compat/register/process/forks.h"

void *loader_open(const char *path, int flags)
{
	struct fork_work work = forks_begin();
	void *handle = dlopen(path, flags);

	dlerror();
	forks_release(work);
	return handle;
}

void loader_close(void *handle)
{
	struct fork_work work = forks_begin();

	dlclose(handle);
	forks_release(work);
}

void *loader_symbol(void *scope, const char *name)
{
	struct fork_work work = forks_begin();
	void *found = dlsym(scope, name);

	dlerror();
	forks_release(work);
	return found;
}

bool loader_find_module(const void *address, Dl_info *ret)
{
	struct fork_work work = forks_begin();
	bool is_found = dladdr(address, ret);

	forks_release(work);
	return is_found;
}
