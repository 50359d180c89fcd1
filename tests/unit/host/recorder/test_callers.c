/*
 * Stacks of traced calls in a recording: this program's own, which keeps frame pointers, beneath
 * libraries that keep none.
 */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/model/samples/stack_text.h"
#include "host/recorder/tracing/callers.h"

#define FRAMES_MAX 64

static char path[64];
static struct recording *recording;
static struct programs programs;
static struct callers *callers;
static struct err err;

struct chain {
	uint64_t frames[FRAMES_MAX];
	size_t count;
};

static int setup(void **state)
{
	uint32_t process;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_callers.XXXXXX");
	fd = mkstemp(path);
	return fd < 0 || close(fd) || recording_create(path, &recording, &err) ||
	       recording_clock(recording, &err) ||
	       programs_init(&programs, recording, /* with_files */ false, /* variables */ NULL) ||
	       programs_number(&programs, getpid(), &process, &err) ||
	       callers_new(&callers, &programs, getpid(), process, NULL, &err);
}

static int teardown(void **state)
{
	(void)state;
	callers_free(callers);
	programs_done(&programs);
	return unlink(path);
}

/* As the tracer does it, from its caller on. */
static __attribute__((noinline)) void innermost(struct chain *ret)
{
	uint64_t *frame = __builtin_frame_address(0);

	ret->count = 0;
	while (ret->count < FRAMES_MAX) {
		uint64_t *next = (uint64_t *)frame[0];

		ret->frames[ret->count++] = frame[1];
		if (next <= frame || next - frame > 4096)
			break;
		frame = next;
	}
}

static __attribute__((noinline)) void middle(struct chain *ret)
{
	innermost(ret);
	__asm__ volatile("");
}

static __attribute__((noinline)) void outer(struct chain *ret)
{
	middle(ret);
	__asm__ volatile("");
}

static void *outer_of_thread(void *argument)
{
	outer(argument);
	return NULL;
}

static struct record_stack_number number(const struct chain *chain)
{
	struct collect_callers source = callers_source(callers);
	const struct collect_stack stack = { .frames = chain->frames, .frame_count = chain->count };
	struct record_stack_number record;

	assert_int_equal(source.number(source.context, &stack, &record, &err), 0);
	assert_int_equal(record.head.kind, RECORD_STACK_NUMBER);
	return record;
}

static struct model *read_back(void)
{
	struct naming naming;
	struct model *model;

	assert_int_equal(callers_finish(callers, &err), 0);
	assert_int_equal(stack_list_name(&programs.stacks, recording, 1000000000, &naming, &err),
			 0);
	recording_abandon(recording);
	assert_int_equal(model_open(path, &model, &err), 0);
	return model;
}

static const char *function_of(const struct samples *samples, struct stack_cursor *cursor)
{
	const struct sample_location *location = stack_next(samples, cursor);

	return location ? samples->functions[location->function].name : "";
}

static void what_libraries_leave_out_is_marked(void **state)
{
	struct record_stack_number stack;
	struct stack_cursor cursor;
	struct model *model;
	struct chain chain;
	char mark[STACK_MARK_MAX];

	(void)state;
	outer(&chain);
	stack = number(&chain);
	assert_int_equal(stack.head.count, STACK_UNLINKED); /* cmocka's functions */
	assert_string_equal(stack_mark(STACK_UNLINKED, mark),
			    "[incomplete stack: no-frame-pointers]");
	model = read_back();
	cursor = (struct stack_cursor){ .stack = stack.stack };
	assert_string_equal(function_of(model->samples, &cursor), "middle");
	assert_string_equal(function_of(model->samples, &cursor), "outer");
	assert_string_equal(function_of(model->samples, &cursor),
			    "what_libraries_leave_out_is_marked");
	model_free(model);
}

static void a_thread_is_complete(void **state)
{
	struct record_stack_number stack;
	struct chain chain;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, outer_of_thread, &chain), 0);
	pthread_join(thread, NULL);
	stack = number(&chain);
	assert_int_equal(stack.head.count, STACK_COMPLETE);
	assert_int_equal(number(&chain).stack, stack.stack);
	recording_abandon(recording);
}

static void what_is_no_code_is_no_caller(void **state)
{
	struct record_stack_number stack;
	struct stack_cursor cursor;
	struct model *model;
	struct chain chain;

	(void)state;
	outer(&chain);
	chain.frames[1] = 0x10;
	stack = number(&chain);
	assert_int_equal(stack.head.count, STACK_NO_MAP);
	model = read_back();
	cursor = (struct stack_cursor){ .stack = stack.stack };
	assert_string_equal(function_of(model->samples, &cursor), "middle");
	assert_string_equal(function_of(model->samples, &cursor), "");
	model_free(model);
}

static struct record_stack_number number_caller(uint64_t address)
{
	struct collect_callers source = callers_source(callers);
	struct record_stack_number record;

	assert_int_equal(source.number_caller(source.context, address, &record, &err), 0);
	assert_int_equal(record.head.kind, RECORD_STACK_NUMBER);
	assert_int_equal(record.head.count, STACK_CALLER);
	return record;
}

/* The second time it is looked up in what is known. */
static void a_direct_caller_has_its_name(void **state)
{
	struct record_stack_number stack;
	struct stack_cursor cursor;
	struct model *model;
	struct chain chain;
	char mark[STACK_MARK_MAX];

	(void)state;
	outer(&chain);
	stack = number_caller(chain.frames[0]);
	assert_int_equal(number_caller(chain.frames[0]).stack, stack.stack);
	assert_int_not_equal(number_caller(chain.frames[1]).stack, stack.stack);
	assert_string_equal(stack_mark(STACK_CALLER, mark), "[incomplete stack: caller-only]");
	model = read_back();
	cursor = (struct stack_cursor){ .stack = stack.stack };
	assert_string_equal(function_of(model->samples, &cursor), "middle");
	assert_string_equal(function_of(model->samples, &cursor), "");
	model_free(model);
}

static void *map_file(void *where, const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	void *mapped = mmap(where, 4096, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | (where ? MAP_FIXED : 0), fd, 0);

	assert_true(fd >= 0 && mapped != MAP_FAILED);
	close(fd);
	return mapped;
}

/* As after dlclose() and dlopen(). */
static void another_library_at_the_same_address_is_seen(void **state)
{
	void *mapped = map_file(NULL, "/proc/self/exe");
	uint64_t address = (uintptr_t)mapped + 64;
	uint32_t stack = number_caller(address).stack;

	(void)state;
	assert_int_equal(number_caller(address).stack, stack);
	map_file(mapped, "/bin/sh");
	usleep(1100000);
	assert_int_not_equal(number_caller(address).stack, stack);
	munmap(mapped, 4096);
	recording_abandon(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_libraries_leave_out_is_marked, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_thread_is_complete, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_code_is_no_caller, setup, teardown),
		cmocka_unit_test_setup_teardown(a_direct_caller_has_its_name, setup, teardown),
		cmocka_unit_test_setup_teardown(another_library_at_the_same_address_is_seen, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
