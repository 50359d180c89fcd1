/*
 * Python frames: tables of lines, code objects, and where frames belong among native ones.
 */
#include "unit.h"

#include "host/interpreter/locations.h"
#include "host/interpreter/python/python.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void finds_lines_by_steps(void **state)
{
	const unsigned char table[] = { 2, 1, 6, 2, 0, 3, 8, 0xff };

	(void)state;
	assert_int_equal(python_line(PYTHON_LINES_STEPS, table, sizeof(table), 10, -1), 10);
	assert_int_equal(python_line(PYTHON_LINES_STEPS, table, sizeof(table), 10, 0), 10);
	assert_int_equal(python_line(PYTHON_LINES_STEPS, table, sizeof(table), 10, 2), 11);
	assert_int_equal(python_line(PYTHON_LINES_STEPS, table, sizeof(table), 10, 8), 16);
	assert_int_equal(python_line(PYTHON_LINES_STEPS, table, sizeof(table), 10, 400), 15);
}

static void finds_lines_by_ranges(void **state)
{
	const unsigned char table[] = { 4, 1, 2, 0x80, 6, 0xff };

	(void)state;
	assert_int_equal(python_line(PYTHON_LINES_RANGES, table, sizeof(table), 10, 0), 11);
	assert_int_equal(python_line(PYTHON_LINES_RANGES, table, sizeof(table), 10, 4), 0);
	assert_int_equal(python_line(PYTHON_LINES_RANGES, table, sizeof(table), 10, 6), 10);
	assert_int_equal(python_line(PYTHON_LINES_RANGES, table, sizeof(table), 10, 12), 0);
}

static void finds_lines_by_locations(void **state)
{
	/* Two instructions one line further; one at 65 lines before; one without a line. */
	const unsigned char table[] = {
		0x80 | 11 << 3 | 1, 0, 4, 0x80 | 14 << 3 | 0, 0x43, 2, 0, 1, 2, 0x80 | 15 << 3 | 0
	};

	(void)state;
	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, table, sizeof(table), 100, 0), 101);
	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, table, sizeof(table), 100, 2), 101);
	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, table, sizeof(table), 100, 4), 36);
	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, table, sizeof(table), 100, 6), 0);
	assert_int_equal(python_line(PYTHON_LINES_LOCATIONS, table, sizeof(table), 100, 99), 0);
}

static void knows_versions(void **state)
{
	unsigned char nothing[PYTHON_OFFSETS_BYTES] = { 0 };
	struct python_layout layout;
	struct err err = { 0 };

	(void)state;
	for (unsigned minor = 9; minor < 13; minor++) {
		assert_int_equal(python_layout_find(minor, nothing, sizeof(nothing), &layout, &err),
				 0);
		assert_int_equal(layout.native_thread_id != 0, minor > 10);
		assert_int_not_equal(layout.walk.thread_id, 0);
	}
	assert_int_equal(python_layout_find(8, nothing, sizeof(nothing), &layout, &err),
			 -EOPNOTSUPP);
	assert_int_equal(python_layout_find(14, nothing, sizeof(nothing), &layout, &err),
			 -EOPNOTSUPP);
	assert_string_equal(err.what, "this version is not supported");
	assert_int_equal(python_layout_find(13, nothing, sizeof(nothing), &layout, &err),
			 -EOPNOTSUPP);
}

/* Memory in which all descriptions of glibc are this one. */
struct told {
	struct thread_word word;
	uint32_t block_size;
};

static int told_read(void *context, uint64_t address, void *into, size_t size)
{
	const struct told *told = context;

	(void)address;
	memcpy(into, size == sizeof(told->word) ? (const void *)&told->word : &told->block_size,
	       size);
	return 0;
}

static int nothing_read(void *context, uint64_t address, void *into, size_t size)
{
	(void)context, (void)address, (void)into, (void)size;
	return -EFAULT;
}

static int own_read(void *context, uint64_t address, void *into, size_t size)
{
	(void)context;
	memcpy(into, (const void *)(uintptr_t)address, size);
	return 0;
}

/* In this process, whose C library is glibc. */
static void finds_where_a_threads_number_is(void **state)
{
	const struct target_memory own = { own_read, NULL }, none = { nothing_read, NULL };
	struct space *space, *empty;
	struct err err = { 0 };
	unsigned offset = 0;
	int32_t number;

	(void)state;
	assert_int_equal(space_open(&space, getpid(), &err), 0);
	assert_int_equal(space_fork(&empty, NULL, getpid()), 0);
	assert_int_equal(thread_number_find(space, &own, &offset), 0);
	memcpy(&number, (const char *)(uintptr_t)pthread_self() + offset, sizeof(number));
	assert_int_equal(number, gettid());
	assert_int_equal(thread_number_find(space, &none, &offset), -EOPNOTSUPP);
	assert_int_equal(thread_number_find(empty, &own, &offset), -ENOENT);
	space_close(empty);
	space_close(space);
}

static void believes_no_odd_description(void **state)
{
	const struct told odd[] = {
		{ { 64, 1, 208 }, 2304 },        { { 32, 2, 208 }, 2304 },
		{ { 32, 1, 0 }, 2304 },          { { 32, 1, 210 }, 2304 },
		{ { 32, 1, 2304 }, 2304 },       { { 32, 1, 0xfffffffc }, 2304 },
		{ { 32, 1, 0xfffffffc }, ~0u },  { { 32, 1, 8192 }, 16384 },
		{ { 32, 1, 208 }, 0 },
	}, right = { { 32, 1, 208 }, 2304 };
	struct space *space;
	struct err err = { 0 };
	unsigned offset;

	(void)state;
	assert_int_equal(space_open(&space, getpid(), &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		struct target_memory memory = { told_read, (void *)(uintptr_t)&odd[i] };

		assert_int_equal(thread_number_find(space, &memory, &offset), -EOPNOTSUPP);
	}
	assert_int_equal(thread_number_check(&right.word, right.block_size), 208);
	space_close(space);
}

static void keeps_each_location_once(void **state)
{
	uint64_t one = language_location_make("python", "work", "a.py", 3),
		 other = language_location_make("python", "work", "a.py", 4);
	struct language_location location;

	(void)state;
	assert_true(is_language_location(one) && one != other);
	assert_int_equal(language_location_make("python", "work", "a.py", 3), one);
	assert_true(language_location_find(other, &location));
	assert_string_equal(location.function, "work");
	assert_int_equal(location.line, 4);
	assert_false(language_location_find(LANGUAGE_LOCATIONS | 0xffffff, &location));
}

/* The loop is at 1000 to 1099.  Code objects cannot be read: all Python frames are the same
 * location.
 */
#define LOOP 1050
#define GONE 1

static size_t merge(enum python_entry entry, enum stack_end end, const uint64_t *native,
		    size_t native_count, const uint8_t *marks, size_t count, uint64_t *ret)
{
	struct python *python = calloc(1, sizeof(*python));
	struct interpreter *interpreter = &python->base;
	struct interpreted_frame frames[16] = { 0 };
	unsigned char room[sizeof(struct sample) + 32 * sizeof(__u64)] = { 0 };
	struct sample *sample = (struct sample *)room;
	__u64 merged[48];
	size_t total;

	assert_non_null(python);
	python->layout.entry = entry;
	interpreter->kind = &interpreter_python;
	interpreter->memory = (struct target_memory){ nothing_read, NULL };
	interpreter->loop[0] = (struct code_range){ 1000, 1100 };
	for (size_t i = 0; i < count; i++)
		frames[i] = (struct interpreted_frame){ 8, (uint64_t)marks[i]
								   << INTERPRETED_MARK_SHIFT };
	sample->end = (__u8)end;
	sample->user_count = (__u16)native_count;
	memcpy(sample->frames, native, native_count * sizeof(*native));
	total = interpreter_merge(interpreter, sample, frames, count, merged);
	interpreter_close(interpreter);
	for (size_t i = 0; i < total; i++)
		ret[i] = is_language_location(merged[i]) ? GONE : merged[i];
	return total;
}

#define CHECK_MERGE(entry, end, ...)                                                \
	do {                                                                        \
		const uint64_t expected[] = { __VA_ARGS__ };                        \
		uint64_t found[48];                                                 \
		size_t total = merge(entry, end, native, ARRAY_SIZE(native), marks, \
				     ARRAY_SIZE(marks), found);                     \
                                                                                    \
		assert_int_equal(total, ARRAY_SIZE(expected));                      \
		assert_memory_equal(found, expected, sizeof(expected));             \
	} while (0)

static void puts_frames_where_they_belong(void **state)
{
	const uint64_t native[] = { 7, LOOP, 8, LOOP, 9 };
	const uint8_t marks[] = { 0, 1, 0, 0, 1 };

	(void)state;
	CHECK_MERGE(PYTHON_ENTRY_MARKED, STACK_COMPLETE, 7, GONE, GONE, 8, GONE, GONE, GONE, 9);
}

static bool runs_python(uint64_t inner, uint64_t outer)
{
	unsigned char room[sizeof(struct sample) + 2 * sizeof(__u64)] = { 0 };
	const struct interpreter interpreter = { .loop[0] = { 1000, 1100 } };
	struct sample *sample = (struct sample *)room;

	sample->user_count = 2;
	sample->frames[0] = inner;
	sample->frames[1] = outer;
	return interpreter_runs_in(&interpreter, sample);
}

/* A caller at the loop's end was called from the loop. */
static void sees_where_python_runs(void **state)
{
	(void)state;
	assert_true(runs_python(LOOP, 9));
	assert_true(runs_python(9, 1100));
	assert_false(runs_python(1100, 1000));
}

static void leaves_shims_out(void **state)
{
	const uint64_t native[] = { LOOP, 8, LOOP, 9 };
	const uint8_t marks[] = { 0, 0, PYTHON_SHIM, 0, PYTHON_SHIM };

	(void)state;
	CHECK_MERGE(PYTHON_ENTRY_SHIM, STACK_COMPLETE, GONE, GONE, 8, GONE, 9);
}

static void shows_a_loop_that_was_just_entered(void **state)
{
	const uint64_t native[] = { LOOP, 8, LOOP, 9 };
	const uint8_t marks[] = { 0 };

	(void)state;
	CHECK_MERGE(PYTHON_ENTRY_ALL, STACK_COMPLETE, LOOP, 8, GONE, 9);
}

static void begins_at_the_innermost_of_a_cut_stack(void **state)
{
	const uint64_t native[] = { 7, LOOP, 8 };
	const uint8_t marks[] = { 0, 0, 0 };

	(void)state;
	CHECK_MERGE(PYTHON_ENTRY_ALL, STACK_CUT, 7, GONE, 8, GONE, GONE);
}

static void keeps_frames_of_loops_that_it_cannot_see(void **state)
{
	const uint64_t native[] = { 7, LOOP, 8 };
	const uint8_t marks[] = { 0, 0 };

	(void)state;
	CHECK_MERGE(PYTHON_ENTRY_ALL, STACK_COMPLETE, 7, GONE, GONE, 8);
}

/* Comes last: from then on all is full. */
static void names_without_end(void **state)
{
	uint64_t first = language_location_make("python", "first", "b.py", 1), number = 0;
	struct language_location location = { "", "", 0 };
	unsigned count = 0;
	char name[4001];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (; strcmp(location.function, LANGUAGE_TOO_MANY) != 0; count++) {
		assert_in_range(count, 0, 20000);
		snprintf(name, 9, "%08u", count);
		name[8] = 'x';
		number = language_location_make("python", name, "c.py", 1);
		assert_true(language_location_find(number, &location));
	}
	assert_in_range(count, 1000, 20000);
	assert_int_equal(language_location_make("python", "another", "d.py", 2), number);
	assert_int_equal(language_location_make("python", "first", "b.py", 1), first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_lines_by_steps),
		cmocka_unit_test(finds_lines_by_ranges),
		cmocka_unit_test(finds_lines_by_locations),
		cmocka_unit_test(knows_versions),
		cmocka_unit_test(finds_where_a_threads_number_is),
		cmocka_unit_test(believes_no_odd_description),
		cmocka_unit_test(keeps_each_location_once),
		cmocka_unit_test(puts_frames_where_they_belong),
		cmocka_unit_test(sees_where_python_runs),
		cmocka_unit_test(leaves_shims_out),
		cmocka_unit_test(shows_a_loop_that_was_just_entered),
		cmocka_unit_test(begins_at_the_innermost_of_a_cut_stack),
		cmocka_unit_test(keeps_frames_of_loops_that_it_cannot_see),
		cmocka_unit_test(names_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
