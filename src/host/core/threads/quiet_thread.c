/*
 * Starts a thread with all signals blocked.
 */
#include "host/core/threads/quiet_thread.h"

#include <signal.h>

int quiet_thread(pthread_t *ret, void *(*run)(void *argument), void *argument)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(ret, NULL, run, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}
