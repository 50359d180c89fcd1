/*
 * Programs with habits that come in the way of a visitor: one closes all descriptors that it does
 * not know and fills their numbers with its own; two keep a signal out of a wait by its temporary
 * mask.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define FIRST_FD        3
#define LAST_FD         600
#define WAIT_NS         (300 * NS_PER_MS)
#define SEND_NS         (5 * NS_PER_MS)
#define WAIT_CODE_BYTES 512
#define MARGIN_NS       (120 * NS_PER_MS) /* a thread may lose its processor for long */
#define OWN_FILE        "/dev/null"

static _Atomic int must_close;
static struct stat own_file;
static bool is_own[LAST_FD + 1];

static void close_handle(int number)
{
	(void)number;
	atomic_store(&must_close, 1);
}

/* A number that somebody else's thread has taken since it was closed stays with it. */
static void descriptor_take(int fd)
{
	int opened = open(OWN_FILE, O_RDWR);

	is_own[fd] = opened == fd;
	if (opened >= 0 && !is_own[fd])
		close(opened);
	atomic_fetch_add(&stats->signals_received, 1);
}

/* What daemons do, and sandboxes; how many numbers were tried is signals_received. */
static void descriptors_replace(void)
{
	for (int fd = FIRST_FD; fd <= LAST_FD; fd++)
		close(fd);
	for (int fd = FIRST_FD; fd <= LAST_FD; fd++)
		descriptor_take(fd);
}

static void descriptors_check(void)
{
	struct stat file;

	for (int fd = FIRST_FD; fd <= LAST_FD; fd++) {
		if (!is_own[fd])
			continue;
		if (fstat(fd, &file) < 0)
			workload_fail("descriptors: closed by somebody else");
		else if (file.st_dev != own_file.st_dev || file.st_ino != own_file.st_ino)
			workload_corrupt("descriptors: another file");
	}
}

static void closer_run(const void *data)
{
	struct rlimit limit = { LAST_FD + 100, LAST_FD + 100 };
	struct sigaction action = { .sa_handler = close_handle };

	(void)data;
	if (stat(OWN_FILE, &own_file) < 0 || setrlimit(RLIMIT_NOFILE, &limit) < 0)
		workload_skip(OWN_FILE);
	sigaction(SIGUSR1, &action, NULL);
	workload_ready();
	while (!atomic_load(&must_close)) {
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
	descriptors_replace();
	for (;;) {
		descriptors_check();
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

static uint64_t wait_start_ns;

/* Pending signals are delivered when the wait is over, or before it began; not in between. */
static uintptr_t wait_code; /* where libc's function for the wait begins */

/* Was it the wait itself that was interrupted?  A thread that merely lost its processor just before
 * or after it stands elsewhere. */
static bool is_in_wait(const ucontext_t *context)
{
#if defined(__x86_64__)
	uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
	uintptr_t pc = context->uc_mcontext.pc;
#endif

	return pc - wait_code < WAIT_CODE_BYTES;
}

static void masked_handle(int number, siginfo_t *info, void *context)
{
	uint64_t waited_ns = now_ns() - wait_start_ns;

	(void)number;
	(void)info;
	if (is_in_wait(context) && waited_ns > MARGIN_NS && waited_ns < WAIT_NS - MARGIN_NS) {
		errno = 0;
		workload_fail("a signal that the wait keeps out");
	}
}

static void signal_send(void)
{
	kill(companion_owner(), SIGUSR1);
}

static int ppoll_once(const struct timespec *time, const sigset_t *mask)
{
	return ppoll(NULL, 0, time, mask);
}

static int pselect_once(const struct timespec *time, const sigset_t *mask)
{
	return pselect(0, NULL, NULL, NULL, time, mask);
}

struct masked {
	int (*once)(const struct timespec *time, const sigset_t *mask);
	const char *name;
};

static void masked_run(const void *data)
{
	const struct masked *masked = data;
	const struct timespec time = { 0, WAIT_NS };
	struct sigaction action = { .sa_sigaction = masked_handle, .sa_flags = SA_SIGINFO };
	sigset_t mask;

	wait_code = (uintptr_t)dlsym(RTLD_DEFAULT, masked->name);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigaction(SIGUSR1, &action, NULL);
	companion_start(signal_send, SEND_NS, NULL);
	workload_ready();
	for (;;) {
		wait_start_ns = now_ns();
		if (masked->once(&time, &mask) < 0)
			atomic_fetch_add(&stats->eintr, errno == EINTR);
		workload_turn();
	}
}

const struct workload workloads[] = {
	{ "closer", closer_run, NULL },
	{ "ppoll_masked", masked_run, &(const struct masked){ ppoll_once, "ppoll" } },
	{ "pselect_masked", masked_run, &(const struct masked){ pselect_once, "pselect" } },
	{ NULL, NULL, NULL },
};
