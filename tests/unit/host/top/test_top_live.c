/*
 * The live model of `limpet top`: what is added up, that it stays within its bounds, and that a
 * frozen one is a recording.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/core/clock.h"
#include "host/live/freeze.h"
#include "host/live/live.h"
#include "host/model/samples/profile.h"
#include "host/recorder/samples/sampling.h"
#include "host/top/picture.h"
#include "host/unwind/space.h"

#define DEPTH 20u

static struct live *live;
static struct err err;

static int setup(void **state)
{
	(void)state;
	return live_new(&live, getpid(), NULL, &err);
}

static int setup_small(void **state)
{
	static const struct live_limits small = {
		.samples = 100, .stacks = 3000, .frames = 3000, .threads = 50
	};

	(void)state;
	return live_new(&live, getpid(), &small, &err);
}

static int teardown(void **state)
{
	(void)state;
	live_free(live);
	return 0;
}

/* A stack of `depth` frames: base + depth is the innermost, base + 1 the outermost. */
static void take(unsigned tid, uint64_t time_ns, uint64_t base, unsigned depth)
{
	struct space space = { .pid = getpid() };
	struct sample *sample = calloc(1, sizeof(*sample) + depth * sizeof(uint64_t));

	assert_non_null(sample);
	sample->tid = tid;
	sample->pid = (unsigned)getpid();
	sample->time_ns = time_ns;
	sample->weight_ns = 10;
	sample->user_count = (uint16_t)depth;
	for (unsigned i = 0; i < depth; i++)
		sample->frames[i] = base + depth - i;
	assert_int_equal(live_put(live, sample, &space), 0);
	free(sample);
}

static struct picture *picture_of(pid_t tid, uint64_t window_ns, uint64_t until_ns)
{
	struct picture_wish wish = { KINDS_ON_CPU, window_ns, until_ns, tid };
	struct picture *picture;

	assert_int_equal(picture_make(&picture, live, &wish), 0);
	return picture;
}

static void adds_up_what_is_in_the_window(void **state)
{
	struct picture *picture;

	(void)state;
	for (unsigned i = 1; i <= 10; i++)
		take(7, i * 100, i <= 4 ? 0x1000 : 0x2000, 3);
	take(8, 1000, 0x1000, 2);
	picture = picture_of(0, 0, UINT64_MAX);
	assert_int_equal(picture->samples, 11);
	assert_int_equal(picture->thread_count, 2);
	assert_int_equal(picture->functions[0].self_count, 6);
	assert_string_equal(picture->functions[0].name, "[unknown]+0x2003");
	picture_free(picture);
	picture = picture_of(0, 300, 400);
	assert_int_equal(picture->samples, 4);
	picture_free(picture);
	picture = picture_of(8, 0, UINT64_MAX);
	assert_int_equal(picture->samples, 1);
	assert_int_equal(picture->tree.count, 3);
	picture_free(picture);
	picture = picture_of(9, 0, UINT64_MAX);
	assert_int_equal(picture->samples, 0);
	picture_free(picture);
}

struct late {
	uint64_t from_ns;
	size_t count;
};

static int count_late(struct model *model, void *context)
{
	struct late *late = context;

	late->count = 0;
	for (size_t i = 0; i < model->samples->kept_count; i++)
		late->count += model->samples->kept[i].time_ns >= late->from_ns;
	return 0;
}

/* Samples of one processor are read after those of another: they come late. */
static void misses_none_that_came_out_of_order(void **state)
{
	static const unsigned times[] = { 100, 200, 500, 600, 300, 400, 700 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		take(7, times[i], 0x1000, 3);
	for (uint64_t from_ns = 0; from_ns <= 800; from_ns += 50) {
		struct late late = { .from_ns = from_ns };
		size_t expected = 0;

		for (size_t i = 0; i < ARRAY_SIZE(times); i++)
			expected += times[i] >= from_ns;
		assert_int_equal(live_read_around(live, from_ns, count_late, &late), 0);
		assert_int_equal(late.count, expected);
	}
}

/* Nor does the picture, which has only those of its window. */
static void a_window_has_all_that_ended_in_it(void **state)
{
	static const unsigned times[] = { 100, 200, 500, 600, 300, 400, 700 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		take(7, times[i], 0x1000, 3);
	for (uint64_t until_ns = 250; until_ns <= 800; until_ns += 50) {
		struct picture *picture = picture_of(0, 200, until_ns);
		size_t expected = 0;

		for (size_t i = 0; i < ARRAY_SIZE(times); i++)
			expected += times[i] >= until_ns - 200 && times[i] <= until_ns;
		assert_int_equal(picture->samples, expected);
		picture_free(picture);
	}
}

static int count_kept(struct model *model, void *context)
{
	*(size_t *)context = model->samples->kept_count;
	return 0;
}

/* While it is kept, all that came before it is looked at. */
static void a_late_one_is_forgotten(void **state)
{
	size_t count;

	(void)state;
	for (unsigned i = 1; i <= 50; i++)
		take(7, 1000 + i, 0x1000, 3);
	take(7, 1, 0x1000, 3);
	assert_int_equal(live_read_around(live, 1040, count_kept, &count), 0);
	assert_int_equal(count, 51);
	for (unsigned i = 51; i <= 1000; i++)
		take(7, 1000 + i, 0x1000, 3);
	assert_int_equal(live_read_around(live, 1991, count_kept, &count), 0);
	assert_int_equal(count, 10);
}

static int count_stacks(struct model *model, void *context)
{
	*(size_t *)context = model->samples->stack_count;
	return 0;
}

/* The reader of a sampler's ring must not wait for whoever adds up, nor disturb it. */
static int take_more(struct model *model, void *context)
{
	const struct samples *samples = model->samples;
	struct live_counts before = live_counts(live);

	assert_int_equal(samples->kept_count, *(size_t *)context);
	for (unsigned i = 1; i <= 500; i++)
		take(1000 + i, 10000 + i, 0x900000 + i * 0x1000ull, DEPTH);
	assert_true(live_counts(live).forgotten > before.forgotten);
	assert_int_equal(samples->kept_count, *(size_t *)context);
	for (size_t i = 0; i < samples->kept_count; i++) {
		uint32_t frames[STACK_DEPTH_MAX];

		assert_int_equal(samples->kept[i].time_ns, i + 1);
		assert_true(samples->kept[i].thread < model->thread_count);
		assert_int_equal(stack_frames(samples, samples->kept[i].stack, frames), DEPTH);
		assert_int_equal(samples->frames[frames[0]].address, (i + 1) * 0x1000 + DEPTH);
	}
	return 7;
}

static void samples_come_while_others_are_read(void **state)
{
	size_t count = 40;

	(void)state;
	for (unsigned i = 1; i <= count; i++)
		take(i, i, i * 0x1000ull, DEPTH);
	assert_int_equal(live_read(live, 0, UINT64_MAX, take_more, &count), 7);
}

static int count_new_names(struct model *model, void *context)
{
	(void)context;
	return strcmp(model->threads[0]->name, "renamed") == 0;
}

static void a_reader_sees_what_came_since(void **state)
{
	struct picture *picture;

	(void)state;
	for (unsigned i = 1; i <= 30; i++) {
		take(i, i, i * 0x1000ull, 3);
		picture = picture_of((pid_t)i, 0, UINT64_MAX);
		assert_int_equal(picture->samples, 1);
		picture_free(picture);
		picture = picture_of(0, 0, UINT64_MAX);
		assert_int_equal(picture->samples, i);
		picture_free(picture);
	}
	live_rename(live, 1, "renamed");
	assert_int_equal(live_read(live, 0, UINT64_MAX, count_new_names, NULL), 1);
}

/* Each sample has its own stack and thread: nothing can be shared. */
static void forgets_the_oldest(void **state)
{
	struct live_counts counts;
	struct picture *picture;
	char name[64];
	size_t stacks;

	(void)state;
	for (unsigned i = 1; i <= 5000; i++)
		take(i, i, i * 0x1000ull, DEPTH);
	counts = live_counts(live);
	assert_int_equal(counts.seen, 5000);
	picture = picture_of(0, 0, UINT64_MAX);
	assert_int_equal(picture->samples, counts.seen - counts.forgotten);
	assert_in_range(picture->samples, 20, 100);
	assert_in_range(picture->thread_count, 20, 50);
	picture_free(picture);
	assert_int_equal(live_read(live, 0, UINT64_MAX, count_stacks, &stacks), 0);
	assert_int_equal(stacks, (counts.seen - counts.forgotten) * DEPTH);
	/* The newest is there, whole. */
	picture = picture_of(5000, 0, UINT64_MAX);
	assert_int_equal(picture->samples, 1);
	assert_int_equal(picture->tree.count, 1 + DEPTH);
	call_tree_name(&picture->tree, &picture->tree.nodes[DEPTH], name, sizeof(name));
	assert_string_equal(name, "[unknown]+0x1388014");
	picture_free(picture);
}

/* What is kept stays about as long: an eighth leaves at a time, and stacks that nobody has any more
 * soon after. */
static void keeps_nearly_all_that_it_may(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= 2000; i++) {
		struct live_counts counts;
		size_t stacks;

		take(7, i, i * 0x1000ull, 2);
		counts = live_counts(live);
		assert_in_range(counts.seen - counts.forgotten, MIN(i, 87u), 100);
		assert_int_equal(live_read(live, 0, UINT64_MAX, count_stacks, &stacks), 0);
		assert_in_range(stacks, MIN(i, 87u) * 2, 2 * 152);
	}
}

static void a_frozen_one_is_a_recording(void **state)
{
	char path[] = "/tmp/test_top_live.XXXXXX";
	const struct source_facts source = { .sampler = "copy", .reasons = "bpf: no\n" };
	struct profile profile;
	struct model *model;
	uint64_t samples = 0;

	(void)state;
	assert_true(close(mkstemp(path)) == 0);
	for (unsigned i = 1; i <= 10000; i++)
		take(i % 3, i, i % 100, DEPTH);
	live_rename(live, 1, "first");
	assert_int_equal(live_process(live, &(struct sampled_process){ .pid = getpid() }), 0);
	take(1, 10001, 0x5000, 1);
	assert_int_equal(freeze_write(live, &(struct freeze_options){ path, -1, "1", &source, 49 },
				      &samples, &err),
			 0);
	assert_int_equal(samples, 10001);
	assert_int_equal(model_open(path, &model, &err), 0);
	assert_int_equal(model->samples->count, 10001);
	assert_int_equal(model->damaged, 0);
	assert_int_equal(model->thread_count, 4);
	assert_int_equal(model->process_count, 2);
	assert_string_equal(model->processes[1]->name, "test_top_live");
	assert_int_equal(model->samples->hz, 49);
	assert_int_equal(model->samples->unnamed, 0);
	assert_string_equal(model->samples->sampler, "copy");
	assert_string_equal(model->threads[0]->name, "first");
	assert_int_equal(sample_profile_gather(&profile, model, &(struct profile_filter){ 0 }), 0);
	assert_int_equal(profile.count, 101);
	assert_int_equal(profile.sample_count, 10001);
	sample_profile_done(&profile);
	model_free(model);
	unlink(path);
}

/* Of code that a runtime made. */
static void take_made(uint64_t time_ns, uint64_t address)
{
	struct module module = { .kind = MODULE_ANONYMOUS, .path = (char[]){ "" } };
	struct space_range range = { .start = 0x10000, .end = 0x20000, .module = &module };
	struct space space = { .pid = getpid(), .ranges = &range, .count = 1 };
	struct sample *sample = calloc(1, sizeof(*sample) + sizeof(uint64_t));

	assert_non_null(sample);
	sample->tid = sample->pid = (unsigned)getpid();
	sample->time_ns = time_ns;
	sample->weight_ns = 10;
	sample->user_count = 1;
	sample->frames[0] = address;
	assert_int_equal(live_put(live, sample, &space), 0);
	free(sample);
}

static uint64_t samples_in(const struct picture *picture, const char *name)
{
	for (size_t i = 0; i < picture->function_count; i++)
		if (!strcmp(picture->functions[i].name, name))
			return picture->functions[i].self_count;
	return 0;
}

/* What was seen before keeps the name of then. */
static void an_address_that_is_used_again(void **state)
{
	struct picture *picture;
	char path[64];
	FILE *map;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
	map = fopen(path, "we");
	assert_non_null(map);
	assert_true(fputs("10000 100 earlier\n", map) >= 0 && !fflush(map));
	take_made(now_ns(), 0x10010);
	picture_free(picture_of(0, 0, UINT64_MAX));
	assert_true(fputs("10000 100 later\n", map) >= 0 && !fclose(map));
	picture_free(picture_of(0, 0, UINT64_MAX));
	take_made(now_ns(), 0x10010);
	take_made(now_ns(), 0x10010);
	picture = picture_of(0, 0, UINT64_MAX);
	assert_int_equal(samples_in(picture, "earlier"), 1);
	assert_int_equal(samples_in(picture, "later"), 2);
	picture_free(picture);
	unlink(path);
}

/* What only grows leaves at once; who reads what came since is told what was missed. */
static void begins_anew(void **state)
{
	const uint64_t code = 0x1000;
	struct live_sizes sizes;
	uint64_t seen = 0, missed = 0;
	size_t kept = 0;

	(void)state;
	for (unsigned i = 1; i <= 500; i++)
		assert_int_equal(live_process(live, &(struct sampled_process){ .pid = -(pid_t)i,
									       .name = "short" }),
				 0);
	take(7, 100, code, 3);
	take(7, 200, code, 3);
	assert_int_equal(live_read_new(live, &seen, &missed, count_kept, &kept), 0);
	assert_int_equal(kept, 2);
	take(7, 300, code, 3);
	live_sizes(live, &sizes);
	assert_in_range(sizes.processes, 500, SIZE_MAX);
	assert_in_range(sizes.codes, 1, SIZE_MAX);
	assert_in_range(sizes.texts, 1, SIZE_MAX);
	assert_int_equal(live_restart(live), 0);
	live_sizes(live, &sizes);
	assert_int_equal(sizes.processes + sizes.codes + sizes.texts, 0);
	take(7, 400, code, 3);
	assert_int_equal(live_read_new(live, &seen, &missed, count_kept, &kept), 0);
	assert_int_equal(kept, 1);
	assert_int_equal(missed, 1);
	assert_int_equal(seen, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(adds_up_what_is_in_the_window, setup, teardown),
		cmocka_unit_test_setup_teardown(misses_none_that_came_out_of_order, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_window_has_all_that_ended_in_it, setup, teardown),
		cmocka_unit_test_setup_teardown(a_late_one_is_forgotten, setup_small, teardown),
		cmocka_unit_test_setup_teardown(samples_come_while_others_are_read, setup_small,
						teardown),
		cmocka_unit_test_setup_teardown(a_reader_sees_what_came_since, setup, teardown),
		cmocka_unit_test_setup_teardown(forgets_the_oldest, setup_small, teardown),
		cmocka_unit_test_setup_teardown(keeps_nearly_all_that_it_may, setup_small,
						teardown),
		cmocka_unit_test_setup_teardown(a_frozen_one_is_a_recording, setup, teardown),
		cmocka_unit_test_setup_teardown(an_address_that_is_used_again, setup, teardown),
		cmocka_unit_test_setup_teardown(begins_anew, setup, teardown),
	};

	return cmocka_run_group_tests_name("top_live", tests, NULL, NULL);
}
