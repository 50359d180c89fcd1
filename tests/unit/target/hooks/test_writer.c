/*
 * Who may write into a thread's ring, and when its memory may go.
 */
#include "unit.h"

#include "target/hooks/writer.h"

#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RING_SIZE     8192
#define PAGE_WORDS    512
#define TRIES         50
#define LOOKING_STEPS 60 /* instructions of a call before it claims a ring */
#define CLAIM_STEPS   20 /* and some that it is in the claim */

static struct rings *rings;
static struct rings *held[TRIES]; /* somebody may be in them */
static unsigned held_count;
static uint64_t pages[3 * PAGE_WORDS] __attribute__((aligned(4096)));

static struct rings *make_rings(uint32_t slot_count)
{
	struct rings layout;
	size_t size = rings_layout(slot_count, RING_SIZE, 16, &layout);
	struct rings *made = aligned_alloc(65536, size);

	assert_non_null(made);
	memset(made, 0, size);
	*made = layout;
	return made;
}

static void begin_session(uint32_t slot_count)
{
	rings = make_rings(slot_count);
	assert_int_equal(writers_open(rings, NULL), 0);
}

static uint64_t nested_drops(void)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < rings->slot_count; i++)
		count += ring_drops(rings_slot(rings, i), DROP_NESTED);
	return count;
}

/* A handler may run on a stack that lies higher or lower. */
static void who_is_interrupted_keeps_his_ring(void **state)
{
	writer_seal *outer = &pages[PAGE_WORDS], *higher = &pages[2 * PAGE_WORDS],
		    *lower = &pages[0], *near = &pages[PAGE_WORDS + 8];
	struct writer *writer;

	(void)state;
	begin_session(2);
	writer = writer_begin(outer);
	assert_non_null(writer);
	assert_null(writer_begin(higher));
	assert_null(writer_begin(lower));
	assert_null(writer_begin(near));
	assert_int_equal(nested_drops(), 3);
	writer_end(writer, outer);
	assert_ptr_equal(writer_begin(higher), writer);
	writer_end(writer, higher);
	assert_true(writers_close());
	free(rings);
}

static void who_has_left_his_call_is_followed(void **state)
{
	writer_seal *left = &pages[PAGE_WORDS], *near = &pages[PAGE_WORDS + 8];
	struct writer *writer;

	(void)state;
	begin_session(2);
	writer = writer_begin(left);
	assert_non_null(writer);
	assert_ptr_equal(writer_begin(left), writer);
	*left = 42;
	assert_ptr_equal(writer_begin(near), writer);
	writer_end(writer, near);
	assert_true(writers_close());
	free(rings);
}

/* The thread has come to a processor whose counter is behind. */
static void an_end_before_the_beginning_is_moved_and_counted(void **state)
{
	struct record_call calls[] = { { .begin = 100, .end = 99 }, { .begin = 100, .end = 100 } };
	unsigned char read[RECORD_MAX_BYTES] __attribute__((aligned(8)));
	const struct record_call *record = (const void *)read;
	struct writer *writer;
	writer_seal seal;

	(void)state;
	begin_session(1);
	writer = writer_begin(&seal);
	assert_non_null(writer);
	for (unsigned i = 0; i < 2; i++)
		assert_true(writer_call(writer, &calls[i], NULL));
	writer_end(writer, &seal);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(ring_read(rings_slot(rings, 0), rings_data(rings, 0), RING_SIZE, read,
				      sizeof(read)) > 0);
		assert_int_equal(record->begin, 100);
		assert_int_equal(record->end, 100);
	}
	assert_int_equal(ring_turned(rings_slot(rings, 0)), 1);
	assert_true(writers_close());
	free(rings);
}

/* A later session's rings may be unmapped while this one's writer is busy. */
static void a_writer_knows_the_rings_of_its_own_session(void **state)
{
	struct writer *writer;
	writer_seal seal;

	(void)state;
	rings = make_rings(1);
	assert_int_equal(writers_open(rings, NULL), 0);
	writer = writer_begin(&seal);
	assert_non_null(writer);
	assert_ptr_equal(writer->rings, rings);
	writer_end(writer, &seal);
	assert_true(writers_close());
	free(rings);
}

/* Calls count more than their callers, until the host has read. */
static void callers_are_left_out_when_half_of_the_ring_is_full(void **state)
{
	struct record_call call = { .head = { .count = 0 } };
	struct writer *writer;
	writer_seal seal;
	struct ring *ring;

	(void)state;
	begin_session(1);
	ring = rings_slot(rings, 0);
	writer = writer_begin(&seal);
	assert_non_null(writer);
	while (ring->head <= RING_SIZE / 2) {
		uint64_t before = ring->records;

		assert_true(writer_call_from(writer, &call, NULL, 1));
		assert_int_equal(ring->records - before, 2);
	}
	for (unsigned i = 0; i < 4; i++) {
		uint64_t before = ring->records;

		assert_true(writer_call_from(writer, &call, NULL, 1));
		assert_int_equal(ring->records - before, 1);
	}
	writer_end(writer, &seal);
	assert_true(writers_close());
	free(rings);
}

/* What cannot be timed is counted: at the ring of a thread that has one, and without it. */
static void what_cannot_be_timed_is_counted(void **state)
{
	struct writer *writer;
	writer_seal seal;

	(void)state;
	begin_session(1);
	writer_count_lost();
	assert_int_equal(rings_drops_without_ring(rings), 1);
	writer = writer_begin(&seal);
	assert_non_null(writer);
	writer_count_lost(); /* in a signal handler */
	assert_int_equal(rings_drops_without_ring(rings), 2);
	writer_end(writer, &seal);
	writer_count_lost();
	assert_int_equal(ring_drops(rings_slot(rings, 0), DROP_NO_COUNTER), 1);
	writer_note(3);
	assert_int_equal(rings->notes[3].is_said, 1);
	assert_int_equal(rings->notes[2].is_said, 0);
	assert_true(writers_close());
	writer_count_lost();
	writer_note(2);
	assert_int_equal(rings->notes[2].is_said, 0);
	assert_int_equal(rings_drops_without_ring(rings), 2);
	free(rings);
}

static void who_never_comes_back_costs_a_ring(void **state)
{
	writer_seal *left = &pages[0], *other = &pages[2 * PAGE_WORDS];
	struct writer *first, *second = NULL;

	(void)state;
	begin_session(2);
	first = writer_begin(left);
	for (unsigned i = 0; !second && i < 10000; i++)
		second = writer_begin(other);
	assert_non_null(second);
	assert_ptr_not_equal(first, second);
	writer_end(second, other);
	writer_end(first, left);
	assert_true(writers_close());
	free(rings);
}

static _Atomic unsigned is_held_up, is_over;

static void hold_up(int number)
{
	(void)number;
	is_held_up = 1;
	while (is_held_up)
		;
}

/* There is no ring for it: it looks for one, or counts that there is none, most of the time. */
static void *call_without_ring(void *unused)
{
	writer_seal seal;

	while (!is_over) {
		struct writer *writer = writer_begin(&seal);

		if (writer)
			writer_end(writer, &seal);
	}
	return unused;
}

/* Ends the session while the thread is held up; true when it was in the midst of looking. */
static bool end_session_around(pthread_t thread)
{
	struct rings *before = rings;
	bool is_quiet;

	pthread_kill(thread, SIGUSR1);
	while (!is_held_up)
		;
	is_quiet = writers_close();
	is_held_up = 0;
	usleep(1000); /* it goes on while there is no session */
	begin_session(1);
	if (is_quiet)
		free(before);
	else
		held[held_count++] = before;
	return !is_quiet;
}

static void who_looks_for_a_ring_outlives_the_session(void **state)
{
	struct sigaction action = { .sa_handler = hold_up };
	pthread_t thread;
	unsigned met = 0;
	writer_seal seal;

	(void)state;
	begin_session(1);
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, call_without_ring, NULL);
	for (unsigned i = 0; i < TRIES && met < 3; i++) {
		struct writer *writer = writer_begin(&seal); /* the only ring there is, or none */

		if (writer)
			writer_end(writer, &seal);
		usleep(1000);
		met += end_session_around(thread);
	}
	is_over = 1;
	pthread_join(thread, NULL);
	assert_true(met > 0);
	assert_true(writers_close());
	free(rings);
}

static volatile long step, first_step;
static volatile bool is_stepping, must_leave, has_left;
static sigjmp_buf way_out;

static void write_one(void)
{
	struct record_call call = { .begin = 1, .end = 2 };
	writer_seal seal;
	struct writer *writer = writer_begin(&seal);

	if (!writer)
		return;
	(void)writer_call(writer, &call, NULL);
	writer_end(writer, &seal);
}

static void write_at_step(int number)
{
	(void)number;
	if (!is_stepping || step++ < first_step)
		return;
	write_one();
	if (!must_leave || rings->drops_without_ring < CLAIM_STEPS)
		return;
	/* In the midst of a claim: nothing else costs so many. */
	has_left = true;
	is_stepping = false;
	siglongjmp(way_out, 1);
}

/* The processor raises a signal after each instruction. */
static void step_by_step(bool is_on)
{
#ifdef __x86_64__
	is_stepping = is_on;
	if (is_on)
		__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
	else
		__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
#else
	(void)is_on;
	skip();
#endif
}

/* The writer itself is never sanitized: there it is the same again, and slow. */
#ifdef __SANITIZE_ADDRESS__
#define STRIDE 7
#else
#define STRIDE 1
#endif

/* One signal after the other, from each instruction on of a thread that looks for its ring. */
static void who_is_interrupted_often_finds_a_ring(void **state)
{
	struct sigaction action = { .sa_handler = write_at_step };

	(void)state;
	sigaction(SIGTRAP, &action, NULL);
	step = 1;
	for (first_step = 0; first_step < step; first_step += STRIDE) {
		begin_session(4);
		step = 0;
		step_by_step(true);
		write_one();
		step_by_step(false);
		assert_non_null(writer_mine());
		assert_true(writers_close());
		free(rings);
	}
}

/* Always from the same depth of the stack. */
static void write_from_step(long first, bool leaves)
{
	first_step = first;
	must_leave = leaves;
	step = 0;
	if (!sigsetjmp(way_out, 1)) {
		step_by_step(true);
		write_one();
		step_by_step(false);
	}
}

/* A signal handler leaves a claim for good, and where it was on the stack is overwritten. */
__attribute__((noinline)) static void claim_leave(long first)
{
	volatile char deeper[1024] = { 0 };

	write_from_step(first, /* leaves */ true);
	deeper[0] = deeper[1];
}

__attribute__((noinline)) static void stack_overwrite(void)
{
	volatile char below[8192];

	for (unsigned i = 0; i < sizeof(below); i++)
		below[i] = 42;
}

/* The step from which on a handler leaves a claim; -1: none. */
static long claim_find(void)
{
	long at = -1;

	step = 1;
	for (long first = 0; !has_left && first < step; first += 8) {
		begin_session(4);
		claim_leave(first);
		at = first;
		stack_overwrite();
		write_from_step(LONG_MAX, /* leaves */ false);
		assert_true(writers_close());
		free(rings);
	}
	return has_left ? at : -1;
}

/* ...and another handler comes while that is being found out. */
static void who_has_left_his_claim_is_followed_once(void **state)
{
	struct sigaction action = { .sa_handler = write_at_step };
	long left_at;

	(void)state;
	sigaction(SIGTRAP, &action, NULL);
	left_at = claim_find();
	assert_true(left_at >= 0);
	for (long first = 0; first < LOOKING_STEPS; first++) {
		begin_session(4);
		claim_leave(left_at);
		stack_overwrite();
		write_from_step(first, /* leaves */ false);
		assert_true(writers_close());
		free(rings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_interrupted_keeps_his_ring),
		cmocka_unit_test(who_has_left_his_call_is_followed),
		cmocka_unit_test(an_end_before_the_beginning_is_moved_and_counted),
		cmocka_unit_test(a_writer_knows_the_rings_of_its_own_session),
		cmocka_unit_test(callers_are_left_out_when_half_of_the_ring_is_full),
		cmocka_unit_test(what_cannot_be_timed_is_counted),
		cmocka_unit_test(who_never_comes_back_costs_a_ring),
		cmocka_unit_test(who_looks_for_a_ring_outlives_the_session),
		cmocka_unit_test(who_is_interrupted_often_finds_a_ring),
		cmocka_unit_test(who_has_left_his_claim_is_followed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
