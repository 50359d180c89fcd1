/*
 * A target that measures how long each of its own threads stood still.  Every thread works in short
 * turns and notes, in a shared page that bench/attach.py reads, by how much its longest turn was
 * late and how much of that the thread only waited for a processor.  It knows nothing of limpet.
 *
 *   gap_target KIND THREADS PAGE-FILE        KIND: tick, spin, malloc, still
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS      1000000ULL
#define NS_PER_S       1000000000ULL
#define STACK_BYTES    (64 * 1024)
#define SPIN_ROUNDS    2000 /* a few microseconds */
#define HEAP_BLOCKS    64
#define HEAP_ROUNDS    50
#define NOTABLE_GAP_NS 20000ULL /* above this, ask the scheduler for its share */
#define MANY_THREADS   100

/* One thread; bench/attach.py knows this layout. */
struct slot {
	_Atomic uint64_t tid;
	_Atomic uint64_t turns;
	_Atomic uint64_t epoch;    /* that the three below belong to */
	_Atomic uint64_t late_ns;  /* the most by which a turn was late */
	_Atomic uint64_t queue_ns; /* of that, runnable without a processor */
	_Atomic uint64_t stood_ns; /* the most by which a turn was late for any other reason */
	_Atomic uint64_t wrong;    /* results */
	uint64_t unused[1];        /* a cache line each */
};

struct page {
	_Atomic uint64_t epoch; /* written from outside: a new one begins a new measurement */
	_Atomic uint64_t ready; /* threads that have begun */
	uint64_t unused[6];
	struct slot slots[];
};

/* How one kind of thread passes a turn; false: a wrong result. */
struct kind {
	const char *name;
	uint64_t (*period_ns)(size_t threads); /* that a turn takes when nobody disturbs it */
	int (*turn)(uint64_t period_ns, unsigned int *seed);
};

struct thread {
	struct slot *slot;
	int schedstat_fd;
	uint64_t queued_ns, asked_ns; /* of the last look at the scheduler's numbers */
};

static struct page *page;
static const struct kind *kind;
static size_t thread_count;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t period_none(size_t threads)
{
	(void)threads;
	return 0;
}

/* A thousand threads at a thousand turns a second would fill the machine. */
static uint64_t period_tick(size_t threads)
{
	return threads > MANY_THREADS ? 100 * NS_PER_MS : NS_PER_MS;
}

static void sleep_ns(uint64_t time_ns)
{
	struct timespec time = { (time_t)(time_ns / NS_PER_S), (long)(time_ns % NS_PER_S) };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static int tick_turn(uint64_t period_ns, unsigned int *seed)
{
	(void)seed;
	sleep_ns(period_ns);
	return 1;
}

static uint64_t spin_sum(uint64_t state)
{
	uint64_t sum = 0;

	for (int i = 0; i < SPIN_ROUNDS; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		sum += state;
	}
	return sum;
}

static int spin_turn(uint64_t period_ns, unsigned int *seed)
{
	volatile uint64_t start = 88172645463325252ULL; /* else both sums are computed once */

	(void)period_ns;
	(void)seed;
	return spin_sum(start) == spin_sum(start);
}

static int malloc_turn(uint64_t period_ns, unsigned int *seed)
{
	static _Thread_local unsigned char *blocks[HEAP_BLOCKS];
	int is_right = 1;

	(void)period_ns;
	for (int i = 0; i < HEAP_ROUNDS; i++) {
		unsigned int at = (unsigned int)rand_r(seed) % HEAP_BLOCKS;

		is_right &= !blocks[at] || *blocks[at] == at;
		free(blocks[at]);
		blocks[at] = malloc(16 + (size_t)rand_r(seed) % 3000);
		if (blocks[at])
			*blocks[at] = (unsigned char)at;
	}
	return is_right;
}

/* Passes no turns at all: something to attach to that needs no processor. */
static int still_turn(uint64_t period_ns, unsigned int *seed)
{
	(void)period_ns;
	(void)seed;
	pause();
	return 1;
}

static const struct kind kinds[] = {
	{ "tick", period_tick, tick_turn },
	{ "spin", period_none, spin_turn },
	{ "malloc", period_none, malloc_turn },
	{ "still", period_none, still_turn },
};

/* How long this thread has waited for a processor so far. */
static uint64_t queue_read(const struct thread *self)
{
	unsigned long long ran_ns, queued_ns = 0;
	char text[64];
	ssize_t size = pread(self->schedstat_fd, text, sizeof(text) - 1, 0);

	if (size <= 0)
		return 0;
	text[size] = '\0';
	if (sscanf(text, "%llu %llu", &ran_ns, &queued_ns) != 2)
		return 0;
	return queued_ns;
}

static void raise_to(_Atomic uint64_t *most, uint64_t value)
{
	if (value > atomic_load(most))
		atomic_store(most, value);
}

static void late_note(struct slot *slot, uint64_t late_ns, uint64_t queue_ns)
{
	uint64_t epoch = atomic_load(&page->epoch);

	if (atomic_load(&slot->epoch) != epoch) {
		/* What lies across the border of two measurements belongs to neither. */
		atomic_store(&slot->late_ns, 0);
		atomic_store(&slot->queue_ns, 0);
		atomic_store(&slot->stood_ns, 0);
		atomic_store(&slot->epoch, epoch);
		return;
	}
	queue_ns = queue_ns < late_ns ? queue_ns : late_ns;
	if (late_ns > atomic_load(&slot->late_ns))
		atomic_store(&slot->queue_ns, queue_ns);
	raise_to(&slot->late_ns, late_ns);
	raise_to(&slot->stood_ns, late_ns - queue_ns);
}

/* Asking costs microseconds: done after a notable gap, and often enough that small ones do not add
 * up. */
static void turn_measure(struct thread *self, uint64_t gap_ns, uint64_t period_ns, uint64_t now)
{
	uint64_t late_ns = gap_ns > period_ns ? gap_ns - period_ns : 0, queue_ns = 0;

	if (late_ns > NOTABLE_GAP_NS || now - self->asked_ns > NS_PER_MS) {
		uint64_t queued_ns = queue_read(self);

		queue_ns = queued_ns - self->queued_ns;
		self->queued_ns = queued_ns;
		self->asked_ns = now;
	}
	late_note(self->slot, late_ns, queue_ns);
	atomic_fetch_add_explicit(&self->slot->turns, 1, memory_order_relaxed);
}

static void *thread_run(void *slot)
{
	struct thread self = { .slot = slot };
	uint64_t period_ns = kind->period_ns(thread_count), last_ns = now_ns();
	unsigned int seed = (unsigned int)gettid();

	self.schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	atomic_store(&self.slot->tid, (uint64_t)gettid());
	atomic_fetch_add(&page->ready, 1);
	for (;;) {
		uint64_t now;

		if (!kind->turn(period_ns, &seed))
			atomic_fetch_add(&self.slot->wrong, 1);
		now = now_ns();
		turn_measure(&self, now - last_ns, period_ns, now);
		/* Not what the measuring itself took. */
		last_ns = now_ns();
	}
	return NULL;
}

static struct page *page_map(const char *path)
{
	size_t size = sizeof(struct page) + thread_count * sizeof(struct slot);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *address = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
		address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (address == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	close(fd);
	return address;
}

static void threads_start(void)
{
	struct rlimit files = { 0 };
	pthread_attr_t attributes;
	pthread_t thread;

	/* A descriptor for each thread. */
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (size_t i = 1; i < thread_count; i++)
		if (pthread_create(&thread, &attributes, thread_run, &page->slots[i])) {
			fprintf(stderr, "gap_target: only %zu threads\n", i);
			exit(1);
		}
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 4 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			kind = &kinds[i];
	thread_count = kind ? strtoul(argv[2], NULL, 10) : 0;
	if (!thread_count) {
		fprintf(stderr, "usage: %s tick|spin|malloc|still THREADS PAGE-FILE\n", argv[0]);
		return 2;
	}
	page = page_map(argv[3]);
	threads_start();
	thread_run(&page->slots[0]);
	return 0;
}
