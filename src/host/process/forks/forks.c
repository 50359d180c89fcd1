/*
 * Detects forks by the best source that this machine allows; reads /proc and one socket.  The best
 * one is the kernel's own events of processes (the process connector): a filter in the kernel
 * passes only forks and execs of processes, so starts of threads do not wake the listener.
 */
#include "host/process/forks/forks.h"

#include "host/core/cleanup.h"
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

#define NUMBERS_MS     1
#define GLANCE_NS      10000000ull
#define WALK_NS        500000000ull
#define SCAN_SHARE     20 /* scans may take one part in so many of a processor */
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

/* A descriptor that becomes readable with each event, or -errno.  Needs the first pid and user
 * namespace, and CAP_NET_ADMIN before Linux 6.6. */
static int process_events_open(void)
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

/* 0; -EAGAIN when there is no more for now; -ENOBUFS when some were lost. */
static int process_events_read(int fd, struct fork_event *ret)
{
	struct packet packet;
	int r = process_events_receive(fd, &packet);

	while (!r && packet.event.what == PROC_EVENT_NONE)
		r = process_events_receive(fd, &packet); /* an answer to another listener's order */
	if (r)
		return r;
	if (packet.event.what == PROC_EVENT_FORK)
		*ret = (struct fork_event){
			.lineage = { .pid = packet.event.event_data.fork.child_tgid,
				     .parent = packet.event.event_data.fork.parent_tgid }
		};
	else
		*ret = (struct fork_event){
			.is_exec = true,
			.lineage = { .pid = packet.event.event_data.exec.process_tgid }
		};
	return 0;
}

/* Before Linux 6.6 the kernel counts listeners and does not notice a closed socket. */
static void process_events_close(int fd)
{
	(void)send_order(fd, PROC_CN_MCAST_IGNORE, 0);
	close(fd);
}

static const char *const source_names[] = {
	[FORKS_EVENTS] = "events",
	[FORKS_NUMBERS] = "numbers",
	[FORKS_WALK] = "walk",
};

const char *forks_source_name(enum forks_source source)
{
	return source_names[source];
}

void forks_open(struct forks *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->numbers.fd = -1;
	ret->events = process_events_open();
	if (ret->events >= 0)
		ret->source = FORKS_EVENTS;
	else if (!process_numbers_open(&ret->numbers))
		ret->source = FORKS_NUMBERS;
	else
		ret->source = FORKS_WALK;
}

struct fork_report {
	forks_visitor *visit;
	void *context;
};

static void report_fork(const struct fork_report *report, const struct lineage *lineage)
{
	report->visit(&(struct fork_event){ .lineage = *lineage }, report->context);
}

/* The time of the next scan, after one that began then. */
static uint64_t next_scan_ns(uint64_t begin_ns, uint64_t period_ns)
{
	uint64_t end_ns = now_ns();

	return end_ns + MAX(period_ns, SCAN_SHARE * (end_ns - begin_ns));
}

/* The net under the counter and under the glances; the kernel's events need none. */
static void scan_all(struct forks *self, const struct fork_report *report)
{
	CLEANUP(free) struct lineage *list = NULL;
	uint64_t begin_ns = now_ns();
	struct err ignored;
	size_t count = 0;

	if (lineage_read_all(&list, &count, &ignored))
		count = 0;
	for (size_t i = 0; i < count; i++)
		report_fork(report, &list[i]);
	self->next_walk_ns =
		self->source == FORKS_EVENTS ? UINT64_MAX : next_scan_ns(begin_ns, WALK_NS);
}

static bool was_seen(const struct forks *self, pid_t pid, size_t *at)
{
	while (*at < self->seen_count && self->seen[*at] < pid)
		++*at;
	return *at < self->seen_count && self->seen[*at] == pid;
}

/* Reads only processes whose numbers were free at the last glance. */
static void scan_new_numbers(struct forks *self, const struct fork_report *report)
{
	uint64_t begin_ns = now_ns();
	struct err ignored;
	pid_t *pids = NULL;
	size_t count = 0, at = 0;
	struct lineage lineage;

	if (proc_list(0, "", &pids, &count, &ignored))
		return;
	for (size_t i = 0; i < count; i++)
		if (!was_seen(self, pids[i], &at) && !lineage_read(pids[i], &lineage))
			report_fork(report, &lineage);
	free(self->seen);
	self->seen = pids;
	self->seen_count = count;
	self->next_glance_ns = next_scan_ns(begin_ns, GLANCE_NS);
}

static void read_events(struct forks *self, const struct fork_report *report)
{
	struct fork_event event;
	int r;

	while (!(r = process_events_read(self->events, &event)))
		report->visit(&event, report->context);
	if (r != -EAGAIN)
		self->next_walk_ns = 0; /* some were lost */
}

static bool report_number(pid_t pid, void *context)
{
	struct lineage lineage;

	if (lineage_read(pid, &lineage))
		return false;
	report_fork(context, &lineage);
	return true;
}

void forks_poll(struct forks *self, forks_visitor *visit, void *context)
{
	struct fork_report report = { visit, context };

	if (self->source == FORKS_EVENTS)
		read_events(self, &report);
	if (self->source == FORKS_NUMBERS &&
	    process_numbers_poll(&self->numbers, report_number, &report))
		self->next_walk_ns = 0; /* too many at once */
	if (self->source == FORKS_WALK && now_ns() >= self->next_glance_ns)
		scan_new_numbers(self, &report);
	if (now_ns() >= self->next_walk_ns)
		scan_all(self, &report);
}

int forks_wait_ms(const struct forks *self)
{
	uint64_t now = now_ns();

	if (self->source == FORKS_EVENTS)
		return self->next_walk_ns ? -1 : 0;
	if (self->source == FORKS_NUMBERS)
		return NUMBERS_MS;
	return self->next_glance_ns <= now ? 0 : (int)((self->next_glance_ns - now) / 1000000 + 1);
}

void forks_close(struct forks *forks)
{
	if (forks->events >= 0)
		process_events_close(forks->events);
	process_numbers_close(&forks->numbers);
	free(forks->seen);
	forks->seen = NULL;
	forks->events = -1;
}
