/*
 * Where the scheduler is by what the kernel tells, and what is cut from stacks by that.
 */
#include "unit.h"

#include "host/sampling/bpf/sched_switch.h"
#include "shared/wire/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool find_in(const char *text, struct scheduler *ret)
{
	char path[] = "/tmp/limpet-scheduler-XXXXXX";
	int fd = mkstemp(path);
	bool is_found;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	is_found = scheduler_find(ret, path);
	unlink(path);
	return is_found;
}

static void ends_where_the_next_function_begins(void **state)
{
	struct scheduler found;

	(void)state;
	assert_true(find_in("ffff000000000f00 t __schedule_bug\n"
			    "ffff000000001000 t __schedule\n"
			    "ffff000000001000 t __pi___schedule\n"
			    "ffff000000001400 d not_code\n"
			    "ffff000000001800 T schedule\n"
			    "ffff00000000f000 t __schedule\t[module]\n",
			    &found));
	assert_int_equal(found.start, 0xffff000000001000ull);
	assert_int_equal(found.end, 0xffff000000001800ull);
}

static void knows_it_by_what_compilers_call_it(void **state)
{
	struct scheduler found;

	(void)state;
	assert_true(find_in("0000000000001000 t __schedule.cold\n"
			    "0000000000002000 t __schedule.constprop.0\n"
			    "0000000000003000 t preempt_schedule\n",
			    &found));
	assert_int_equal(found.start, 0x2000);
	assert_int_equal(found.end, 0x3000);
}

static void is_not_known_where_the_kernel_hides_addresses(void **state)
{
	struct scheduler found;

	(void)state;
	assert_false(
		find_in("0000000000000000 t __schedule\n0000000000000000 T schedule\n", &found));
	assert_false(find_in("0000000000001000 t __schedule\n", &found));
	assert_false(find_in("", &found));
	assert_false(scheduler_find(&found, "/nonexistent"));
}

static struct sample *sample_of(unsigned kernel, unsigned user, const uint64_t *frames)
{
	size_t size = (kernel + user) * sizeof(*frames);
	struct sample *sample = calloc(1, sizeof(*sample) + size);

	assert_non_null(sample);
	sample->kernel_count = (uint16_t)kernel;
	sample->user_count = (uint16_t)user;
	memcpy(sample->frames, frames, size);
	return sample;
}

static void cuts_what_lies_further_in(void **state)
{
	const struct scheduler scheduler = { 0x1000, 0x1800 };
	const uint64_t frames[] = { 0x9000, 0x8000, 0x1800, 0x2000, 0x1100 };
	struct sample *sample = sample_of(4, 1, frames);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		scheduler_cut(&scheduler, sample);
		assert_int_equal(sample->kernel_count, 2);
		assert_int_equal(sample->user_count, 1);
		assert_memory_equal(sample->frames, frames + 2, 3 * sizeof(*frames));
	}
	free(sample);
}

static void leaves_others_as_they_are(void **state)
{
	const struct scheduler scheduler = { 0x1000, 0x1800 }, unknown = { 0 };
	const uint64_t frames[] = { 0x9000, 0x1000, 0x1801, 0x1100 };
	struct sample *sample = sample_of(3, 1, frames);

	(void)state;
	scheduler_cut(&scheduler, sample);
	scheduler_cut(&unknown, sample);
	assert_int_equal(sample->kernel_count, 3);
	assert_memory_equal(sample->frames, frames, sizeof(frames));
	free(sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_where_the_next_function_begins),
		cmocka_unit_test(knows_it_by_what_compilers_call_it),
		cmocka_unit_test(is_not_known_where_the_kernel_hides_addresses),
		cmocka_unit_test(cuts_what_lies_further_in),
		cmocka_unit_test(leaves_others_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
