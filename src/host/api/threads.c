/*
 * All threads of a process, as they are now.
 */
#include "host/api/api.h"
#include "host/api/sampler.h"
#include "host/core/cleanup.h"
#include "host/recorder/dump/dump.h"
#include "host/sampling/sampler.h"

#include <errno.h>

struct look {
	limpet_thread_visitor *visit;
	void *context;
};

static struct limpet_thread threads_describe(const struct thread *facts,
					     const struct waiting *waiting,
					     const struct limpet_stack *stack)
{
	return (struct limpet_thread){
		.struct_size = sizeof(struct limpet_thread),
		.tid = facts->tid,
		.state = facts->state,
		.state_name = thread_state_name(facts->state),
		.name = facts->name,
		.cpu_ns = facts->cpu_ns,
		.call = waiting->call,
		.object = waiting->object,
		.channel = facts->wait_channel,
		.end = stack_end_name(STACK_NO_USER),
		.stack = stack,
	};
}

static int visit_states(pid_t pid, const struct look *look, struct err *err)
{
	CLEANUP(threads_done) struct threads threads = { 0 };
	const struct limpet_stack nothing = { 0 };
	int r = threads_read(pid, &threads, err);

	for (size_t i = 0; !r && i < threads.count; i++) {
		struct limpet_thread thread;
		struct waiting waiting;

		waiting_read(pid, threads.items[i].tid, &threads, &waiting);
		thread = threads_describe(&threads.items[i], &waiting, &nothing);
		look->visit(&thread, look->context);
	}
	return r;
}

static void visit_dumped(const struct dumped_thread *dumped, struct code_list *codes,
			 pthread_mutex_t *lock, const struct look *look)
{
	const struct limpet_stack stack = { .codes = codes,
					    .lock = lock,
					    .frames = dumped->recorded,
					    .count = dumped->frame_count };
	struct limpet_thread thread = threads_describe(&dumped->facts, &dumped->waiting, &stack);

	thread.name = dumped->name;
	thread.has_stack = dumped->has_stack;
	thread.is_complete = dumped->has_stack && dumped->end == STACK_COMPLETE;
	thread.is_guessed = dumped->is_guessed;
	thread.end = stack_end_name(dumped->end);
	thread.frame_count = dumped->frame_count;
	look->visit(&thread, look->context);
}

static int visit_stacks(pid_t pid, bool kernel_frames, const struct look *look, struct err *err)
{
	const struct dump_options options = { .kernel_frames = kernel_frames };
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	CLEANUP(dump_free) struct dump *dump = NULL;
	int r = dump_make(&dump, pid, &options, err);

	if (!dump)
		return r;
	for (size_t i = 0; i < dump->count; i++)
		visit_dumped(&dump->threads[i], dump->codes, &lock, look);
	return r;
}

EXPORT int limpet_threads(struct limpet *target, unsigned flags, limpet_thread_visitor *visit,
			  void *context, struct limpet_error *error)
{
	const struct look look = { visit, context };
	struct err err = { 0 };

	if (!target || !visit)
		err_set(&err, -EINVAL, "the target and the visitor must not be NULL");
	else if (flags & LIMPET_STACKS)
		(void)!visit_stacks(target->pid, !(flags & LIMPET_NO_KERNEL), &look, &err);
	else
		(void)!visit_states(target->pid, &look, &err);
	return api_report(&err, error);
}
