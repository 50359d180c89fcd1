/*
 * Runs inside the target, on any thread.  The handlers of forks stay, like this library.
 */
#include "compat/register/process/loader.h"

#include <gnu/libc-version.h>
#include <pthread.h>

#pragma weak gnu_get_libc_version

extern char __libc_single_threaded __attribute__((weak)); /* glibc 2.32 and later */

struct fork_work forks_begin(void)
{
	if (!forks_turn())
		forks_watch(pthread_atfork, gnu_get_libc_version ? gnu_get_libc_version() : NULL,
			    &__libc_single_threaded && __libc_single_threaded);
	return forks_hold();
}

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
