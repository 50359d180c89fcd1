/*
 * Causes of commands in programs whose threads and queues take turns in every order that dice give:
 * a cause that is told is right, and most are.
 */
#include "unit.h"

#include "target/amd/hip/launch_pool.h"

#include <stdbool.h>
#include <string.h>

#define THREADS   3u
#define DEVICES   2u
#define STREAMS   4u
#define QUEUES    (DEVICES + STREAMS)
#define DEPTH_MAX 64u
#define ROUNDS    4u
#define BLOCKS    3u
#define PROGRAMS  400u

/* One that was submitted. */
struct command {
	enum launch_kind kind;
	uint64_t cause, what;
	uint8_t direction;
};

struct queue {
	struct command items[DEPTH_MAX];
	unsigned first, count;
	uint64_t number; /* as reports have it */
};

struct worker {
	int32_t thread;
	unsigned index, stream, device, step, rounds;
	uint64_t failing; /* the cause of a call that is about to fail; 0: none */
};

static struct queue queues[QUEUES]; /* first those of default streams */
static bool is_taken[STREAMS];
static struct worker workers[THREADS];
static uint64_t ticks, next_queue;
static int64_t outstanding;
static int32_t next_thread;
static uint32_t dice;
static bool is_hurried;
static unsigned waits_after;
static struct {
	unsigned told, wrong, all;
} causes;

static unsigned roll(unsigned sides)
{
	dice = dice * 1664525u + 1013904223u;
	return (dice >> 8) % sides;
}

static uint64_t stream_address(unsigned stream)
{
	return 0x1000 * (stream + 1);
}

/* As activity.c does it. */
static void ask(enum launch_kind kind, struct launch *launch)
{
	uint32_t misses = launches_misses();
	uint64_t since = ++ticks;

	if (!outstanding++)
		launches_settle(since, misses);
	launch->asked = ++ticks;
	assert_true(launches_add(kind, launch));
}

static struct launch launch_by(const struct worker *worker, bool is_default, uint64_t what,
			       uint8_t direction)
{
	return (struct launch){ .cause = ++ticks,
				.stream = is_default ? 0 : stream_address(worker->stream),
				.what = what,
				.direction = direction,
				.thread = worker->thread };
}

static struct queue *queue_of(const struct worker *worker, bool is_default)
{
	return &queues[is_default ? worker->device : DEVICES + worker->stream];
}

static void submit(const struct worker *worker, bool is_default, enum launch_kind kind,
		   uint64_t what, uint8_t direction)
{
	struct launch launch = launch_by(worker, is_default, what, direction);
	struct queue *queue = queue_of(worker, is_default);

	ask(kind, &launch);
	assert_true(queue->count < DEPTH_MAX);
	queue->items[(queue->first + queue->count++) % DEPTH_MAX] =
		(struct command){ kind, launch.cause, what, direction };
}

/* The next command is done, and reported. */
static void queue_step(struct queue *queue)
{
	struct command done = queue->items[queue->first++ % DEPTH_MAX];
	struct launch_report report = { done.kind, queue->number, ++ticks,
					done.kind == LAUNCH_KERNEL ? done.what / 16 : done.what,
					done.direction };
	struct launch found;

	queue->count--;
	if (launches_match(&report, &found)) {
		causes.told++;
		causes.wrong += found.cause != done.cause;
	}
	causes.all++;
	outstanding--;
}

static void launch_in_vain(struct worker *worker)
{
	struct launch launch = launch_by(worker, false, 0x770, 0);

	ask(LAUNCH_KERNEL, &launch);
	worker->failing = launch.cause;
}

static void launch_fail(struct worker *worker)
{
	launches_cancel(worker->failing);
	outstanding--;
	worker->failing = 0;
}

enum { STEPS = 9 };

/* Any command of a few, on either queue. */
static void hurry(struct worker *worker)
{
	bool is_default = !roll(4);
	enum launch_kind kind = roll(2) ? LAUNCH_KERNEL : LAUNCH_COPY;

	worker->step++;
	if (worker->failing)
		launch_fail(worker);
	else if (!roll(8))
		launch_in_vain(worker);
	else if (queue_of(worker, is_default)->count < DEPTH_MAX)
		submit(worker, is_default, kind,
		       kind == LAUNCH_KERNEL ? 0x100 + 16 * roll(3) : 8ull << roll(3),
		       COPY_HOST_TO_DEVICE);
}

/* What tests/standin/standin_work.c does in a round. */
static void worker_step(struct worker *worker)
{
	size_t size = 1000 * (worker->index + 1);

	if (is_hurried) {
		hurry(worker);
		return;
	}
	switch (worker->step++ % STEPS) {
	case 0:
		submit(worker, false, LAUNCH_COPY, size, COPY_HOST_TO_DEVICE);
		break;
	case 1:
		launch_in_vain(worker);
		break;
	case 2:
		launch_fail(worker);
		break;
	case 3:
		submit(worker, false, LAUNCH_KERNEL, 0x100 + 16 * worker->index, 0);
		break;
	case 4:
		submit(worker, false, LAUNCH_COPY, size, COPY_DEVICE_TO_HOST);
		break;
	case 6:
		submit(worker, true, LAUNCH_COPY, 8, COPY_HOST_TO_DEVICE);
		break;
	case 7:
		submit(worker, true, LAUNCH_KERNEL, 0x200, 0);
		break;
	default:
		break;
	}
}

static bool is_over(const struct worker *worker)
{
	return worker->step >= worker->rounds * STEPS && !worker->failing;
}

/* Where it waits for what it has submitted. */
static bool can_go_on(const struct worker *worker)
{
	if (is_hurried)
		return !is_over(worker) &&
		       (worker->failing || worker->step % waits_after ||
			(!queue_of(worker, false)->count && !queue_of(worker, true)->count));
	switch (worker->step % STEPS) {
	case 5:
		return !queue_of(worker, false)->count;
	case 7:
	case 8:
		return !queue_of(worker, true)->count;
	default:
		return !is_over(worker);
	}
}

static bool is_all_over(void)
{
	for (unsigned i = 0; i < THREADS; i++)
		if (!is_over(&workers[i]))
			return false;
	return true;
}

static void take_turns(void)
{
	while (!is_all_over()) {
		unsigned who = roll(THREADS + QUEUES);

		if (who < THREADS && can_go_on(&workers[who]))
			worker_step(&workers[who]);
		else if (who >= THREADS && queues[who - THREADS].count)
			queue_step(&queues[who - THREADS]);
	}
	for (unsigned i = 0; i < QUEUES; i++)
		while (queues[i].count)
			queue_step(&queues[i]);
}

/* Its address may be that of one that was there before. */
static unsigned stream_make(void)
{
	unsigned stream = roll(STREAMS);

	while (is_taken[stream])
		stream = (stream + 1) % STREAMS;
	is_taken[stream] = true;
	if (roll(2))
		queues[DEVICES + stream].number = ++next_queue;
	return stream;
}

static void run_block(void)
{
	for (unsigned i = 0; i < THREADS; i++)
		workers[i] = (struct worker){ .thread = ++next_thread,
					      .index = i,
					      .stream = stream_make(),
					      .device = i % DEVICES,
					      .rounds = 1 + roll(ROUNDS) };
	take_turns();
	for (unsigned i = 0; i < THREADS; i++) {
		launches_forget_stream(stream_address(workers[i].stream));
		is_taken[workers[i].stream] = false;
	}
}

static void run_program(uint32_t seed)
{
	dice = seed;
	outstanding = 0;
	memset(queues, 0, sizeof(queues));
	for (unsigned i = 0; i < QUEUES; i++)
		queues[i].number = ++next_queue;
	assert_int_equal(launches_open(), 0);
	for (unsigned i = 0; i < BLOCKS; i++)
		run_block();
	launches_close();
}

static void check_programs(void)
{
	memset(&causes, 0, sizeof(causes));
	for (uint32_t seed = 1; seed <= PROGRAMS; seed++)
		run_program(seed);
	assert_int_equal(causes.wrong, 0);
	assert_true(causes.told > causes.all * 3 / 4);
}

static void programs_that_wait_after_each_step(void **state)
{
	(void)state;
	is_hurried = false;
	check_programs();
}

static void programs_that_submit_much_and_wait_seldom(void **state)
{
	(void)state;
	is_hurried = true;
	for (waits_after = 2; waits_after <= 32; waits_after *= 4)
		check_programs();
}

/* One stream, and its queue 5. */
static void stream_ask(uint64_t cause, uint64_t asked)
{
	struct launch launch = {
		.cause = cause, .asked = asked, .stream = 0x1000, .what = 0x40, .thread = 7
	};

	assert_true(launches_add(LAUNCH_KERNEL, &launch));
}

static uint64_t stream_report(uint64_t latest)
{
	struct launch_report report = { LAUNCH_KERNEL, 5, latest, 9, COPY_UNKNOWN };
	struct launch found;

	return launches_match(&report, &found) ? found.cause : 0;
}

/* Its question is left, and would be taken for that of the next one. */
static void after_a_report_without_a_question_nothing_is_sure(void **state)
{
	(void)state;
	assert_int_equal(launches_open(), 0);
	stream_ask(1, 10);
	assert_int_equal(stream_report(20), 1);
	stream_ask(2, 30);
	assert_int_equal(stream_report(29), 0);
	stream_ask(3, 40);
	assert_int_equal(stream_report(50), 0);
	launches_settle(60, launches_misses());
	stream_ask(4, 61);
	assert_int_equal(stream_report(70), 4);
	launches_close();
}

/* All before it were reported. */
static void what_is_left_over_goes_with_the_next_question(void **state)
{
	(void)state;
	assert_int_equal(launches_open(), 0);
	stream_ask(1, 10);
	launches_settle(20, launches_misses());
	stream_ask(2, 21);
	assert_int_equal(stream_report(30), 2);
	launches_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_that_wait_after_each_step),
		cmocka_unit_test(programs_that_submit_much_and_wait_seldom),
		cmocka_unit_test(after_a_report_without_a_question_nothing_is_sure),
		cmocka_unit_test(what_is_left_over_goes_with_the_next_question),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
