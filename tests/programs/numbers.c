/*
 * Programs that rely on the numbers of their descriptors: without 0 to 2, with one that must always
 * get the same number, with a full table, closing whatever they do not know, forking.  None may
 * ever see a number that it did not take itself.  One has a message queue, of which the kernel
 * tells it: closing a copy of that descriptor anywhere in the process ends that.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN_FILE  "/dev/null"
#define LAST_FD   1023
#define LOOKS     200u /* in one turn */
#define SMALL     16u
#define MEDIUM    64u
#define CHILD_BAD 1

static bool was_open[LAST_FD + 1];

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void remember(void)
{
	for (int fd = 0; fd <= LAST_FD; fd++)
		was_open[fd] = is_open(fd);
}

static bool has_others(void)
{
	for (int fd = 0; fd <= LAST_FD; fd++)
		if (is_open(fd) != was_open[fd])
			return true;
	return false;
}

/* What daemons do that were started without them, or close them. */
static void bare_look(void)
{
	char byte = 'x';

	for (unsigned i = 0; i < LOOKS; i++) {
		if (is_open(0) || is_open(1) || is_open(2))
			workload_corrupt("somebody has opened 0, 1 or 2");
		if (write(1, &byte, 1) >= 0 || errno != EBADF)
			workload_corrupt("there was somebody to write to");
	}
}

static void bare_run(const void *data)
{
	(void)data;
	workload_ready();
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	for (;;) {
		bare_look();
		workload_turn();
	}
}

static int number_take(void)
{
	int fd = open(OWN_FILE, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd;
}

/* The lowest that is free, for ever: who opens is alone. */
static void next_run(const void *data)
{
	int expected = number_take();

	(void)data;
	workload_ready();
	for (;;) {
		for (unsigned i = 0; i < LOOKS; i++)
			if (number_take() != expected)
				workload_corrupt("not the number that was next");
		workload_turn();
	}
}

/* All but one number, or all, of as many as it may have. */
struct room {
	rlim_t limit;
	bool is_full;
};

static void room_run(const void *data)
{
	const struct room *room = data;
	struct rlimit limit = { room->limit, room->limit };
	int last = -1, fd;

	if (setrlimit(RLIMIT_NOFILE, &limit))
		workload_skip("setrlimit");
	do {
		fd = open(OWN_FILE, O_RDWR);
		last = fd >= 0 ? fd : last;
	} while (room->is_full && fd >= 0);
	workload_ready();
	for (;;) {
		for (unsigned i = 0; i < LOOKS; i++) {
			close(last);
			if (open(OWN_FILE, O_RDWR) != last)
				workload_corrupt("the number that was freed is not to be had");
		}
		workload_turn();
	}
}

static void closing_run(const void *data)
{
	(void)data;
	workload_ready();
	for (;;) {
		for (int fd = 3; fd <= LAST_FD; fd++)
			close(fd);
		workload_turn();
	}
}

static void forking_run(const void *data)
{
	int status;
	pid_t child;

	(void)data;
	remember();
	workload_ready();
	for (;;) {
		child = fork();
		if (child == 0)
			_exit(has_others() ? CHILD_BAD : 0);
		if (child < 0 || waitpid(child, &status, 0) != child)
			workload_fail("fork");
		else if (status)
			workload_corrupt("a child has descriptors that its parent did not open");
		workload_turn();
	}
}

static int queue_open(void)
{
	struct mq_attr shape = { .mq_maxmsg = 1, .mq_msgsize = 1 };
	char name[32];
	int queue;

	snprintf(name, sizeof(name), "limpet-test-%d", (int)getpid());
	queue = (int)syscall(SYS_mq_open, name, O_RDWR | O_CREAT | O_NONBLOCK, 0600, &shape);
	if (queue < 0)
		workload_skip("mq_open");
	syscall(SYS_mq_unlink, name);
	return queue;
}

/* Told once for each time that it has asked. */
static void queue_look(int queue, const sigset_t *told)
{
	const struct timespec none = { 0, 0 };
	const struct sigevent again = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	char byte = 'x';

	if (syscall(SYS_mq_timedsend, queue, &byte, 1, 0, NULL))
		workload_fail("mq_timedsend");
	if (sigtimedwait(told, NULL, &none) != SIGUSR1)
		workload_corrupt("nobody was told that the queue has a message");
	if (syscall(SYS_mq_timedreceive, queue, &byte, 1, NULL, NULL) != 1 ||
	    syscall(SYS_mq_notify, queue, &again))
		workload_fail("mq_notify");
}

static void queue_run(const void *data)
{
	const struct sigevent first = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	int queue = queue_open();
	sigset_t told;

	(void)data;
	sigemptyset(&told);
	sigaddset(&told, SIGUSR1);
	sigprocmask(SIG_BLOCK, &told, NULL);
	if (syscall(SYS_mq_notify, queue, &first))
		workload_skip("mq_notify");
	workload_ready();
	for (;;) {
		usleep(1000);
		queue_look(queue, &told);
		workload_turn();
	}
}

static void idle_run(const void *data)
{
	(void)data;
	workload_ready();
	workload_idle();
}

static const struct room small = { SMALL, false }, medium = { MEDIUM, false },
			 full = { MEDIUM, true };

const struct workload workloads[] = {
	{ "bare", bare_run, NULL },       { "next", next_run, NULL },
	{ "small", room_run, &small },    { "medium", room_run, &medium },
	{ "full", room_run, &full },      { "closing", closing_run, NULL },
	{ "forking", forking_run, NULL }, { "queue", queue_run, NULL },
	{ "idle", idle_run, NULL },       { NULL, NULL, NULL },
};
