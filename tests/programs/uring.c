/*
 * Programs with one thread of their own, and one that the kernel has made for their io_uring: it
 * is listed in /proc/PID/task, shares memory, descriptors and filters, and never runs the
 * program's code.  The program's own thread says at each turn, as the number of signals that it
 * has received, whether libc works without locks.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENTRIES 4

struct ring {
	int fd;
	char *queues;
	struct io_uring_sqe *entries;
	struct io_uring_params params;
};

static void ring_open(struct ring *ring, unsigned flags)
{
	size_t size;

	memset(&ring->params, 0, sizeof(ring->params));
	ring->params.flags = flags;
	ring->params.sq_thread_idle = 3600000; /* ms */
	ring->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &ring->params);
	if (ring->fd < 0)
		workload_skip("io_uring_setup");
	size = ring->params.sq_off.array + ring->params.sq_entries * sizeof(uint32_t);
	ring->queues =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
	ring->entries = mmap(NULL, ENTRIES * sizeof(*ring->entries), PROT_READ | PROT_WRITE,
			     MAP_SHARED, ring->fd, IORING_OFF_SQES);
	if (ring->queues == MAP_FAILED || ring->entries == MAP_FAILED)
		workload_skip("io_uring memory");
}

/* A worker of the kernel's waits in this read for ever. */
static void ring_read_pipe(struct ring *ring)
{
	static char into[1];
	int pipes[2];

	if (pipe(pipes))
		workload_skip("pipe");
	ring->entries[0] = (struct io_uring_sqe){ .opcode = IORING_OP_READ,
						  .flags = IOSQE_ASYNC,
						  .fd = pipes[0],
						  .addr = (uint64_t)(uintptr_t)into,
						  .len = sizeof(into) };
	*(uint32_t *)(ring->queues + ring->params.sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(ring->queues + ring->params.sq_off.tail), 1,
			 __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) != 1)
		workload_skip("io_uring_enter");
}

static void turn_for_ever(void)
{
	workload_ready();
	for (;; workload_turn()) {
		sleep_ns(NS_PER_MS);
		stats->signals_received = *(volatile char *)&__libc_single_threaded;
	}
}

static void run_worker(const void *unused)
{
	static struct ring ring;

	(void)unused;
	ring_open(&ring, 0);
	ring_read_pipe(&ring);
	turn_for_ever();
}

/* It looks for requests on a processor of its own, for an hour, and makes no system call. */
static void run_poller(const void *unused)
{
	static struct ring ring;

	(void)unused;
	ring_open(&ring, IORING_SETUP_SQPOLL);
	turn_for_ever();
}

const struct workload workloads[] = {
	{ "worker", run_worker, NULL },
	{ "poller", run_poller, NULL },
	{ NULL, NULL, NULL },
};
