/*
 * A program that takes copies of the sockets that a visitor's thread has in a table of its own:
 * "silent" then has the kernel drop whatever is sent to them, "fill" keeps the queue full that
 * another process sends to, "swallow" reads a message that the visitor is sent.
 */
#define _GNU_SOURCE
#include "../../programs/workload.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

#define FIRST   400 /* where the visitor has them */
#define LAST    408
#define VISITOR "limpet\n"
#define DELAY   (300 * NS_PER_MS)

static bool is_packet_socket(int fd)
{
	int type = 0;
	socklen_t size = sizeof(type);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_SEQPACKET;
}

static bool is_visitor(const char *tid)
{
	char path[300], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", tid);
	file = fopen(path, "re");
	if (file && !fgets(name, sizeof(name), file))
		name[0] = '\0';
	if (file)
		fclose(file);
	return !strcmp(name, VISITOR);
}

/* Of the visitor's thread; -1: there is none. */
static int visitor_open(void)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	int fd = -1;

	while (fd < 0 && folder && (entry = readdir(folder)))
		if (is_visitor(entry->d_name))
			fd = (int)syscall(SYS_pidfd_open, atoi(entry->d_name), PIDFD_THREAD);
	if (folder)
		closedir(folder);
	return fd;
}

static int visitor_await(void)
{
	int fd;

	while ((fd = visitor_open()) < 0)
		;
	return fd;
}

static bool copy(int visitor, int fd, int *ret)
{
	*ret = (int)syscall(SYS_pidfd_getfd, visitor, fd, 0);
	if (*ret >= 0 && is_packet_socket(*ret))
		return true;
	if (*ret >= 0)
		close(*ret);
	*ret = -1;
	return false;
}

/* Of a pair, the first is the one that another process takes; it is there for a moment only.  Both
 * are kept, so that neither end is ever closed. */
static int pair_steal(void)
{
	int taken = -1, kept, visitor;

	setpriority(PRIO_PROCESS, (id_t)gettid(), -15);
	visitor = visitor_await();
	for (int fd = FIRST; taken < 0; fd = fd == LAST ? FIRST : fd + 1)
		if (copy(visitor, fd + 1, &kept) && !copy(visitor, fd, &taken))
			close(kept);
	setpriority(PRIO_PROCESS, (id_t)gettid(), 0);
	atomic_fetch_add(&stats->signals_sent, 1);
	return taken;
}

static void *fill(void *unused)
{
	int socket = pair_steal();

	sleep_ns(DELAY);
	for (;;)
		if (send(socket, "x", 1, MSG_DONTWAIT) < 0)
			sleep_ns(NS_PER_MS / 10);
	return unused;
}

/* What stays is the socket that our side reads. */
static void *be_silent(void *unused)
{
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog drop = { 1, &none };
	int kept, visitor = visitor_await();

	sleep_ns(DELAY);
	for (int fd = FIRST; fd <= LAST; fd++)
		if (copy(visitor, fd, &kept) &&
		    setsockopt(kept, SOL_SOCKET, SO_ATTACH_FILTER, &drop, sizeof(drop)))
			workload_fail("SO_ATTACH_FILTER");
	atomic_fetch_add(&stats->signals_sent, 1);
	return unused;
}

static void can_take(void)
{
	int fd = (int)syscall(SYS_pidfd_open, gettid(), PIDFD_THREAD);

	if (fd < 0)
		workload_skip("PIDFD_THREAD");
	close(fd);
}

static bool swallow_from(int visitor, int fd)
{
	char message[65536];
	int taken;
	bool is_read;

	if (!copy(visitor, fd, &taken))
		return false;
	is_read = recv(taken, message, sizeof(message), MSG_DONTWAIT) > 0;
	close(taken);
	return is_read;
}

/* Reads the first message that comes; what is lost is never answered. */
static void *swallow(void *unused)
{
	int visitor = visitor_await();

	while (!atomic_load(&stats->signals_sent))
		for (int fd = FIRST; fd <= LAST; fd++)
			if (swallow_from(visitor, fd))
				atomic_fetch_add(&stats->signals_sent, 1);
	return unused;
}

static void swallower_run(const void *data)
{
	(void)data;
	can_take();
	thread_start(swallow, NULL, 0);
	workload_ready();
	workload_idle();
}

static void filler_run(const void *data)
{
	(void)data;
	can_take();
	thread_start(fill, NULL, 0);
	workload_ready();
	workload_idle();
}

static void silent_run(const void *data)
{
	(void)data;
	can_take();
	thread_start(be_silent, NULL, 0);
	workload_ready();
	workload_idle();
}

const struct workload workloads[] = {
	{ "fill", filler_run, NULL },
	{ "silent", silent_run, NULL },
	{ "swallow", swallower_run, NULL },
	{ NULL, NULL, NULL },
};
