/*
 * The stacks of all threads of all ranks of this node, once or several times.  No thread is
 * stopped.
 */
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/path.h"
#include "host/fleet/node/frame_list.h"
#include "host/fleet/node/node_private.h"
#include "host/model/samples/languages.h"
#include "host/process/forks/descendants.h"
#include "host/recorder/base/code_list.h"
#include "host/recorder/dump/dump.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES_MAX 64u    /* of one rank */
#define CODES_MAX     16384u /* a list with more is not kept: it only grows */

/* The dumps of one rank in one round; sent when all are complete. */
struct rank_dump {
	struct dump *dumps[PROCESSES_MAX];
	pid_t pids[PROCESSES_MAX];
	size_t count;
	struct code_list *codes; /* of all of them */
};

struct round {
	struct node *node;
	uint32_t number;
	bool *has_stack; /* by rank, of any round */
	bool *is_told;   /* its end */
	/* Names and lines of files that ranks share are read once: who works on a rank takes this,
	 * and puts it back.  One that is stuck has it, and the next begins anew. */
	struct code_list *codes; /* NULL: taken, or not made yet */
	pthread_mutex_t lock;    /* of codes */
};

static struct code_list *codes_exchange(struct round *round, struct code_list *codes)
{
	struct code_list *before;

	pthread_mutex_lock(&round->lock);
	before = round->codes;
	round->codes = codes;
	pthread_mutex_unlock(&round->lock);
	return before;
}

static enum frame_kind kind_of(const struct dump *dump, const struct dumped_thread *thread,
			       size_t frame)
{
	const struct recorded_code *code =
		code_list_code(dump->codes, thread->recorded[frame].code);

	const char *module = thread->frames[frame].module, *end = strstr(module, ".so");

	if (language_of_path(code->path) != LANGUAGE_NATIVE)
		return FRAME_SCRIPT;
	if (!strcmp(module, "[vdso]") || !strcmp(module, "[kernel]"))
		return FRAME_LIBRARY;
	return end && (!end[3] || end[3] == '.') ? FRAME_LIBRARY : FRAME_PROGRAM;
}

/* The interpreter's modules are those below which the outermost script was called. */
static bool is_interpreter(const struct dumped_thread *thread, size_t outermost, size_t frame)
{
	for (size_t i = outermost + 1; i < thread->frame_count; i++)
		if (thread->recorded[i].code == thread->recorded[frame].code)
			return true;
	return false;
}

/* The number of innermost frames with irrelevant lines.  What an interpreter does within a script's
 * line is not a call of the script. */
static size_t count_unsteady(const struct dump *dump, const struct dumped_thread *thread)
{
	size_t script = thread->frame_count, outermost = 0;

	if (thread->facts.state != 'R')
		return 0;
	for (size_t i = thread->frame_count; i--;)
		if (kind_of(dump, thread, i) == FRAME_SCRIPT) {
			outermost = script == thread->frame_count ? i : outermost;
			script = i;
		}
	if (script == thread->frame_count)
		return 1;
	for (size_t i = 0; i < script; i++)
		if (!is_interpreter(thread, outermost, i))
			return 1;
	return script + 1;
}

/* Adds the thread's stack; *ret is its innermost call.  Lines are those of call sites, and of the
 * place where a waiting thread waits.  The line of a running thread in its innermost function is
 * irrelevant: the next round finds it elsewhere in the same loop.  0 or -ENOMEM. */
static int thread_frames_add(struct frame_list *frames, const struct dump *dump,
			     const struct dumped_thread *thread, uint32_t *ret)
{
	size_t unsteady = count_unsteady(dump, thread);
	int r = 0;

	*ret = FRAME_ROOT;
	for (size_t i = thread->frame_count; !r && i--;) {
		const struct dumped_frame *frame = &thread->frames[i];

		for (uint32_t k = frame->name_count; !r && k--;) {
			const struct recorded_name *name = &frame->names[k];
			/* An inlined function was called at a line. */
			bool is_steady = i >= unsteady || k;
			struct frame_call call = {
				.function = name->function,
				.module = frame->module,
				.file = is_steady ? path_base_name(name->file) : "",
				.line = is_steady ? name->line : 0,
				.kind = kind_of(dump, thread, i),
			};

			r = frame_list_find(frames, *ret, &call, ret);
		}
	}
	return r;
}

static void dumped_thread_put(struct bytes *message, struct frame_list *frames,
			      const struct dump *dump, const struct dumped_thread *thread,
			      pid_t pid)
{
	bool has_stack = thread->has_stack && thread->frame_count;
	struct stacks_thread put = { .tid = (uint32_t)thread->facts.tid,
				     .state = (unsigned char)thread->facts.state,
				     .leaf = FRAME_ROOT,
				     .turns = thread->turns,
				     .name = thread->name,
				     .call = thread->waiting.call,
				     .object = thread->waiting.object };

	if (thread->facts.tid == pid)
		put.flags |= THREAD_IS_MAIN;
	if (has_stack)
		put.flags |= THREAD_HAS_STACK;
	if (has_stack && thread->end == STACK_COMPLETE)
		put.flags |= THREAD_IS_COMPLETE;
	if (thread->has_gil)
		put.flags |= THREAD_HAS_GIL;
	if (has_stack && thread_frames_add(frames, dump, thread, &put.leaf))
		message->has_failed = true;
	stacks_put_thread(message, &put);
}

/* Functions are sent before the stacks that refer to them. */
static void process_tell(struct node *node, const struct found_rank *rank, uint32_t round,
			 const struct dump *dump, pid_t pid)
{
	bool all = node->request.dump.all_threads;
	struct bytes stacks = { 0 }, frames = { 0 };
	uint32_t count = 0;

	for (size_t i = 0; i < dump->count; i++)
		count += all || dump->threads[i].facts.tid == pid;
	stacks_put(&stacks, &(struct stacks_message){ .pid = (uint32_t)rank->top,
						      .process = (uint32_t)pid,
						      .round = round,
						      .thread_count = count });
	for (size_t i = 0; i < dump->count; i++)
		if (all || dump->threads[i].facts.tid == pid)
			dumped_thread_put(&stacks, node->frames, dump, &dump->threads[i], pid);
	if (frame_list_put(node->frames, &frames))
		channel_send(&node->channel, &frames);
	channel_send(&node->channel, &stacks);
	bytes_done(&frames);
	bytes_done(&stacks);
}

static bool has_stack(const struct rank_dump *self)
{
	for (size_t i = 0; i < self->count; i++)
		for (size_t k = 0; k < self->dumps[i]->count; k++)
			if (self->dumps[i]->threads[k].has_stack)
				return true;
	return false;
}

/* One process; if stacks are not allowed, the states of its threads. */
static int rank_dump_add(struct rank_dump *self, pid_t pid, const struct dump_wish *wish,
			 struct err *err)
{
	const struct dump_options options = { .wants_lines = !wish->no_lines,
					      .kernel_frames = wish->kernel_frames,
					      .sampler = *wish->sampler ? wish->sampler : NULL,
					      .codes = self->codes };
	struct dump *dump = NULL;
	int r = dump_make(&dump, pid, &options, err);

	if (dump) {
		self->dumps[self->count] = dump;
		self->pids[self->count++] = pid;
	}
	return r;
}

/* The rank's own process decides about failure; descendants start and end. */
static int rank_dump_take(struct rank_dump *self, const struct node *node,
			  const struct found_rank *rank, struct err *err)
{
	CLEANUP(free) pid_t *below = NULL;
	struct err ignored = { 0 };
	size_t count = 0;
	int r = rank_dump_add(self, rank->pid, &node->request.dump, err);

	if (r || node->request.find.family != FAMILY_DESCENDANTS ||
	    descendants_list(rank->pid, &below, &count, &ignored))
		return r;
	for (size_t i = 0; i < count && self->count < PROCESSES_MAX; i++)
		(void)!rank_dump_add(self, below[i], &node->request.dump, &ignored);
	return 0;
}

static void round_work(void *context, struct rank_queue *queue, size_t index)
{
	struct round *round = context;
	struct node *node = round->node;
	const struct found_rank *rank = &node->ranks.items[index];
	struct rank_dump dump = { .codes = codes_exchange(round, NULL) };
	struct err err = { 0 };
	int r = 0;

	if (!dump.codes)
		dump.codes = code_list_new();
	if (!round->is_told[index])
		r = rank_dump_take(&dump, node, rank, &err);
	if (rank_queue_finish(queue, index)) {
		for (size_t i = 0; i < dump.count; i++)
			process_tell(node, rank, round->number, dump.dumps[i], dump.pids[i]);
		round->has_stack[index] |= has_stack(&dump);
		if (r) {
			node_tell_error(node, index, &err);
			round->is_told[index] = true;
		}
		rank_queue_release(queue);
	}
	for (size_t i = 0; i < dump.count; i++)
		dump_free(dump.dumps[i]);
	if (dump.codes && code_list_count(dump.codes) <= CODES_MAX)
		dump.codes = codes_exchange(round, dump.codes);
	code_list_free(dump.codes);
}

/* A rank without an error has passed all rounds. */
static void rounds_tell(struct round *round, struct rank_queue *queue)
{
	struct node *node = round->node;

	for (size_t i = 0; i < node->ranks.count; i++) {
		if (round->is_told[i])
			continue;
		if (rank_queue_is_missing(queue, i))
			node_tell_missing(node, i);
		else
			node_tell_state(node, i, round->has_stack[i] ? RANK_DONE : RANK_CUT,
					round->has_stack[i] ? "" : "no thread could be caught");
	}
}

static struct rank_queue *rounds_run(struct round *round)
{
	const struct dump_wish *wish = &round->node->request.dump;
	struct node *node = round->node;
	uint64_t begin_ns = now_ns(), next_ns;
	struct rank_queue *queue;

	for (;;) {
		queue = node_visit(node, node->ranks.count, node->request.rank_limit_ns, round_work,
				   round);
		round->number++;
		if (!queue || round->number >= wish->times)
			return queue;
		next_ns = begin_ns + round->number * wish->interval_ns;
		while (now_ns() < next_ns && !node_shall_stop(node))
			lifeline_wait(&node->lifeline, -1, MIN(next_ns, node->until_ns));
		if (node_shall_stop(node))
			return queue;
	}
}

void node_dump(struct node *node)
{
	size_t count = node->ranks.count;
	/* Never freed: a thread may be stuck in a round. */
	struct round *round = calloc(1, sizeof(*round));
	struct rank_queue *queue = NULL;

	node->frames = calloc(1, sizeof(*node->frames));
	if (round) {
		*round = (struct round){ .node = node,
					 .has_stack = calloc(count + 1, sizeof(bool)),
					 .is_told = calloc(count + 1, sizeof(bool)),
					 .lock = PTHREAD_MUTEX_INITIALIZER };
		for (size_t i = 0; round->is_told && i < count; i++)
			round->is_told[i] = node->ranks.items[i].left_out != RANK_IS_TAKEN;
	}
	if (node->frames && round && round->has_stack && round->is_told)
		queue = rounds_run(round);
	if (queue)
		rounds_tell(round, queue);
	else
		node_note(node, "dump: no memory");
}
