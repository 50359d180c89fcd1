/*
 * Numbers for threads, frames and stacks of the live model.
 */
#include "host/top/live_private.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int live_tables_init(struct live_tables *tables)
{
	*tables = (struct live_tables){ .model = calloc(1, sizeof(*tables->model)) };
	if (!tables->model)
		return -ENOMEM;
	tables->model->samples = samples_new();
	return tables->model->samples ? 0 : -ENOMEM;
}

void live_tables_done(struct live_tables *tables)
{
	model_free(tables->model);
	table_done(&tables->thread_numbers);
	table_done(&tables->thread_owners);
	table_done(&tables->frame_numbers);
	table_done(&tables->stack_numbers);
	*tables = (struct live_tables){ 0 };
}

int live_frame(struct live *live, const struct recorded_frame *frame, uint32_t *ret)
{
	struct samples *samples = live->tables.model->samples;
	struct table_entry *entry;
	bool is_new;

	if (make_room(&samples->frames, samples->frame_count, &samples->frame_room,
		      sizeof(*samples->frames)))
		return -ENOMEM;
	entry = table_make(&live->tables.frame_numbers,
			   (uint64_t)frame->code << 32 | frame->version << 1 | frame->is_return,
			   frame->address, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = samples->frame_count;
		samples->frames[samples->frame_count++] =
			(struct sample_frame){ .code = frame->code,
					       .is_return = frame->is_return,
					       .address = frame->address,
					       .version = frame->version };
	}
	*ret = (uint32_t)entry->value;
	return 0;
}

int live_stack(struct live *live, uint32_t caller, uint32_t frame, uint32_t *ret)
{
	struct samples *samples = live->tables.model->samples;
	uint32_t depth = caller == STACK_NONE ? 1 : samples->stacks[caller].depth + 1;
	struct table_entry *entry;
	bool is_new;

	if (make_room(&samples->stacks, samples->stack_count, &samples->stack_room,
		      sizeof(*samples->stacks)))
		return -ENOMEM;
	entry = table_make(&live->tables.stack_numbers, caller, frame, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = samples->stack_count;
		samples->stacks[samples->stack_count++] =
			(struct sample_stack){ caller, frame, depth };
	}
	*ret = (uint32_t)entry->value;
	return 0;
}

int live_thread_add(struct model *model, size_t *room, const struct model_process *process,
		    pid_t tid, const char *name)
{
	struct model_thread *thread = calloc(1, sizeof(*thread));

	if (!thread ||
	    make_room(&model->threads, model->thread_count, room, sizeof(struct model_thread *)) ||
	    !(thread->name = strdup(name))) {
		free(thread);
		return -ENOMEM;
	}
	thread->number = model->thread_count;
	thread->process = process;
	thread->tid = tid;
	model->threads[model->thread_count++] = thread;
	return 0;
}

int live_thread(struct live *live, uint32_t process, pid_t tid, const char *name, uint32_t *ret)
{
	struct live_tables *tables = &live->tables;
	bool is_new;
	struct table_entry *entry = table_make(&tables->thread_owners, (uint64_t)tid, 0, &is_new);

	if (!entry)
		return -ENOMEM;
	entry->value = process;
	entry = table_make(&tables->thread_numbers, process, (uint64_t)tid, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = tables->model->thread_count;
		if (live_thread_add(tables->model, &tables->thread_room,
				    tables->model->processes[process], tid, name)) {
			table_remove(&tables->thread_numbers, entry);
			return -ENOMEM;
		}
	}
	*ret = (uint32_t)entry->value;
	return 0;
}
