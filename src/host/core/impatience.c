/*
 * A thread that waits for the signals, hands them on, and counts.  Host only.
 *
 * Two of a kind that are not taken at once become one: who only looks at what is pending does not
 * see the second.  So the thread takes each at once, and sends it on to the thread that it is meant
 * for.  Both wait for the same ones; what that thread was quicker to take it gives back to be
 * counted (the sender tells what comes from the other one).
 */
#include "host/core/impatience.h"

#include "host/core/quiet_thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ENOUGH 2u

static struct {
	pid_t owner, watcher;
	void (*before_end)(void);
} watch;

static void send_on(pid_t tid, int number)
{
	syscall(SYS_tgkill, getpid(), tid, number);
}

static void end(void)
{
	static const char words[] = "error: ended at the second signal, before all was done\n"
				    "  why: what was under way took more than a second longer\n";
	const struct timespec grace = { 0, 900000000 };

	nanosleep(&grace, NULL);
	if (watch.before_end)
		watch.before_end();
	(void)!write(STDERR_FILENO, words, sizeof(words) - 1);
	_exit(EXIT_FAILURE);
}

static void *count_signals(void *set)
{
	unsigned count = 0;
	siginfo_t info;

	__atomic_store_n(&watch.watcher, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (count < ENOUGH) {
		int number = sigwaitinfo(set, &info);

		if (number < 0)
			continue;
		count++;
		if (info.si_pid != getpid())
			send_on(watch.owner, number);
	}
	end();
	return NULL;
}

int impatience_start(void (*before_end)(void))
{
	static sigset_t set;
	pthread_t thread;
	int r;

	if (watch.owner)
		return 0;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	watch.owner = (pid_t)syscall(SYS_gettid);
	watch.before_end = before_end;
	r = quiet_thread(&thread, count_signals, &set);
	if (!r)
		pthread_detach(thread);
	return r;
}

/* Acquire: pairs with the release in count_signals(). */
void impatience_note(const struct signalfd_siginfo *taken)
{
	pid_t watcher = __atomic_load_n(&watch.watcher, __ATOMIC_ACQUIRE);

	if (watcher && (taken->ssi_signo == SIGINT || taken->ssi_signo == SIGTERM) &&
	    (pid_t)taken->ssi_pid != getpid())
		send_on(watcher, (int)taken->ssi_signo);
}
