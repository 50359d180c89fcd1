/*
 * Numbers for threads, frames and stacks of the live store, and room for more.  Samples are dropped
 * in eighths, so that the kept time and size are steady; now and then the others move to new
 * tables, with what they need, and the old tables are freed.
 */
#include "host/live/live_private.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A number that is needed, before it has a new one. */
#define NEEDED (UINT32_MAX - 1)

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
	*ret = caller;
	return samples_stack(live->tables.model->samples, &live->tables.stack_numbers, frame, ret);
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

struct move {
	struct live *live;
	const struct live_tables *old;
	uint32_t *stacks; /* new numbers by the old ones; STACK_NONE: not used */
};

/* A caller has a smaller number than its callees. */
static void mark_needed(struct move *self)
{
	const struct samples *old = self->old->model->samples;

	memset(self->stacks, 0xff, (old->stack_count + 1) * sizeof(*self->stacks));
	for (size_t i = 0; i < self->live->kept_count; i++)
		if (self->live->kept->items[i].stack != STACK_NONE)
			self->stacks[self->live->kept->items[i].stack] = NEEDED;
	for (size_t i = old->stack_count; i-- > 0;)
		if (self->stacks[i] == NEEDED && old->stacks[i].caller != STACK_NONE)
			self->stacks[old->stacks[i].caller] = NEEDED;
}

static int move_stack(struct move *self, uint32_t number)
{
	const struct samples *old = self->old->model->samples;
	const struct sample_stack *stack = &old->stacks[number];
	const struct sample_frame *frame = &old->frames[stack->frame];
	uint32_t caller = stack->caller == STACK_NONE ? STACK_NONE : self->stacks[stack->caller];
	uint32_t new_frame;

	if (live_frame(self->live,
		       &(struct recorded_frame){ frame->code, frame->is_return, frame->address,
						 frame->version },
		       &new_frame))
		return -ENOMEM;
	return live_stack(self->live, caller, new_frame, &self->stacks[number]);
}

static int move_sample(struct move *self, struct recorded_sample *sample)
{
	const struct model_thread *thread = self->old->model->threads[sample->thread];

	if (sample->stack != STACK_NONE)
		sample->stack = self->stacks[sample->stack];
	return live_thread(self->live, thread->process->number, thread->tid, thread->name,
			   &sample->thread);
}

static int move_all(struct move *self)
{
	size_t count = self->old->model->samples->stack_count;
	int r = 0;

	mark_needed(self);
	for (uint32_t i = 0; !r && i < count; i++)
		if (self->stacks[i] == NEEDED)
			r = move_stack(self, i);
	for (size_t i = 0; !r && i < self->live->kept_count; i++)
		r = move_sample(self, &self->live->kept->items[i]);
	return r;
}

/* A reader may hold the present array: the samples that stay are copied to a new one. */
static int drop_samples(struct live *live, size_t count)
{
	struct live_kept *newer = live_kept_new(live->limits.samples);

	if (!newer)
		return -ENOMEM;
	live->kept_count -= count;
	live->counts.forgotten += count;
	memcpy(newer->items, live->kept->items + count, live->kept_count * sizeof(*newer->items));
	live_kept_unref(live->kept);
	live->kept = newer;
	/* An exceptionally late sample is forgotten with those before it. */
	live->latest_ns = live->late_ns = 0;
	for (size_t i = 0; i < live->kept_count; i++)
		live_note_time(live, live->kept->items[i].time_ns);
	return 0;
}

/* Right after drop_samples(), while only the live model reads the samples.  Fails only for lack of
 * memory; numbers of both tables are mixed then, and all samples go. */
static int move_to_new_tables(struct live *live, uint32_t *stacks)
{
	struct live_tables old = live->tables;
	struct move move = { live, &old, stacks };
	int r = live_tables_init(&live->tables);

	if (r) {
		live_tables_done(&live->tables);
		live->tables = old;
		return r;
	}
	live->generation++;
	live->stale_count = 0;
	live->tables.model->processes = TAKE(old.model->processes);
	live->tables.model->process_count = old.model->process_count;
	old.model->process_count = 0;
	r = move_all(&move);
	live_tables_done(&old);
	if (r)
		live->kept_count = 0;
	return r;
}

/* Drops the oldest samples and, on request, all stacks and names that no sample uses any more. */
static int samples_forget(struct live *live, size_t count, bool moves_tables)
{
	size_t stack_count = live->tables.model->samples->stack_count;
	uint32_t *stacks = calloc(stack_count + 1, sizeof(*stacks));
	int r;

	if (!stacks)
		return -ENOMEM;
	r = drop_samples(live, count);
	if (!r && moves_tables)
		r = move_to_new_tables(live, stacks);
	free(stacks);
	return r;
}

static bool are_tables_full(const struct live *live)
{
	const struct samples *samples = live->tables.model->samples;

	return samples->stack_count + STACK_DEPTH_MAX > live->limits.stacks ||
	       samples->frame_count + STACK_DEPTH_MAX > live->limits.frames ||
	       live->tables.model->thread_count >= live->limits.threads;
}

/* Tables are as new as half of the samples, at least. */
int live_forget(struct live *live)
{
	size_t eighth = (live->limits.samples + 7) / 8;
	int r = 0;

	while (!r && live->kept_count && are_tables_full(live))
		r = samples_forget(live, (live->kept_count + 1) / 2, /* moves_tables */ true);
	if (r || live->kept_count < live->limits.samples)
		return r;
	live->stale_count += eighth;
	return samples_forget(live, MIN(eighth, live->kept_count),
			      live->stale_count * 2 >= live->limits.samples);
}

/* The contents of a live store, apart from its locks and settings. */
struct contents {
	struct code_list *codes;
	struct live_kept *kept;
	struct live_tables tables;
	struct table processes;
	struct live_view *view;
};

static void contents_done(struct contents *contents)
{
	live_view_unref(contents->view);
	live_tables_done(&contents->tables);
	table_done(&contents->processes);
	code_list_free(contents->codes);
	live_kept_unref(contents->kept);
}

static void contents_swap(struct live *live, struct contents *contents)
{
	struct contents old = { live->codes, live->kept, live->tables, live->processes,
				live->view };

	live->codes = contents->codes;
	live->kept = contents->kept;
	live->tables = contents->tables;
	live->processes = contents->processes;
	live->view = contents->view;
	*contents = old;
	live->counts.forgotten = live->counts.seen;
	live->kept_count = live->stale_count = 0;
	live->latest_ns = live->late_ns = 0;
	live->generation++;
}

int live_restart(struct live *live)
{
	struct contents contents = { .codes = code_list_new(),
				     .kept = live_kept_new(live->limits.samples) };
	int r = live_tables_init(&contents.tables) || !contents.codes || !contents.kept ? -ENOMEM
											: 0;

	if (!r) {
		pthread_mutex_lock(&live->reading);
		live_lock_later(live);
		contents_swap(live, &contents);
		live_unlock(live);
		pthread_mutex_unlock(&live->reading);
	}
	contents_done(&contents);
	return r;
}
