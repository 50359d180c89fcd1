/*
 * Listens to the process connector.  A filter in the kernel passes only forks and execs of
 * processes: starts of threads do not wake the listener.
 */
#include "host/process/forks/process_events.h"

#include "host/core/clock.h"
#include "host/process/procfs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACKNOWLEDGE_NS 200000000ull
#define BUFFER_BYTES   (4 << 20)

/* Numbers of the first namespaces, the same on every machine (linux/proc_ns.h). */
#define FIRST_PID_NAMESPACE  "pid:[4026531836]"
#define FIRST_USER_NAMESPACE "user:[4026531837]"

/* In the layout of the bytes: the event is not at its natural alignment. */
struct packet {
	struct nlmsghdr netlink;
	struct cn_msg connector;
	struct proc_event event;
} __attribute__((packed));

struct order {
	struct nlmsghdr netlink;
	struct cn_msg connector;
	enum proc_cn_mcast_op what;
};

#define AT(member) ((uint32_t)offsetof(struct packet, member))

static bool is_namespace(const char *name, const char *wanted)
{
	char found[64];

	return proc_read_link(getpid(), name, found, sizeof(found)) > 0 && !strcmp(found, wanted);
}

/* Passes acknowledgements, execs, and forks whose child is a process, not a thread. */
static int process_events_filter(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(event.what)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_NONE), 6, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_EXEC), 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(PROC_EVENT_FORK), 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(event.event_data.fork.child_tgid)),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(event.event_data.fork.child_pid)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ? -errno : 0;
}

static int send_order(int fd, enum proc_cn_mcast_op what, uint32_t mark)
{
	struct order order = {
		.netlink = { .nlmsg_len = sizeof(order), .nlmsg_type = NLMSG_DONE },
		.connector = { .id = { CN_IDX_PROC, CN_VAL_PROC },
			       .ack = mark,
			       .len = sizeof(order.what) },
		.what = what,
	};

	return send(fd, &order, sizeof(order), MSG_NOSIGNAL) == sizeof(order) ? 0 : -errno;
}

/* 0, -EAGAIN, -ENOBUFS; ignores packets not from the kernel. */
static int process_events_receive(int fd, struct packet *ret)
{
	for (;;) {
		struct sockaddr_nl from = { 0 };
		socklen_t length = sizeof(from);
		ssize_t size = recvfrom(fd, ret, sizeof(*ret), MSG_DONTWAIT,
					(struct sockaddr *)&from, &length);

		if (size < 0 && errno != EINTR)
			return -errno;
		if (size >= (ssize_t)(AT(event.event_data) + sizeof(ret->event.event_data.exec)) &&
		    !from.nl_pid && ret->connector.id.idx == CN_IDX_PROC)
			return 0;
	}
}

/* The kernel acknowledges an order with an event that has limpet's mark plus one, and a result. */
static int await_acknowledgement(int fd, uint32_t mark)
{
	uint64_t deadline_ns = now_ns() + ACKNOWLEDGE_NS;
	struct pollfd wait = { fd, POLLIN, 0 };
	struct packet packet;

	while (now_ns() < deadline_ns) {
		int r = poll(&wait, 1, 10) > 0 ? process_events_receive(fd, &packet) : -EAGAIN;

		if (!r && packet.event.what == PROC_EVENT_NONE && packet.connector.ack == mark + 1)
			return -(int)packet.event.event_data.ack.err;
		if (r && r != -EAGAIN && r != -ENOBUFS)
			return r;
	}
	return -ETIMEDOUT;
}

static int listen_to(int fd)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	uint32_t mark = (uint32_t)now_ns();
	int bytes = BUFFER_BYTES, r = process_events_filter(fd);

	if (!r && bind(fd, (struct sockaddr *)&address, sizeof(address)))
		r = -errno;
	if (!r && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (!r)
		r = send_order(fd, PROC_CN_MCAST_LISTEN, mark);
	return r ? r : await_acknowledgement(fd, mark);
}

int process_events_open(void)
{
	int fd, r;

	/* In another namespace the numbers in the events would not be limpet's; the kernel does not
	 * report that. */
	if (!is_namespace("ns/pid", FIRST_PID_NAMESPACE) ||
	    !is_namespace("ns/user", FIRST_USER_NAMESPACE))
		return -ENOTSUP;
	fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
	if (fd < 0)
		return -errno;
	r = listen_to(fd);
	if (r) {
		close(fd);
		return r;
	}
	return fd;
}

int process_events_read(int fd, struct process_event *ret)
{
	struct packet packet;
	int r = process_events_receive(fd, &packet);

	while (!r && packet.event.what == PROC_EVENT_NONE)
		r = process_events_receive(fd, &packet); /* an answer to another listener's order */
	if (r)
		return r;
	if (packet.event.what == PROC_EVENT_FORK)
		*ret = (struct process_event){ PROCESS_FORKED,
					       packet.event.event_data.fork.child_tgid,
					       packet.event.event_data.fork.parent_tgid };
	else
		*ret = (struct process_event){ PROCESS_EXECUTED,
					       packet.event.event_data.exec.process_tgid, 0 };
	return 0;
}

/* Before Linux 6.6 the kernel counts listeners and does not notice a closed socket. */
void process_events_close(int fd)
{
	(void)send_order(fd, PROC_CN_MCAST_IGNORE, 0);
	close(fd);
}
