/*
 * The collector: everything that is in the rings comes into the recording, once; rings of threads
 * that have ended are given back; what a hostile target says does no harm.
 */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/collect/collect.h"
#include "host/model/model.h"

#define RING_SIZE 16384u
#define SLOTS     4u

static struct rings *rings;
static size_t rings_size;
static struct recording *recording;
static struct collector *collector;
static struct err err;
static char path[64];
static int32_t dead_tid;

static bool is_alive(void *context, int32_t tid)
{
	(void)context;
	return tid != dead_tid;
}

static bool thread_name(void *context, int32_t tid, char name[16])
{
	(void)context;
	snprintf(name, 16, "renamed %d", tid);
	return tid != dead_tid;
}

static void describe(const char *name)
{
	struct trace_function *function = rings_functions(rings) + rings->function_count;

	*function = (struct trace_function){ .domain = DOMAIN_FUNCTION };
	snprintf(function->name, sizeof(function->name), "%s", name);
	rings->function_count++;
}

static int setup(void **state)
{
	struct recorded_process process = { .pid = 1, .name = "", .executable = "", .command = "" };
	struct rings head;
	int fd;

	(void)state;
	dead_tid = 0;
	rings_size = rings_layout(SLOTS, RING_SIZE, 16, &head);
	rings = aligned_alloc(4096, rings_size);
	if (!rings)
		return -1;
	memset(rings, 0, rings_size);
	*rings = head;
	describe("first");
	snprintf(path, sizeof(path), "/tmp/test_collect.XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || close(fd) || recording_create(path, &recording, &err) ||
	    recording_clock(recording, &err) || recording_process(recording, &process, &err))
		return -1;
	return collector_new(
		recording,
		&(struct collect_source){ rings, rings_size, 0, is_alive, thread_name, NULL },
		&collector, &err);
}

static int teardown(void **state)
{
	(void)state;
	free(rings);
	return unlink(path);
}

static struct ring_writer claim(int32_t tid)
{
	static const char name[16] = "worker";
	struct ring_writer writer;

	assert_true(ring_claim(rings, tid, name, &writer));
	return writer;
}

static bool put(struct ring_writer *writer, uint32_t function, uint64_t time)
{
	struct record_call *call = ring_reserve(writer, sizeof(*call));

	if (!call)
		return false;
	*call = (struct record_call){ { sizeof(*call), RECORD_CALL, 0 }, function, time, time + 5 };
	ring_commit(writer, sizeof(*call));
	return true;
}

static void put_text(struct ring_writer *writer, const char text[8])
{
	struct record_text *record = ring_reserve(writer, 16);

	assert_non_null(record);
	*record = (struct record_text){ { 16, RECORD_TEXT, 0 }, 8 };
	memcpy(record + 1, text, 8);
	ring_commit(writer, 16);
}

/* Ends the recording and reads it. */
static struct model *read_back(void)
{
	static const struct recorded_end end = { .reason = RECORDING_COMPLETE };
	struct model *model;

	assert_int_equal(collector_finish(collector, &err), 0);
	collector_free(collector);
	assert_int_equal(recording_close(recording, &end, &err), 0);
	assert_int_equal(model_open(path, &model, &err), 0);
	assert_int_equal(model->damaged, 0);
	return model;
}

static void what_is_in_the_rings_comes_into_the_recording(void **state)
{
	struct ring_writer a = claim(1), b = claim(2);
	struct collect_totals totals;
	struct model *model;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		assert_true(put(&a, 0, i * 10));
		if (i % 3 == 0)
			assert_true(put(&b, 0, i * 10 + 5));
	}
	assert_int_equal(collector_drain(collector, &err), 400);
	assert_int_equal(collector_drain(collector, &err), 0);
	collector_totals(collector, &totals);
	assert_int_equal(totals.records, 400);
	assert_int_equal(totals.record_bytes, 400 * sizeof(struct record_call));
	assert_int_equal(totals.threads, 2);
	model = read_back();
	assert_int_equal(model->calls, 400);
	assert_int_equal(model->thread_count, 2);
	assert_string_equal(model->threads[0]->name,
			    model->threads[0]->tid == 1 ? "renamed 1" : "renamed 2");
	model_free(model);
}

static void functions_that_come_later_are_learnt(void **state)
{
	struct ring_writer writer = claim(1);
	struct collect_totals totals;
	struct model *model;

	(void)state;
	assert_true(put(&writer, 0, 10));
	assert_int_equal(collector_drain(collector, &err), 1);
	describe("second");
	describe("third");
	assert_true(put(&writer, 2, 20));
	assert_true(put(&writer, 7, 30)); /* nobody described it */
	put_text(&writer, "orphaned");
	assert_int_equal(collector_drain(collector, &err), 1);
	collector_totals(collector, &totals);
	assert_int_equal(totals.invalid, 2);
	assert_int_equal(totals.functions, 3);
	model = read_back();
	assert_int_equal(model->processes[0]->function_count, 3);
	assert_string_equal(model->processes[0]->functions[2].name, "third");
	model_free(model);
}

static void rings_of_ended_threads_are_given_back(void **state)
{
	struct ring_writer writer = claim(1);
	struct collect_totals totals;
	struct model *model;

	(void)state;
	for (unsigned thread = 0; thread < 3 * SLOTS; thread++) {
		dead_tid = (int32_t)(100 + thread);
		writer = claim(dead_tid);
		assert_true(put(&writer, 0, thread * 10));
		/* Asked for only when some time has passed. */
		for (unsigned i = 0; i < PATIENCE_MS && writer.ring->state == RING_USED; i++) {
			assert_true(collector_drain(collector, &err) >= 0);
			usleep(1000);
		}
		assert_int_equal(writer.ring->state, RING_FREE);
	}
	collector_totals(collector, &totals);
	assert_int_equal(totals.threads, 3 * SLOTS + 1);
	model = read_back();
	assert_int_equal(model->calls, 3 * SLOTS);
	assert_int_equal(model->threads[3]->calls, 1);
	model_free(model);
}

static void drops_are_told_by_thread_and_reason(void **state)
{
	struct ring_writer a = claim(1), b = claim(2);
	uint64_t dropped = 0;
	struct model *model;

	(void)state;
	for (unsigned i = 0; i < 2000; i++)
		dropped += !put(&a, 0, i);
	b.ring->drops[DROP_NESTED] += 3;
	rings->drops_without_ring = 7;
	assert_true(dropped > 0);
	assert_true(collector_drain(collector, &err) > 0);
	model = read_back();
	assert_int_equal(model->drops[DROP_FULL], dropped);
	assert_int_equal(model->drops[DROP_NESTED], 3);
	assert_int_equal(model->drops[DROP_NO_RING], 7);
	assert_int_equal(
		model->threads[0]->drops[DROP_NESTED] + model->threads[1]->drops[DROP_NESTED], 3);
	model_free(model);
}

static void a_hostile_target_does_no_harm(void **state)
{
	struct ring_writer writer = claim(1);
	struct collect_totals totals;
	struct model *model;

	(void)state;
	memset(rings_functions(rings), 0xff, 16 * sizeof(struct trace_function));
	rings->function_count = UINT32_MAX;
	rings->slot_count = UINT32_MAX;
	rings->ring_size = UINT64_MAX;
	rings->data_at = rings->functions_at = UINT64_MAX;
	writer.ring->head = 12345678;
	writer.ring->tail = 77;
	assert_true(collector_drain(collector, &err) >= 0);
	memset(writer.data, 0xff, RING_SIZE);
	writer.ring->head = writer.ring->tail + RING_SIZE;
	writer.ring->generation = UINT64_MAX;
	assert_true(collector_drain(collector, &err) >= 0);
	collector_totals(collector, &totals);
	assert_true(totals.invalid >= 2);
	assert_int_equal(totals.functions, 16);
	model = read_back();
	assert_int_equal(strlen(model->processes[0]->functions[3].name), TRACE_NAME_MAX - 1);
	model_free(model);
}

static void rings_that_are_not_sound_are_refused(void **state)
{
	struct collect_source source = { rings, rings_size - 1, 0, is_alive, NULL, NULL };
	struct collector *other;
	struct model *model;

	(void)state;
	assert_int_equal(collector_new(recording, &source, &other, &err), -EPROTO);
	source.size = 8;
	assert_int_equal(collector_new(recording, &source, &other, &err), -EPROTO);
	model = read_back();
	model_free(model);
}

static void the_thread_drains_until_it_is_stopped(void **state)
{
	struct ring_writer writer = claim(1);
	struct collect_totals totals = { 0 };
	struct model *model;

	(void)state;
	assert_int_equal(collector_start(collector, &err), 0);
	for (unsigned i = 0; i < 20000;)
		if (put(&writer, 0, i))
			i++;
		else
			usleep(200);
	for (unsigned i = 0; i < PATIENCE_MS && totals.records < 20000; i++) {
		usleep(1000);
		collector_totals(collector, &totals);
	}
	assert_int_equal(totals.records, 20000);
	collector_stop(collector);
	assert_int_equal(collector_check(collector, &err), 0);
	model = read_back();
	assert_int_equal(model->calls, 20000);
	model_free(model);
}

static void a_recording_that_fails_ends_the_thread(void **state)
{
	struct ring_writer writer = claim(1);
	struct recording *full;
	struct collector *other;
	struct model *model;
	struct recorded_process of_pipe = { .pid = 1, .name = "", .executable = "", .command = "" };
	int ends[2];
	char name[32];

	(void)state;
	/* A pipe that nobody reads any more. */
	assert_int_equal(pipe(ends), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	assert_int_equal(recording_create(name, &full, &err), 0);
	assert_int_equal(recording_process(full, &of_pipe, &err), 0);
	close(ends[0]);
	close(ends[1]);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(collector_new(full,
				       &(struct collect_source){ rings, rings_size, 0, is_alive,
								 NULL, NULL },
				       &other, &err),
			 0);
	assert_true(put(&writer, 0, 1));
	assert_int_equal(collector_start(other, &err), 0);
	for (unsigned i = 0; i < PATIENCE_MS && !collector_check(other, &err); i++)
		usleep(1000);
	assert_int_equal(collector_check(other, &err), -EPIPE);
	collector_free(other);
	recording_abandon(full);
	model = read_back();
	model_free(model);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_in_the_rings_comes_into_the_recording),
		TEST(functions_that_come_later_are_learnt),
		TEST(rings_of_ended_threads_are_given_back),
		TEST(drops_are_told_by_thread_and_reason),
		TEST(a_hostile_target_does_no_harm),
		TEST(rings_that_are_not_sound_are_refused),
		TEST(the_thread_drains_until_it_is_stopped),
		TEST(a_recording_that_fails_ends_the_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
