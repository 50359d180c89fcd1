/*
 * The handlers stay, like this library.
 */
#include "compat/register/process/forks.h"

#include <gnu/libc-version.h>
#include <pthread.h>

#pragma weak gnu_get_libc_version

extern char __libc_single_threaded __attribute__((weak)); /* glibc 2.32 and later */

static void forks_meet(void)
{
	forks_watch(pthread_atfork, gnu_get_libc_version ? gnu_get_libc_version() : NULL,
		    &__libc_single_threaded && __libc_single_threaded);
}

struct fork_work forks_begin(void)
{
	if (!forks_turn())
		forks_meet();
	return forks_hold();
}
