/*
 * The model: calls of all threads in the order of their beginnings, with what belongs to them; what
 * contradicts itself is left out.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/model/model.h"
#include "host/model/samples/samples.h"
#include "host/recording/pack.h"
#include "host/recording/recording.h"

#define MAX_CALLS 4096

static struct recording *recording;
static struct err err;
static char path[64];

/* A batch in the making. */
static struct {
	struct bytes bytes;
	struct packer packer;
	struct records_head head;
} batch;

static const struct trace_function functions[] = {
	{ "outer", "", DOMAIN_FUNCTION, 1, { VALUE_RESULT } },
	{ "inner", "", DOMAIN_FUNCTION, 0, { 0 } },
};

static int setup(void **state)
{
	struct recorded_process process = {
		.pid = 1, .name = "p", .executable = "", .command = ""
	};
	int fd;

	(void)state;
	memset(&err, 0, sizeof(err));
	snprintf(path, sizeof(path), "/tmp/test_model.XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || close(fd))
		return -1;
	return recording_create(path, &recording, &err) ||
	       recording_process(recording, &process, &err) ||
	       recording_functions(recording, &(struct list_head){ 0, 0, 2 }, functions, &err);
}

static int teardown(void **state)
{
	(void)state;
	bytes_done(&batch.bytes);
	return unlink(path);
}

static uint32_t add_thread(const char *name)
{
	struct recorded_thread thread = { .tid = 7, .name = name };

	assert_int_equal(recording_thread(recording, &thread, &err), 0);
	return thread.number;
}

static void batch_begin(uint32_t thread, uint32_t sequence)
{
	memset(&batch.packer, 0, sizeof(batch.packer));
	batch.head = (struct records_head){ thread, sequence, 0, 0 };
	batch.bytes.size = 0;
	assert_non_null(bytes_reserve(&batch.bytes, RECORDS_HEAD_BYTES));
	batch.bytes.size = RECORDS_HEAD_BYTES;
}

static void batch_add(const void *record)
{
	unsigned char *into = bytes_reserve(&batch.bytes, PACKED_MAX);

	assert_non_null(into);
	batch.bytes.size += (size_t)(pack(&batch.packer, record, into) - into);
	batch.head.count++;
}

static void batch_call(uint32_t function, uint64_t begin, uint64_t end)
{
	struct record_call call = { { sizeof(call), RECORD_CALL, 0 }, function, begin, end };

	batch_add(&call);
}

static void batch_text(const char text[8])
{
	struct {
		struct record_text head;
		char text[8];
	} record = { { { sizeof(record), RECORD_TEXT, 0 }, 8 }, "" };

	memcpy(record.text, text, 8);
	batch_add(&record);
}

static void batch_stack(uint64_t frame)
{
	struct {
		struct record_stack head;
		uint64_t frames[2];
	} record = { { { sizeof(record), RECORD_STACK, 2 }, 0 }, { frame, frame + 1 } };

	batch_add(&record);
}

static void batch_name(uint64_t id, unsigned part, const char text[8])
{
	struct {
		struct record_name head;
		char text[8];
	} record = { { { sizeof(record), RECORD_NAME, (uint8_t)part }, 8, NAME_KERNEL, id }, "" };

	memcpy(record.text, text, 8);
	batch_add(&record);
}

static void batch_end(void)
{
	assert_int_equal(recording_records(recording, &batch.head, &batch.bytes, &err), 0);
}

static struct model *read_back(void)
{
	struct model *model;

	recording_abandon(recording);
	assert_int_equal(model_open(path, &model, &err), 0);
	return model;
}

struct seen {
	size_t count;
	struct {
		uint64_t begin, end, frame;
		uint32_t function, thread;
		char text[16];
	} calls[MAX_CALLS];
};

static int see(const struct call *call, void *context)
{
	struct seen *seen = context;

	assert_true(seen->count < MAX_CALLS);
	seen->calls[seen->count].begin = call->begin_ns;
	seen->calls[seen->count].end = call->end_ns;
	seen->calls[seen->count].frame =
		call->has_stack ? call->model->samples
					  ->frames[call->model->samples->stacks[call->stack].frame]
					  .address
				: 0;
	seen->calls[seen->count].function = call->function_number;
	seen->calls[seen->count].thread = call->thread->number;
	snprintf(seen->calls[seen->count].text, 16, "%s", call->text);
	seen->count++;
	return 0;
}

static struct seen seen;

static void look(struct model *model)
{
	seen.count = 0;
	assert_int_equal(model_each_call(model, see, &seen), 0);
}

static void a_call_comes_before_those_inside_it(void **state)
{
	struct model *model;

	(void)state;
	batch_begin(add_thread("a"), 0);
	batch_call(1, 10, 20);
	batch_call(1, 30, 40);
	batch_call(0, 10, 50); /* begins with the first, ends later */
	batch_end();
	model = read_back();
	look(model);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.calls[0].function, 0);
	assert_int_equal(seen.calls[1].begin, 10);
	assert_int_equal(seen.calls[2].begin, 30);
	model_free(model);
}

static const char *kernel_name(const struct model *model, uint64_t id)
{
	return names_find(&model->processes[0]->names, NAME_KERNEL, id);
}

static void long_names_come_in_parts(void **state)
{
	struct model *model;

	(void)state;
	batch_begin(add_thread("a"), 0);
	batch_name(1, 0, "kernel_o");
	batch_name(1, 1, "ne_and_m");
	batch_name(1, 1, "repeated");
	batch_name(2, 1, "headless");
	batch_name(3, 0, "replaced");
	batch_name(3, 0, "the_last");
	for (unsigned id = 100; id < 1000; id++)
		batch_name(id, 0, "one_of_m");
	batch_call(0, 10, 50);
	batch_end();
	model = read_back();
	assert_string_equal(kernel_name(model, 1), "kernel_one_and_m");
	assert_string_equal(kernel_name(model, 2), "");
	assert_string_equal(kernel_name(model, 3), "the_last");
	assert_string_equal(kernel_name(model, 999), "one_of_m");
	assert_string_equal(names_find(&model->processes[0]->names, NAME_DEVICE, 1), "");
	look(model);
	assert_int_equal(seen.count, 1);
	model_free(model);
}

/* The outer call is known only when its last chunk is read. */
static void a_long_call_comes_first_across_chunks(void **state)
{
	uint32_t thread = add_thread("a"), other = add_thread("b");
	struct model *model;

	(void)state;
	for (uint32_t sequence = 0; sequence < 10; sequence++) {
		batch_begin(thread, sequence);
		for (unsigned i = 0; i < 100; i++)
			batch_call(1, 100 + sequence * 1000 + i * 10,
				   105 + sequence * 1000 + i * 10);
		if (sequence == 9)
			batch_call(0, 50, 20000);
		batch_end();
		batch_begin(other, sequence);
		batch_call(1, 500 + sequence * 1000, 501 + sequence * 1000);
		batch_end();
	}
	model = read_back();
	assert_int_equal(model->calls, 1011);
	look(model);
	assert_int_equal(seen.count, 1011);
	assert_int_equal(seen.calls[0].begin, 50);
	for (size_t i = 1; i < seen.count; i++)
		assert_true(seen.calls[i - 1].begin <= seen.calls[i].begin);
	look(model); /* as often as one likes */
	assert_int_equal(seen.count, 1011);
	model_free(model);
}

static void stacks_and_texts_stay_with_their_call(void **state)
{
	uint32_t thread = add_thread("a");
	struct model *model;

	(void)state;
	batch_begin(thread, 0);
	batch_text("nobody's");
	batch_call(1, 10, 20);
	batch_stack(111);
	batch_text("tenth\0\0");
	batch_call(1, 30, 40);
	batch_end();
	batch_begin(thread, 1);
	batch_text("thirty\0"); /* in the next chunk */
	batch_stack(333);
	batch_call(1, 50, 60);
	batch_end();
	batch_begin(thread, 3); /* one is missing */
	batch_text("missing");
	batch_call(1, 70, 80);
	batch_end();
	model = read_back();
	look(model);
	assert_int_equal(seen.count, 4);
	assert_string_equal(seen.calls[0].text, "tenth");
	assert_int_equal(seen.calls[0].frame, 111);
	assert_string_equal(seen.calls[1].text, "thirty");
	assert_int_equal(seen.calls[1].frame, 333);
	assert_string_equal(seen.calls[2].text, "");
	assert_string_equal(seen.calls[3].text, "");
	model_free(model);
}

static void what_contradicts_itself_is_left_out(void **state)
{
	struct recorded_thread thread = { .process = 9, .tid = 1, .name = "of no process" };
	struct recorded_drops drops = { 0, 77, { 1 } };
	struct bytes gap = { 0 };
	struct model *model;

	(void)state;
	assert_int_equal(recording_thread(recording, &thread, &err), 0);
	assert_int_equal(recording_item(recording, CHUNK_DROPS, &drops, &err), 0);
	list_put(&gap, &(struct list_head){ 0, 5, 1 });
	function_put(&gap, &functions[0]);
	assert_int_equal(recording_samples(recording, CHUNK_FUNCTIONS, &gap, &err), 0);
	bytes_done(&gap);
	batch_begin(3, 0);
	batch_call(0, 1, 2);
	batch_end();
	batch_begin(0, 0);
	batch_call(77, 1, 2);
	batch_end();
	model = read_back();
	assert_int_equal(model->damaged, 5);
	assert_int_equal(model->thread_count, 0);
	assert_int_equal(model->end.reason, RECORDING_CUT);
	look(model);
	assert_int_equal(seen.count, 0);
	model_free(model);
}

static void time_is_linear_through_two_points(void **state)
{
	struct model model = { .first = { .ticks = 1000, .boot_ns = 5000 },
			       .last = { .ticks = 3000, .boot_ns = 6000 } };

	(void)state;
	model.slope = 1ull << 39; /* half a nanosecond a tick */
	assert_int_equal(model_time_ns(&model, 1000), 5000);
	assert_int_equal(model_time_ns(&model, 2000), 5500);
	assert_int_equal(model_time_ns(&model, 0), 4500);
	assert_int_equal(model_time_ns(&model, 5000), 7000);
}

static void frames_are_named_by_module(void **state)
{
	struct recorded_module modules[] = {
		{ .base = 0x1000, .size = 0x1000, .offset = 0x200, .path = "/lib/a.so" },
		{ .base = 0x3000, .size = 0x1000, .path = "b" },
	};
	struct model_process process = { .modules = modules, .module_count = 2 };
	char text[64];

	(void)state;
	frame_text(&process, 0x1010, text, sizeof(text));
	assert_string_equal(text, "a.so+0x210");
	frame_text(&process, 0x3fff, text, sizeof(text));
	assert_string_equal(text, "b+0xfff");
	frame_text(&process, 0x2000, text, sizeof(text));
	assert_string_equal(text, "0x2000");
	frame_text(&process, 0, text, sizeof(text));
	assert_string_equal(text, "0x0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_call_comes_before_those_inside_it),
		TEST(long_names_come_in_parts),
		TEST(a_long_call_comes_first_across_chunks),
		TEST(stacks_and_texts_stay_with_their_call),
		TEST(what_contradicts_itself_is_left_out),
		cmocka_unit_test(time_is_linear_through_two_points),
		cmocka_unit_test(frames_are_named_by_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
