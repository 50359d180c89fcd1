/*
 * Follows the live model.  Names are resolved here, a few at a time, so that samples need not wait
 * long.
 */
#include "host/top/live_view.h"

#include "host/core/room.h"
#include "host/core/text/path.h"
#include "host/model/samples/languages.h"
#include "host/top/live_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_AT_ONCE 16u

/* Processes are not its own. */
static void model_drop(struct model *model)
{
	if (model)
		model->process_count = 0;
	model_free(model);
}

int live_view_update(struct live *live)
{
	int r = live_view_follow(live);

	return r ? r : live_view_name(live);
}

void live_view_done(struct live_view *view)
{
	live_kept_unref(view->kept);
	table_done(&view->threads);
	model_drop(view->model);
	*view = (struct live_view){ 0 };
}

static int view_begin(struct live_view *view, unsigned generation, bool is_system_wide)
{
	*view = (struct live_view){ .generation = generation,
				    .model = calloc(1, sizeof(*view->model)) };
	if (!view->model)
		return -ENOMEM;
	view->model->samples = samples_new();
	if (!view->model->samples)
		return -ENOMEM;
	view->model->samples->flags = is_system_wide ? SAMPLING_SYSTEM_WIDE : 0;
	return 0;
}

static int processes_follow(struct model *to, const struct model *from)
{
	struct model_process **longer;

	if (to->process_count == from->process_count)
		return 0;
	longer = reallocarray(to->processes, from->process_count, sizeof(struct model_process *));
	if (!longer)
		return -ENOMEM;
	memcpy(longer, from->processes, from->process_count * sizeof(struct model_process *));
	to->processes = longer;
	to->process_count = from->process_count;
	return 0;
}

static int thread_copy(struct live_view *view, const struct model_thread *thread)
{
	bool is_new;
	struct table_entry *entry = table_make(&view->threads, (uint64_t)thread->tid, 0, &is_new);

	if (!entry || live_thread_add(view->model, &view->thread_room, thread->process, thread->tid,
				      thread->name))
		return -ENOMEM;
	entry->value = thread->number;
	return 0;
}

static int names_follow(struct model *to, const struct model *from)
{
	for (uint32_t i = 0; i < to->thread_count; i++) {
		char *name = strdup(from->threads[i]->name);

		if (!name)
			return -ENOMEM;
		free(to->threads[i]->name);
		to->threads[i]->name = name;
	}
	return 0;
}

static int threads_follow(struct live *live)
{
	const struct model *from = live->tables.model;
	struct model *to = live->view.model;
	int r = 0;

	if (live->view.renames != live->renames)
		r = names_follow(to, from);
	live->view.renames = live->renames;
	while (!r && to->thread_count < from->thread_count)
		r = thread_copy(&live->view, from->threads[to->thread_count]);
	return r;
}

static int stacks_follow(struct samples *to, const struct samples *from)
{
	while (to->stack_room < from->stack_count)
		if (make_room(&to->stacks, to->stack_room, &to->stack_room, sizeof(*to->stacks)))
			return -ENOMEM;
	while (to->frame_room < from->frame_count)
		if (make_room(&to->frames, to->frame_room, &to->frame_room, sizeof(*to->frames)))
			return -ENOMEM;
	if (from->stack_count > to->stack_count)
		memcpy(to->stacks + to->stack_count, from->stacks + to->stack_count,
		       (from->stack_count - to->stack_count) * sizeof(*to->stacks));
	if (from->frame_count > to->frame_count)
		memcpy(to->frames + to->frame_count, from->frames + to->frame_count,
		       (from->frame_count - to->frame_count) * sizeof(*to->frames));
	to->stack_count = from->stack_count;
	to->frame_count = from->frame_count;
	return 0;
}

static int code_add(struct samples *samples, const struct recorded_code *recorded, bool full_paths)
{
	struct sample_code code = { .kind = (enum code_kind)recorded->kind,
				    .process = recorded->process,
				    .build_id_size = recorded->build_id_size,
				    .path = pool_keep(&samples->texts, recorded->path) };

	if (!code.path || make_room(&samples->codes, samples->code_count, &samples->code_room,
				    sizeof(*samples->codes)))
		return -ENOMEM;
	memcpy(code.build_id, recorded->build_id, sizeof(code.build_id));
	code.name =
		full_paths ? language_path(code.path) : path_base_name(language_path(code.path));
	samples->codes[samples->code_count++] = code;
	return 0;
}

static int codes_follow(struct live *live)
{
	struct samples *samples = live->view.model->samples;
	int r = 0;

	while (!r && samples->code_count < code_list_count(live->codes))
		r = code_add(samples, code_list_code(live->codes, (uint32_t)samples->code_count),
			     live->full_paths);
	return r;
}

static void kept_follow(struct live *live)
{
	if (live->view.kept != live->kept) {
		live_kept_unref(live->view.kept);
		live->view.kept = live_kept_ref(live->kept);
	}
	live->view.kept_count = live->kept_count;
	live->view.late_ns = live->late_ns;
	live->view.forgotten = live->counts.forgotten;
}

static int view_copy(struct live *live)
{
	struct live_view *view = &live->view;
	int r = processes_follow(view->model, live->tables.model);

	if (!r)
		r = threads_follow(live);
	if (!r)
		r = codes_follow(live);
	if (!r)
		r = stacks_follow(view->model->samples, live->tables.model->samples);
	if (!r)
		kept_follow(live);
	return r;
}

int live_view_follow(struct live *live)
{
	struct live_view former = { 0 };
	int r = 0;

	live_lock_later(live);
	if (!live->view.model || live->view.generation != live->generation) {
		former = live->view;
		r = view_begin(&live->view, live->generation, !live->pid);
	}
	if (!r)
		r = view_copy(live);
	live_unlock(live);
	live_view_done(&former);
	if (r)
		live_view_done(&live->view);
	return r;
}

static int frame_name(struct live *live, struct sample_frame *frame)
{
	struct recorded_name names[FRAME_NAMES_MAX];
	uint32_t count;
	bool is_named;

	if (code_list_name(live->codes,
			   &(struct recorded_frame){ frame->code, frame->is_return, frame->address,
						     frame->version },
			   /* wants_lines */ false, names, &count, &is_named))
		return -ENOMEM;
	frame->is_unnamed = !is_named;
	if (frame->location_count && !is_named)
		return 0;
	return samples_set_names(live->view.model->samples, frame, names, count);
}

/* A runtime may name its code later. */
static bool is_told_later(const struct samples *samples, const struct sample_frame *frame)
{
	return frame->is_unnamed && samples->codes[frame->code].kind == CODE_JIT;
}

static int made_code_name(struct live *live)
{
	struct samples *samples = live->view.model->samples;
	int r = 0;

	live_lock_later(live);
	code_list_follow(live->codes);
	live_unlock(live);
	for (size_t i = 0; !r && i < live->view.named_count; i++) {
		if (!is_told_later(samples, &samples->frames[i]))
			continue;
		live_lock_later(live);
		r = frame_name(live, &samples->frames[i]);
		live_unlock(live);
	}
	return r;
}

int live_view_name(struct live *live)
{
	struct samples *samples = live->view.model->samples;
	size_t *at = &live->view.named_count;
	int r = made_code_name(live);

	while (!r && *at < samples->frame_count) {
		live_lock_later(live);
		for (unsigned i = 0; !r && i < NAMES_AT_ONCE && *at < samples->frame_count; i++)
			r = frame_name(live, &samples->frames[(*at)++]);
		live_unlock(live);
	}
	return r;
}
