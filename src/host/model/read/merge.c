/*
 * All threads' calls as one sequence: a heap of streams, the one with the earliest call on top.  A
 * thread's records are read when they are due and freed after its last call.
 */
#include <errno.h>
#include <stdlib.h>

#include "host/model/read/stream.h"

struct merge {
	struct model *model;
	struct stream *streams; /* one for each thread */
	struct stream **heap;
	size_t count;
};

static void merge_done(struct merge *merge)
{
	for (uint32_t i = 0; merge->streams && i < merge->model->thread_count; i++)
		stream_done(&merge->streams[i]);
	free(merge->streams);
	free(merge->heap);
}

static bool is_before(const struct stream *a, const struct stream *b)
{
	uint64_t left = stream_key(a), right = stream_key(b);

	return left < right || (left == right && a->thread->number < b->thread->number);
}

/* The stream at this index may be later than those below it. */
static void sift_down(struct merge *merge, size_t at)
{
	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < merge->count;
		     child++)
			if (is_before(merge->heap[child], merge->heap[least]))
				least = child;
		if (least == at)
			return;
		struct stream *other = merge->heap[at];

		merge->heap[at] = merge->heap[least];
		merge->heap[least] = other;
		at = least;
	}
}

static int merge_init(struct merge *merge, struct model *model)
{
	merge->model = model;
	merge->streams = calloc(MAX(model->thread_count, 1u), sizeof(*merge->streams));
	merge->heap = calloc(MAX(model->thread_count, 1u), sizeof(struct stream *));
	if (!merge->streams || !merge->heap)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->thread_count; i++) {
		merge->streams[i] = (struct stream){ .model = model, .thread = model->threads[i] };
		if (model->threads[i]->location_count)
			merge->heap[merge->count++] = &merge->streams[i];
	}
	for (size_t i = merge->count / 2; i-- > 0;)
		sift_down(merge, i);
	return 0;
}

static int merge_show(const struct stream *stream, const struct waiting_call *waiting,
		      call_visitor *visit, void *context)
{
	const struct model_process *process = stream->thread->process;
	const unsigned char *side = stream->side.data;
	uint64_t file;
	struct call call = {
		.model = stream->model,
		.process = process,
		.thread = stream->thread,
		.function = &process->functions[waiting->function],
		.function_number = process->first_function + waiting->function,
		.begin = waiting->begin,
		.begin_ns = model_time_ns(stream->model, waiting->begin),
		.end_ns = model_time_ns(stream->model, waiting->end),
		.value_count = waiting->value_count,
		.values = waiting->values,
		.has_stack = waiting->has_stack,
		.stack = waiting->stack,
		.stack_end = (enum stack_end)waiting->stack_end,
		.count_count = waiting->count_count,
		.counts = waiting->count_count ? (const void *)(side + waiting->counts) : NULL,
		.text = waiting->has_text ? (const char *)side + waiting->text : NULL,
	};

	/* The text of a system call is its file. */
	if (!call.text)
		call.text = call_value(&call, VALUE_FILE, &file)
				    ? names_find(&process->names, NAME_FILE, file)
				    : "";
	/* A clock that jumps back would yield durations of centuries. */
	call.end_ns = MAX(call.end_ns, call.begin_ns);
	return visit(&call, context);
}

static void remove_top(struct merge *merge)
{
	stream_done(merge->heap[0]);
	*merge->heap[0] = (struct stream){ .thread = merge->heap[0]->thread };
	merge->heap[0] = merge->heap[--merge->count];
}

int merge_each_call(struct model *model, call_visitor *visit, void *context)
{
	struct merge merge = { 0 };
	int r = merge_init(&merge, model);

	while (!r && merge.count) {
		struct stream *stream = merge.heap[0];
		const struct waiting_call *waiting;
		int found = stream_next(stream, &waiting);

		if (found > 0)
			r = merge_show(stream, waiting, visit, context);
		else if (found == 0)
			r = stream_read(stream);
		else
			remove_top(&merge);
		sift_down(&merge, 0);
	}
	merge_done(&merge);
	return r;
}
