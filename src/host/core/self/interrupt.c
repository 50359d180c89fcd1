/*
 * A thread of its own waits for the signals: a target or a disk may block the working thread for
 * long.  That thread also ends what no signal could.
 */
#include "host/core/self/interrupt.h"

#include "host/core/clock.h"
#include "host/core/threads/overdue.h"
#include "host/core/threads/quiet_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ECHO_NS      300000000 /* with a processor that is busy */
#define LOOK_S       1
#define READ_LIMIT_S 10 /* one read of a target's memory */

static int events = -1;   /* counts signals not handled yet; open as long as the process lives */
static int detaches = -1; /* write end of a pipe of process numbers; -1: SIGTERM always ends */
static void (*prepare_end)(void);

static sigset_t signals_watched(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return set;
}

static bool is_ready(int fd, short what)
{
	struct pollfd wait = { fd, what, 0 };

	return poll(&wait, 1, 0) > 0 && wait.revents & what;
}

/* One request may arrive twice: timeout(1) signals a process and then its group, and a wrapper
 * passes on a signal that the terminal has sent to both. */
static bool is_echo(int number)
{
	static uint64_t last_ns;
	static int last;

	if (number == last && now_ns() - last_ns < ECHO_NS)
		return true;
	last = number;
	last_ns = now_ns();
	return false;
}

static const char second_words[] = "error: ended at the second signal, before all was done\n"
				   "  why: what was under way took more than a second longer\n";
static const char read_words[] =
	"error: ended while reading the process's memory, before all was done\n"
	"  why: the process serves that memory itself (userfaultfd, a file system of its own), and has\n"
	"       not answered for 10 s; no signal ends such a read\n"
	"  fix: record with --sampler bpf as root, which never waits for memory; what was written\n"
	"       until now is kept\n";

/* No function of stdio: another thread may have its lock. */
static void interrupt_end(const char *words)
{
	void (*prepare)(void) = __atomic_load_n(&prepare_end, __ATOMIC_ACQUIRE);

	nanosleep(&(struct timespec){ 0, 900000000 }, NULL);
	if (prepare)
		prepare();
	if (is_ready(STDERR_FILENO, POLLOUT))
		(void)!write(STDERR_FILENO, words, strlen(words));
	_exit(EXIT_FAILURE);
}

/* A request that finds the pipe full is dropped: `limpet detach` then reports that no session
 * detached. */
static bool detach_pass(const siginfo_t *info)
{
	int to = __atomic_load_n(&detaches, __ATOMIC_ACQUIRE);
	pid_t target = info->si_value.sival_int;

	if (to < 0 || info->si_signo != SIGTERM || info->si_code != SI_QUEUE || target <= 0)
		return false;
	(void)!write(to, &target, sizeof(target));
	return true;
}

static void count_next(void)
{
	const uint64_t one = 1, limit_ns = READ_LIMIT_S * 1000000000ull;
	const struct timespec look = { LOOK_S, 0 };
	sigset_t set = signals_watched();
	siginfo_t info;
	int number;

	do {
		number = sigtimedwait(&set, &info, &look);
		/* Twice: after a stop of this process (Ctrl-Z) an old read gets the time to end. */
		if (overdue_is(limit_ns) && !nanosleep(&look, NULL) && overdue_is(limit_ns))
			interrupt_end(read_words);
	} while (number < 0 || detach_pass(&info) || is_echo(number));
	(void)!write(events, &one, sizeof(one));
}

static void *interrupt_loop(void *unused)
{
	(void)unused;
	count_next();
	count_next();
	interrupt_end(second_words);
	return NULL;
}

static int interrupt_start(struct err *err)
{
	pthread_t thread;
	int r;

	events = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	if (events < 0)
		return err_set(err, -errno, "watch for signals: %s", strerror(errno));
	r = quiet_thread(&thread, interrupt_loop, NULL);
	if (r)
		return err_set(err, r, "watch for signals: %s", strerror(-r));
	pthread_detach(thread);
	return 0;
}

int interrupt_watch(void (*before_end)(void), struct err *err)
{
	sigset_t set = signals_watched();
	int fd;

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	/* Release: pairs with the acquire in interrupt_end(). */
	__atomic_store_n(&prepare_end, before_end, __ATOMIC_RELEASE);
	if (events < 0 && interrupt_start(err))
		return err->code;
	fd = fcntl(events, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? err_set(err, -errno, "watch for signals: %s", strerror(errno)) : fd;
}

int interrupt_watch_detaches(struct err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return err_set(err, -errno, "watch for signals: %s", strerror(errno));
	/* Release: pairs with the acquire in detach_pass(). */
	__atomic_store_n(&detaches, ends[1], __ATOMIC_RELEASE);
	return ends[0];
}

int interrupt_send_detach(int pidfd, pid_t target)
{
	siginfo_t info = { .si_signo = SIGTERM, .si_code = SI_QUEUE };

	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_int = target;
	return syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, &info, 0) ? -errno : 0;
}

bool interrupt_consume(int fd)
{
	uint64_t taken;

	return read(fd, &taken, sizeof(taken)) == sizeof(taken);
}

/* True when a signal has arrived.  Without the watching thread, the caller's program may have
 * blocked signals: then pending ones count. */
bool interrupt_is_waiting(void)
{
	sigset_t waiting;

	if (events >= 0)
		return is_ready(events, POLLIN);
	return !sigpending(&waiting) &&
	       (sigismember(&waiting, SIGINT) == 1 || sigismember(&waiting, SIGTERM) == 1);
}
