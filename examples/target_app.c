/*
 * A program to practise on: named threads that compute, allocate, sleep, wait for each other and
 * use files.  Each checks its own results, so that the last line can say whether anybody disturbed
 * them. It knows nothing of limpet.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS    1000000L
#define PRIME_LIMIT  100000u
#define PRIME_COUNT  9592u /* known: the number of primes below PRIME_LIMIT */
#define MATRIX_SIZE  64
#define SORT_COUNT   20000u
#define BLOCK_BYTES  4096u
#define QUEUE_LENGTH 16u

static atomic_bool is_ending;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec;
}

static bool pause_ms(long time_ms)
{
	struct timespec time = { time_ms / 1000, time_ms % 1000 * NS_PER_MS };

	return nanosleep(&time, NULL) == 0;
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Busy all the time: counts the primes below a limit, whose number is known. */
static bool primes_turn(void)
{
	static bool is_composite[PRIME_LIMIT];
	uint32_t count = 0;

	memset(is_composite, 0, sizeof(is_composite));
	for (uint32_t n = 2; n < PRIME_LIMIT; n++) {
		if (is_composite[n])
			continue;
		count++;
		for (uint64_t multiple = (uint64_t)n * n; multiple < PRIME_LIMIT; multiple += n)
			is_composite[multiple] = true;
	}
	return count == PRIME_COUNT;
}

static void matrix_multiply(uint64_t (*product)[MATRIX_SIZE], uint64_t (*left)[MATRIX_SIZE],
			    uint64_t (*right)[MATRIX_SIZE])
{
	for (int row = 0; row < MATRIX_SIZE; row++)
		for (int column = 0; column < MATRIX_SIZE; column++) {
			product[row][column] = 0;
			for (int i = 0; i < MATRIX_SIZE; i++)
				product[row][column] += left[row][i] * right[i][column];
		}
}

static void matrix_apply(uint64_t *result, uint64_t (*matrix)[MATRIX_SIZE], const uint64_t *vector)
{
	for (int row = 0; row < MATRIX_SIZE; row++) {
		result[row] = 0;
		for (int i = 0; i < MATRIX_SIZE; i++)
			result[row] += matrix[row][i] * vector[i];
	}
}

/* Computes and rests by turns: (left * right) * vector must be left * (right * vector). */
static bool matrix_turn(void)
{
	static uint64_t left[MATRIX_SIZE][MATRIX_SIZE], right[MATRIX_SIZE][MATRIX_SIZE];
	static uint64_t product[MATRIX_SIZE][MATRIX_SIZE], seed = 88172645463325252ULL;
	uint64_t vector[MATRIX_SIZE], one[MATRIX_SIZE], half[MATRIX_SIZE], other[MATRIX_SIZE];

	for (int row = 0; row < MATRIX_SIZE; row++) {
		vector[row] = random_next(&seed);
		for (int column = 0; column < MATRIX_SIZE; column++) {
			left[row][column] = random_next(&seed);
			right[row][column] = random_next(&seed);
		}
	}
	matrix_multiply(product, left, right);
	matrix_apply(one, product, vector);
	matrix_apply(half, right, vector);
	matrix_apply(other, left, half);
	return pause_ms(2) && memcmp(one, other, sizeof(one)) == 0;
}

static int number_compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Uses the allocator: sorts fresh numbers; the sum must stay and the order must come. */
static bool sorter_turn(void)
{
	static uint64_t seed = 1181783497276652981ULL;
	uint64_t *numbers = malloc(SORT_COUNT * sizeof(*numbers)), sum = 0;
	bool is_right = numbers != NULL;

	for (uint32_t i = 0; is_right && i < SORT_COUNT; i++)
		sum += numbers[i] = random_next(&seed);
	if (is_right)
		qsort(numbers, SORT_COUNT, sizeof(*numbers), number_compare);
	for (uint32_t i = 0; is_right && i < SORT_COUNT; i++) {
		sum -= numbers[i];
		is_right = i == 0 || numbers[i - 1] <= numbers[i];
	}
	free(numbers);
	return pause_ms(20) && is_right && sum == 0;
}

/* Sleeps; a sleep that is cut short or fails is a wrong result. */
static bool sleeper_turn(void)
{
	uint64_t begin_ns = now_ns();

	return pause_ms(50) && now_ns() - begin_ns >= 50 * NS_PER_MS;
}

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t items[QUEUE_LENGTH];
	uint64_t put, taken;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static bool producer_turn(void)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.put - queue.taken == QUEUE_LENGTH && !is_ending)
		pthread_cond_wait(&queue.changed, &queue.lock);
	queue.items[queue.put % QUEUE_LENGTH] = queue.put;
	queue.put++;
	pthread_cond_signal(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
	return pause_ms(5);
}

/* Waits on a lock nearly all the time: each number must come once, in order. */
static bool consumer_turn(void)
{
	bool is_right = true;

	pthread_mutex_lock(&queue.lock);
	while (queue.put == queue.taken && !is_ending)
		pthread_cond_wait(&queue.changed, &queue.lock);
	if (queue.put != queue.taken) {
		is_right = queue.items[queue.taken % QUEUE_LENGTH] == queue.taken;
		queue.taken++;
		pthread_cond_signal(&queue.changed);
	}
	pthread_mutex_unlock(&queue.lock);
	return is_right;
}

/* Writes a block to a file without a name and reads it back. */
static bool files_turn(void)
{
	static unsigned char written[BLOCK_BYTES], read_back[BLOCK_BYTES];
	static FILE *file;
	static unsigned int turn;

	if (!file && !(file = tmpfile()))
		return false;
	memset(written, (int)(++turn % 256), sizeof(written));
	return pwrite(fileno(file), written, BLOCK_BYTES, 0) == (ssize_t)BLOCK_BYTES &&
	       pread(fileno(file), read_back, BLOCK_BYTES, 0) == (ssize_t)BLOCK_BYTES &&
	       memcmp(written, read_back, BLOCK_BYTES) == 0 && pause_ms(10);
}

struct worker {
	const char *name; /* of the thread */
	bool (*turn)(void);
	pthread_t thread;
	atomic_ullong right, wrong;
};

static struct worker workers[] = {
	{ .name = "primes", .turn = primes_turn },
	{ .name = "matrix", .turn = matrix_turn },
	{ .name = "sorter", .turn = sorter_turn },
	{ .name = "sleeper", .turn = sleeper_turn },
	{ .name = "producer", .turn = producer_turn },
	{ .name = "consumer", .turn = consumer_turn },
	{ .name = "files", .turn = files_turn },
};

#define WORKER_COUNT (sizeof(workers) / sizeof(workers[0]))

static void *worker_run(void *argument)
{
	struct worker *worker = argument;

	pthread_setname_np(pthread_self(), worker->name);
	while (!is_ending)
		atomic_fetch_add(worker->turn() ? &worker->right : &worker->wrong, 1);
	return NULL;
}

struct totals {
	unsigned long long right, wrong;
	size_t moved; /* workers that got on since the last time */
};

static struct totals totals_take(void)
{
	static unsigned long long before[WORKER_COUNT];
	struct totals totals = { 0 };

	for (size_t i = 0; i < WORKER_COUNT; i++) {
		unsigned long long right = atomic_load(&workers[i].right);

		totals.right += right;
		totals.wrong += atomic_load(&workers[i].wrong);
		totals.moved += right > before[i];
		before[i] = right;
	}
	return totals;
}

/* The heart: a line each second, until SIGTERM or SIGINT. */
static void heart_beat(const sigset_t *ends)
{
	struct timespec second = { .tv_sec = 1 };
	unsigned int beats = 0;

	/* EINTR is no end either: it comes with SIGCONT. */
	while (sigtimedwait(ends, NULL, &second) < 0 && (errno == EAGAIN || errno == EINTR)) {
		struct totals totals = totals_take();

		printf("heartbeat %u: %llu results, %llu wrong, %zu of %zu threads moved on\n",
		       ++beats, totals.right, totals.wrong, totals.moved, WORKER_COUNT);
		fflush(stdout);
	}
}

static void workers_end(void)
{
	pthread_mutex_lock(&queue.lock);
	is_ending = true;
	pthread_cond_broadcast(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
	for (size_t i = 0; i < WORKER_COUNT; i++)
		pthread_join(workers[i].thread, NULL);
}

int main(void)
{
	struct totals totals;
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	for (size_t i = 0; i < WORKER_COUNT; i++)
		if (pthread_create(&workers[i].thread, NULL, worker_run, &workers[i])) {
			fprintf(stderr, "target_app: cannot start thread %s\n", workers[i].name);
			return 1;
		}
	printf("Target application started. PID: %d\n", (int)getpid());
	fflush(stdout);
	heart_beat(&ends);
	workers_end();
	totals = totals_take();
	printf("Target application ended: %llu results, %llu wrong: %s\n", totals.right,
	       totals.wrong, totals.wrong ? "SOMETHING WAS DISTURBED" : "all results were right");
	return totals.wrong ? 1 : 0;
}
