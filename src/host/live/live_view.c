/*
 * The readers' view, which follows a live store.  Names are resolved here, a few at a time, so that
 * samples need not wait long.
 */
#include "host/live/live_private.h"

#include "host/core/room.h"
#include "host/core/text/path.h"
#include "host/core/text/text.h"
#include "host/model/samples/languages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_AT_ONCE 16u

void live_view_unref(struct live_view *view)
{
	if (!view || atomic_fetch_sub(&view->refs, 1) != 1)
		return;
	live_kept_unref(view->kept);
	table_done(&view->threads);
	call_tree_done(&view->trees[0]);
	call_tree_done(&view->trees[1]);
	if (view->model)
		view->model->process_count = 0; /* they are the store's */
	model_free(view->model);
	free(view);
}

static struct live_view *view_new(const struct live *live)
{
	struct live_view *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	atomic_init(&view->refs, 1);
	view->generation = live->generation;
	view->model = calloc(1, sizeof(*view->model));
	if (view->model)
		view->model->samples = samples_new();
	if (view->model && view->model->samples) {
		view->model->samples->flags = live->pid ? 0 : SAMPLING_SYSTEM_WIDE;
		return view;
	}
	live_view_unref(view);
	return NULL;
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

static int threads_follow(struct live *live)
{
	const struct model *from = live->tables.model;
	struct model *to = live->view->model;
	bool is_renamed = live->view->renames != live->renames;
	int r = 0;

	for (uint32_t i = 0; !r && is_renamed && i < to->thread_count; i++)
		r = text_set(&to->threads[i]->name, from->threads[i]->name);
	live->view->renames = live->renames;
	while (!r && to->thread_count < from->thread_count)
		r = thread_copy(live->view, from->threads[to->thread_count]);
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
	struct samples *samples = live->view->model->samples;
	int r = 0;

	while (!r && samples->code_count < code_list_count(live->codes))
		r = code_add(samples, code_list_code(live->codes, (uint32_t)samples->code_count),
			     live->full_paths);
	return r;
}

/* Everything that was added since the last time. */
static int view_copy(struct live *live)
{
	struct live_view *view = live->view;
	int r = processes_follow(view->model, live->tables.model);

	if (!r)
		r = threads_follow(live);
	if (!r)
		r = codes_follow(live);
	if (!r)
		r = stacks_follow(view->model->samples, live->tables.model->samples);
	if (r)
		return r;
	if (view->kept != live->kept) {
		live_kept_unref(view->kept);
		view->kept = live->kept;
		atomic_fetch_add(&view->kept->refs, 1);
	}
	view->kept_count = live->kept_count;
	view->late_ns = live->late_ns;
	view->forgotten = live->counts.forgotten;
	return 0;
}

/* A view that could not be copied whole is made anew the next time. */
static int view_follow(struct live *live)
{
	struct live_view *former = NULL;
	int r = 0;

	live_lock_later(live);
	if (!live->view || live->view->generation != live->generation) {
		former = live->view;
		live->view = view_new(live);
	}
	r = live->view ? view_copy(live) : -ENOMEM;
	live_unlock(live);
	live_view_unref(former);
	if (r) {
		live_view_unref(live->view);
		live->view = NULL;
	}
	return r;
}

int live_frame_names(struct live *live, const struct sample_frame *frame, bool wants_lines,
		     struct recorded_name ret[FRAME_NAMES_MAX], uint32_t *ret_count,
		     bool *ret_is_named)
{
	const struct recorded_frame recorded = { frame->code, frame->is_return, frame->address,
						 frame->version };

	return code_list_name(live->codes, &recorded, wants_lines, ret, ret_count, ret_is_named);
}

/* Trees have the names that a frame had before: they are built again. */
static int frame_name(struct live *live, struct sample_frame *frame)
{
	struct recorded_name names[FRAME_NAMES_MAX];
	uint32_t count;
	bool is_named;

	if (live_frame_names(live, frame, /* wants_lines */ false, names, &count, &is_named))
		return -ENOMEM;
	frame->is_unnamed = !is_named;
	if (frame->location_count && !is_named)
		return 0;
	if (frame->location_count) {
		call_tree_done(&live->view->trees[0]);
		call_tree_done(&live->view->trees[1]);
	}
	return samples_set_names(live->view->model->samples, frame, names, count);
}

/* A runtime may have named its code since. */
static int made_code_name(struct live *live)
{
	struct samples *samples = live->view->model->samples;
	int r = 0;

	live_lock_later(live);
	code_list_follow(live->codes);
	live_unlock(live);
	for (size_t i = 0; !r && i < live->view->named_count; i++) {
		struct sample_frame *frame = &samples->frames[i];

		if (!frame->is_unnamed || samples->codes[frame->code].kind != CODE_JIT)
			continue;
		live_lock_later(live);
		r = frame_name(live, frame);
		live_unlock(live);
	}
	return r;
}

int live_view_update(struct live *live)
{
	int r = view_follow(live);
	struct samples *samples = r ? NULL : live->view->model->samples;
	size_t *at = r ? NULL : &live->view->named_count;

	if (r || live->names_on_request)
		return r;
	r = made_code_name(live);
	while (!r && *at < samples->frame_count) {
		live_lock_later(live);
		for (unsigned i = 0; !r && i < NAMES_AT_ONCE && *at < samples->frame_count; i++)
			r = frame_name(live, &samples->frames[(*at)++]);
		live_unlock(live);
	}
	return r;
}
