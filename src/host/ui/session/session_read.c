/*
 * Passes the samples of a range to readers.
 */
#include "host/ui/session/session.h"

#include <errno.h>
#include <stdlib.h>

static const unsigned kind_bits[UI_KINDS] = {
	[UI_CPU] = KINDS_ON_CPU,
	[UI_OFF_CPU] = KINDS_OFF_CPU,
	[UI_RUNNABLE] = KIND_BIT(SAMPLE_RUNNABLE),
	[UI_WALL] = KINDS_ALL,
};

unsigned ui_sample_kinds(enum ui_kind kind)
{
	return kind_bits[kind];
}

struct reading {
	struct slice slice;
	slice_reader *read;
	void *context;
	bool *is_wanted;
	const struct ui_range *range;
	struct ui_session *session;
	bool is_calls; /* the samples are made of its calls */
};

/* The session's number of a thread of the model; -1: none. */
static int64_t thread_number(const struct reading *self, uint32_t i)
{
	return self->is_calls
		       ? ui_session_thread(self->session, i, self->slice.model->threads[i]->tid)
		       : (int64_t)i;
}

static int threads_choose(struct reading *self)
{
	uint32_t threads = self->slice.model->thread_count;

	if (!self->range->thread_count)
		return 0;
	self->is_wanted = calloc(threads + 1u, sizeof(*self->is_wanted));
	if (!self->is_wanted)
		return -ENOMEM;
	for (uint32_t i = 0; i < threads; i++)
		for (uint32_t j = 0; j < self->range->thread_count; j++)
			self->is_wanted[i] |=
				thread_number(self, i) == (int64_t)self->range->threads[j];
	self->slice.is_wanted = self->is_wanted;
	return 0;
}

static int reading_run(struct reading *self)
{
	int r = threads_choose(self);

	if (!r)
		r = self->read(&self->slice, self->context);
	free(self->is_wanted);
	return r;
}

static int live_slice_read(struct model *model, void *context)
{
	struct reading *self = context;

	self->slice.model = model;
	self->slice.items = model->samples->kept;
	self->slice.count = model->samples->kept_count;
	self->slice.trees = live_trees(self->session->live);
	return reading_run(self);
}

static int store_slice_read(struct store *store, struct reading *self)
{
	size_t first;

	store->is_read = true;
	if (store_has_sums(store))
		self->slice.store = store;
	self->slice.model = store->model;
	self->slice.trees = store->trees;
	self->slice.is_points = store->is_points;
	self->slice.count = store_find(store, self->slice.from_ns, self->slice.to_ns, &first);
	self->slice.items = store->items ? store->items + first : NULL;
	return reading_run(self);
}

static struct reading reading_of(struct ui_session *self, const struct ui_range *range,
				 unsigned kinds, slice_reader *read, void *context)
{
	uint64_t end_ns = self->origin_ns + ui_session_end_ns(self);

	return (struct reading){
		.slice = { .origin_ns = self->origin_ns,
			   .from_ns = self->origin_ns + range->from_ns,
			   .to_ns = range->to_ns ? self->origin_ns + range->to_ns : end_ns + 1,
			   .end_ns = end_ns,
			   .kinds = kinds },
		.read = read,
		.context = context,
		.range = range,
		.session = self,
	};
}

int ui_session_read(struct ui_session *self, const struct ui_range *range, unsigned kinds,
		    slice_reader *read, void *context)
{
	struct reading reading = reading_of(self, range, kinds, read, context);

	if (!ui_session_is_live(self))
		return store_slice_read(&self->store, &reading);
	return live_read_around(self->live, reading.slice.from_ns, live_slice_read, &reading);
}

/* Where there are no calls, there is an empty slice. */
static int calls_slice_read(struct ui_session *self, enum ui_kind kind, struct reading *reading)
{
	struct samples no_samples = { 0 };
	struct model no_model = { .samples = &no_samples };
	struct store *samples = calls_samples(&self->calls, kind - UI_ALLOC);

	if (!samples)
		return -ENOMEM;
	reading->is_calls = true;
	if (samples->model)
		return store_slice_read(samples, reading);
	reading->slice.model = &no_model;
	return reading_run(reading);
}

int ui_session_follow_kind(struct ui_session *self, enum ui_kind kind, struct err *err)
{
	return ui_sample_kinds(kind) ? 0 : ui_session_spans(self, err);
}

int ui_session_read_kind(struct ui_session *self, const struct ui_range *range, enum ui_kind kind,
			 slice_reader *read, void *context)
{
	struct reading reading = reading_of(self, range, KIND_BIT(SAMPLE_RUNNING), read, context);

	if (ui_sample_kinds(kind))
		return ui_session_read(self, range, ui_sample_kinds(kind), read, context);
	return calls_slice_read(self, kind, &reading);
}

bool ui_session_has_off_cpu(const struct ui_session *self)
{
	const struct samples *samples;

	if (ui_session_is_live(self))
		return self->wish.off_cpu;
	samples = self->store.model->samples;
	return samples->kinds[SAMPLE_BLOCKED] || samples->kinds[SAMPLE_RUNNABLE];
}

static int first_stacks_read(const struct slice *slice, void *context)
{
	return store_grow_tree(context, slice, &(struct call_tree_options){ 0 });
}

/* Prepares calls if there are no samples: they take longer.  Sums are made after a picture, and
 * this is none. */
void ui_session_prepare(struct ui_session *self)
{
	static const struct ui_range all = { .to_ns = UINT64_C(1) << 62 };

	if (ui_session_is_live(self))
		return;
	if (!self->store.count)
		(void)!ui_session_spans(self, &(struct err){ 0 });
	(void)!ui_session_read(self, &all, KINDS_ALL, first_stacks_read, &self->store.trees[0]);
	self->store.is_read = false;
}

void ui_session_settle(struct ui_session *self)
{
	store_add_up(&self->store);
	for (unsigned i = 0; i < CALL_WEIGHTS; i++)
		store_add_up(&self->calls.samples[i]);
}

const char *ui_kind_unit(enum ui_kind kind)
{
	return kind == UI_ALLOC ? "bytes" : "ns";
}

const char *ui_kind_empty(enum ui_kind kind)
{
	static const char *const texts[UI_KINDS] = {
		[UI_ALLOC] = "no traced allocation is in this range",
		[UI_GPU] = "no work of devices is in this range",
		[UI_LOCK] = "no traced call of locks is in this range",
		[UI_IO] = "no traced call of I/O is in this range",
	};

	return texts[kind] ? texts[kind] : "no sample of this kind is in this range";
}
