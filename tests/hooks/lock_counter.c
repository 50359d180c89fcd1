/*
 * Preloaded: counts what is locked, and ends the program when more is unlocked than was locked.  It
 * replaces two functions of libc's and not the third that locks.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

typedef int mutex_function(pthread_mutex_t *);

static __thread long held;

static mutex_function *real_lock, *real_unlock;

__attribute__((constructor)) static void find_real(void)
{
	real_lock = (mutex_function *)dlsym(RTLD_NEXT, "pthread_mutex_lock");
	real_unlock = (mutex_function *)dlsym(RTLD_NEXT, "pthread_mutex_unlock");
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int result = real_lock(mutex);

	held += !result;
	return result;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (--held < 0)
		abort();
	return real_unlock(mutex);
}
