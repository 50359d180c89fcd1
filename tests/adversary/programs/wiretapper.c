/*
 * A program that keeps copies of the sockets which appear in it: "silent" then takes its own away
 * from whoever reads it, "fill" keeps the queue full that another process sends to, "swallow" reads
 * a message that another is sent.
 */
#include "../../programs/workload.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST 400 /* where they appear */
#define LAST  408
#define COPY  700
#define DELAY (300 * NS_PER_MS)

static bool is_packet_socket(int fd)
{
	int type = 0;
	socklen_t size = sizeof(type);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_SEQPACKET;
}

static bool copy(int fd, int *ret)
{
	*ret = is_packet_socket(fd) ? fcntl(fd, F_DUPFD, COPY) : -1;
	return *ret >= 0;
}

/* Of a pair, the first is the one that another process takes; it is there for a moment only.  Both
 * are kept, so that neither end is ever closed. */
static int pair_steal(void)
{
	int taken = -1, kept;

	setpriority(PRIO_PROCESS, (id_t)gettid(), -15);
	for (int fd = FIRST; taken < 0; fd = fd == LAST ? FIRST : fd + 1)
		if (is_packet_socket(fd) && copy(fd + 1, &kept) && !copy(fd, &taken))
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
	int socket = FIRST, kept;

	while (!copy(socket, &kept))
		socket = socket == LAST ? FIRST : socket + 1;
	sleep_ns(DELAY);
	for (socket = FIRST; socket <= LAST; socket++)
		if (copy(socket, &kept))
			close(socket);
	atomic_fetch_add(&stats->signals_sent, 1);
	return unused;
}

/* Reads the first message that comes; what is lost is never answered. */
static void *swallow(void *unused)
{
	char message[65536];

	while (!atomic_load(&stats->signals_sent))
		for (int fd = FIRST; fd <= LAST; fd++)
			if (is_packet_socket(fd) &&
			    recv(fd, message, sizeof(message), MSG_DONTWAIT) > 0)
				atomic_fetch_add(&stats->signals_sent, 1);
	return unused;
}

static void swallower_run(const void *data)
{
	(void)data;
	thread_start(swallow, NULL, 0);
	workload_ready();
	workload_idle();
}

static void filler_run(const void *data)
{
	(void)data;
	thread_start(fill, NULL, 0);
	workload_ready();
	workload_idle();
}

static void silent_run(const void *data)
{
	(void)data;
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
