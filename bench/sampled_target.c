/*
 * A target that knows what is taken from it.  Each thread goes down DEPTH calls and works there in
 * steps of some nanoseconds; a step that takes longer than a microsecond was interrupted, and by
 * how much it was late goes into a histogram, in a shared page that bench/sampling.py reads.
 *
 *   sampled_target DEPTH THREADS PAGE-FILE
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define APART        __attribute__((noinline, noipa))
#define BUCKETS      1000u /* of a tenth of a microsecond; the last one is for all that is longer */
#define NOTABLE_NS   1000u
#define CALIBRATE_NS 20000000u

/* One thread; bench/sampling.py knows this layout. */
struct slot {
	volatile uint64_t steps;
	volatile uint64_t gaps[BUCKETS];
	volatile uint64_t now;         /* ticks, at the last step */
	volatile uint64_t away;        /* ticks in gaps of the last bucket */
	volatile uint64_t interrupted; /* in the other ones */
	uint64_t unused[4];            /* whole cache lines */
};

static struct slot *slots;
static double ns_per_tick;

static inline uint64_t ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void calibrate(void)
{
	uint64_t begin_ns = now_ns(), begin = ticks();

	while (now_ns() - begin_ns < CALIBRATE_NS)
		;
	ns_per_tick = (double)(now_ns() - begin_ns) / (double)(ticks() - begin);
}

static void note_gap(struct slot *slot, uint64_t gap)
{
	uint64_t bucket = (uint64_t)((double)gap * ns_per_tick / 100);

	if (bucket >= BUCKETS - 1) {
		bucket = BUCKETS - 1;
		slot->away += gap;
	} else {
		slot->interrupted += gap;
	}
	slot->gaps[bucket]++;
}

static APART void work(struct slot *slot)
{
	uint64_t notable = (uint64_t)(NOTABLE_NS / ns_per_tick), last = ticks();

	for (;;) {
		uint64_t now = ticks();

		if (now - last > notable)
			note_gap(slot, now - last);
		last = now;
		slot->now = now;
		slot->steps++;
	}
}

static APART int go_down(struct slot *slot, unsigned depth)
{
	volatile char local[64];

	local[depth & 7] = 1;
	if (!depth)
		work(slot);
	else
		go_down(slot, depth - 1);
	return local[depth & 7];
}

static unsigned depth;

static void *thread_main(void *slot)
{
	go_down(slot, depth);
	return NULL;
}

int main(int argc, char **argv)
{
	long count = argc == 4 ? atol(argv[2]) : 0;
	int fd = count > 0 ? open(argv[3], O_RDWR) : -1;
	pthread_t thread;

	if (fd < 0 || ftruncate(fd, count * (off_t)sizeof(struct slot)))
		return 2;
	slots = mmap(NULL, (size_t)count * sizeof(struct slot), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (slots == MAP_FAILED)
		return 2;
	depth = (unsigned)atoi(argv[1]);
	calibrate();
	for (long i = 1; i < count; i++)
		if (pthread_create(&thread, NULL, thread_main, &slots[i]))
			return 2;
	thread_main(&slots[0]);
	return 0;
}
