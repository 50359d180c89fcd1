/*
 * Loads recordings.
 */
#include "host/live/store/store.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/self/address_space.h"
#include "host/core/sorted.h"
#include "host/core/table.h"
#include "host/core/threads/quiet_thread.h"
#include "host/model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define BLOCK 1024u
#define NICE  10
#define LARGE ((size_t)64 << 20) /* bytes */
/* The size of a stack in trees and sums, about. */
#define STACK_BYTES 320u

static uint64_t clock_difference(const struct model *model)
{
	return model->first.boot_ns - model->first.monotonic_ns;
}

/* Uses large pages, which are faster to allocate.  By then it is a mapping of its own; the whole of
 * it is advised, so that it can still grow. */
static void items_enlarge_pages(const struct store *self)
{
	const uintptr_t page = 4096;
	uintptr_t begin = (uintptr_t)self->items & ~(page - 1);
	uintptr_t end = ALIGN_UP((uintptr_t)(self->items + self->room), page);

	if (end - begin > LARGE)
		(void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

/* With as many samples more.  Only stacks that samples have cost more than their numbers. */
static bool is_too_large(const struct store *self, size_t more)
{
	uint64_t samples = self->count + more;
	uint64_t stacks = self->model ? self->model->samples->stack_count : 0;

	return self->bytes_max &&
	       samples * sizeof(*self->items) + MIN(samples, stacks) * STACK_BYTES >
		       self->bytes_max;
}

static uint64_t begin_of(const struct store *self, const struct recorded_sample *sample)
{
	return self->is_points ? sample->time_ns : sample->time_ns - sample->weight_ns;
}

/* And of their blocks. */
static int blocks_reserve(struct store *self, size_t samples)
{
	while (self->block_room < samples / BLOCK + 2)
		if (make_room(&self->block_begins, self->block_room, &self->block_room,
			      sizeof(*self->block_begins)))
			return -ENOMEM;
	return 0;
}

/* Room for more. */
static int items_reserve(struct store *self, size_t count)
{
	if (self->room - self->count >= count)
		return 0;
	self->is_full = is_too_large(self, count);
	if (self->is_full)
		return -ENOMEM;
	while (self->room - self->count < count)
		if (make_room(&self->items, self->room, &self->room, sizeof(*self->items)))
			return -ENOMEM;
	items_enlarge_pages(self);
	return 0;
}

/* Notes one sample while it is in the processor's caches: another pass over all of them would take
 * as long as reading them. */
static void item_note(struct store *self, const struct recorded_sample *item)
{
	uint64_t *block = &self->block_begins[self->noted / BLOCK];
	uint64_t begin_ns = begin_of(self, item);

	*block = self->noted % BLOCK ? MIN(*block, begin_ns) : begin_ns;
	self->is_unsorted = self->is_unsorted || item->time_ns < self->latest_ns;
	self->latest_ns = item->time_ns;
	self->noted++;
}

static int samples_keep(void *context, const struct recorded_sample *samples, size_t count)
{
	struct store *self = context;

	if (items_reserve(self, count) || blocks_reserve(self, self->count + count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct recorded_sample *item = &self->items[self->count++];

		*item = samples[i];
		item->weight_ns = MIN(item->weight_ns, item->time_ns);
		item_note(self, item);
	}
	return 0;
}

static int by_end(const void *left, const void *right)
{
	const struct recorded_sample *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* Samples are nearly in order, each processor's after another's: stretches between two moments that
 * separate all earlier from all later ones are sorted separately.  `least` has for each block the
 * least end of it and all later ones. */
static void items_sort(struct store *self, const uint64_t *least)
{
	uint64_t latest = 0;
	size_t begin = 0;
	bool is_sorted = true;

	for (size_t i = 0; i < self->count; i++) {
		if (i % BLOCK == 0 && least[i / BLOCK] >= latest) {
			if (!is_sorted)
				qsort(self->items + begin, i - begin, sizeof(*self->items), by_end);
			begin = i;
			is_sorted = true;
		}
		is_sorted = is_sorted && self->items[i].time_ns >= latest;
		latest = MAX(latest, self->items[i].time_ns);
	}
	if (!is_sorted)
		qsort(self->items + begin, self->count - begin, sizeof(*self->items), by_end);
}

/* Of each block and all later ones; there is one more than blocks. */
static void later_find(const uint64_t *of_blocks, size_t blocks, uint64_t *of_later)
{
	of_later[blocks] = UINT64_MAX;
	for (size_t block = blocks; block-- > 0;)
		of_later[block] = MIN(of_later[block + 1], of_blocks[block]);
}

static void blocks_find(struct store *self, bool by_ends)
{
	for (size_t block = 0; block < self->count / BLOCK + 1; block++) {
		uint64_t least = UINT64_MAX;

		for (size_t i = block * BLOCK; i < MIN((block + 1) * BLOCK, self->count); i++)
			least = MIN(least, by_ends ? self->items[i].time_ns
						   : begin_of(self, &self->items[i]));
		self->block_begins[block] = least;
	}
}

static void items_order(struct store *self)
{
	size_t blocks = self->count / BLOCK + 1;

	blocks_find(self, /* by_ends */ true);
	later_find(self->block_begins, blocks, self->least_begins);
	items_sort(self, self->least_begins);
	blocks_find(self, /* by_ends */ false);
}

int store_prepare(struct store *self)
{
	size_t blocks = self->count / BLOCK + 1;

	self->least_begins = calloc(blocks + 1, sizeof(*self->least_begins));
	if (!self->least_begins || blocks_reserve(self, self->count))
		return -ENOMEM;
	if (self->count % BLOCK == 0)
		self->block_begins[blocks - 1] = UINT64_MAX;
	if (self->noted < self->count || self->is_unsorted)
		items_order(self);
	later_find(self->block_begins, blocks, self->least_begins);
	return 0;
}

/* Stack number and one, so that samples without a frame have cells too; and whether the outermost
 * frame was reached. */
uint32_t store_stack_cell(const struct recorded_sample *sample)
{
	return (sample->stack + 1u) * 2 + (sample->end != STACK_COMPLETE);
}

/* Thread number, whether it waited for a disk, and whether the stack is incomplete. */
uint32_t store_thread_cell(const struct recorded_sample *sample)
{
	bool is_disk = sample->kind == SAMPLE_BLOCKED && sample->state == 'D';

	return sample->thread * 4u + is_disk * 2u + (sample->end != STACK_COMPLETE);
}

/* Waits for the first pictures, which need the processors, too. */
static void *sums_make(void *argument)
{
	struct store *self = argument;
	size_t stacks = (self->model->samples->stack_count + 1) * 2;
	size_t threads = (size_t)self->model->thread_count * 4;

	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	self->is_added =
		!sums_build(&self->stacks, store_stack_cell, stacks, self->items, self->count) &&
		!sums_build(&self->threads, store_thread_cell, threads, self->items, self->count);
	return NULL;
}

bool store_has_sums(const struct store *self)
{
	return self->is_added;
}

void store_wait(struct store *self)
{
	if (self->is_adding && !self->is_joined)
		pthread_join(self->adding, NULL);
	self->is_joined = self->is_adding;
}

void store_add_up(struct store *self)
{
	if (self->is_read && !self->is_adding && self->count >= SUMS_BLOCK)
		self->is_adding = !quiet_thread(&self->adding, sums_make, self);
}

static int sampled_note(struct table *table, const struct model_thread *thread)
{
	bool is_new;
	struct table_entry *entry =
		table_make(table, thread->process->number, (uint64_t)thread->tid, &is_new);

	if (entry && is_new)
		entry->value = thread->number;
	return entry ? 0 : -ENOMEM;
}

/* The sampler and the tracer add a thread of the model each; the sampler adds one for each thread
 * number, also when the system reuses it. */
static int sampled_find(struct store *self)
{
	const struct model *model = self->model;
	struct table table = { 0 };
	int r = 0;

	self->sampled = calloc((size_t)model->thread_count + 1, sizeof(*self->sampled));
	for (uint32_t i = 0; !r && i < model->thread_count; i++)
		if (model->threads[i]->samples)
			r = sampled_note(&table, model->threads[i]);
	for (uint32_t i = 0; !r && self->sampled && i < model->thread_count; i++) {
		const struct model_thread *thread = model->threads[i];
		const struct table_entry *entry =
			thread->samples ? NULL
					: table_find(&table, thread->process->number,
						     (uint64_t)thread->tid);

		self->sampled[i] = entry ? (uint32_t)entry->value : i;
	}
	table_done(&table);
	return self->sampled ? r : -ENOMEM;
}

static int store_fill(struct store *self)
{
	struct model_span span = model_span(self->model);
	int r = model_name_late(self->model);

	if (!r)
		r = sampled_find(self);

	self->begin_ns = span.begin_ns - clock_difference(self->model);
	self->end_ns = MAX(span.end_ns, span.begin_ns) - clock_difference(self->model);
	return r ? r : store_prepare(self);
}

static int store_refuse(const struct store *self, const char *path, struct err *err)
{
	err_set(err, -EFBIG, "open '%s': its samples take more than %llu MiB", path,
		(unsigned long long)self->bytes_max >> 20);
	err_why(err, "a recording may take half of the memory that is left");
	return err_fix(err, "limpet report FILE --from TIME --to TIME reads a part of it");
}

int store_open(struct store *ret, const char *path, struct err *err)
{
	const struct sample_watcher watcher = { samples_keep, ret };
	int r;

	*ret = (struct store){ .bytes_max = memory_left() / STORE_MEMORY_PART };
	r = model_open_watched(path, &watcher, &ret->model, err);
	if (ret->is_full || (!r && is_too_large(ret, 0)))
		r = store_refuse(ret, path, err);
	if (!r && store_fill(ret))
		r = err_set(err, -ENOMEM, "open '%s': no memory", path);
	if (r)
		store_close(ret);
	return r;
}

void store_close(struct store *store)
{
	store_wait(store);
	sums_done(&store->stacks);
	sums_done(&store->threads);
	model_free(store->model);
	call_tree_done(&store->trees[0]);
	call_tree_done(&store->trees[1]);
	free(store->items);
	free(store->sampled);
	free(store->block_begins);
	free(store->least_begins);
	*store = (struct store){ 0 };
}

static uint64_t end_at(const void *items, size_t index)
{
	return ((const struct recorded_sample *)items)[index].time_ns;
}

static size_t ended_before(const struct store *self, uint64_t time_ns)
{
	return count_below(self->items, self->count, time_ns, end_at);
}

size_t store_find(const struct store *self, uint64_t from_ns, uint64_t to_ns, size_t *ret_first)
{
	size_t first = ended_before(self, from_ns), end = first;

	if (!self->count)
		return *ret_first = 0;
	while (end < self->count && self->least_begins[end / BLOCK] < to_ns)
		end = (end / BLOCK + 1) * BLOCK;
	*ret_first = first;
	return MIN(end, self->count) - MIN(first, self->count);
}

/* Adds samples [first, end) on an edge of the slice, by their part within. */
static void edge_add(const struct store *self, const struct sums *sums, const struct slice *slice,
		     size_t first, size_t end, struct sum *cells)
{
	struct piece piece;

	for (size_t i = first; i < end; i++)
		if (slice_piece(slice, &self->items[i], &piece))
			sum_add(&cells[sums->cell_of(&self->items[i])], piece.weight);
}

/* Samples [first, end) were added whole: subtracts their parts before the range. */
static void heads_subtract(const struct store *self, const struct sums *sums,
			   const struct slice *slice, size_t first, size_t end, struct sum *cells)
{
	struct piece piece;

	for (size_t i = first; i < end; i++) {
		const struct recorded_sample *sample = &self->items[i];
		struct sum *cell = &cells[sums->cell_of(sample)];

		if (self->block_begins[i / BLOCK] >= slice->from_ns) {
			i |= BLOCK - 1;
			continue;
		}
		if (begin_of(self, sample) >= slice->from_ns ||
		    !(slice->kinds & KIND_BIT(sample->kind)))
			continue;
		sum_subtract(cell, sample->weight_ns);
		if (slice_piece(slice, sample, &piece))
			sum_add(cell, piece.weight);
	}
}

/* Samples that end in the slice are added whole and their heads subtracted; those that end at its
 * first moment, at its end or later are handled one by one. */
void store_add(const struct store *self, const struct sums *sums, const struct slice *slice,
	       struct sum *cells)
{
	size_t first, count = store_find(self, slice->from_ns, slice->to_ns, &first);
	size_t inner = MAX(first, ended_before(self, slice->from_ns + 1));
	size_t inner_end = MAX(inner, ended_before(self, slice->to_ns));
	size_t end = first + count;

	edge_add(self, sums, slice, first, inner, cells);
	sums_add(sums, self->items, inner, inner_end, slice->kinds, cells);
	heads_subtract(self, sums, slice, inner, inner_end, cells);
	for (size_t block = inner_end / BLOCK; block * BLOCK < end; block++)
		if (self->block_begins[block] < slice->to_ns)
			edge_add(self, sums, slice, MAX(block * BLOCK, inner_end),
				 MIN((block + 1) * BLOCK, end), cells);
}

int store_grow_tree(struct call_tree *tree, const struct slice *all,
		    const struct call_tree_options *options)
{
	const struct tree_source source = { .model = all->model, .options = *options };
	size_t cells = (all->model->samples->stack_count + 1) * 2;
	CLEANUP(free) bool *is_there = calloc(cells, sizeof(*is_there));
	int r = !is_there ? -ENOMEM : tree->count ? 0 : call_tree_init(tree, /* sides */ 1);
	uint32_t node;

	for (size_t i = 0; !r && i < all->count; i++)
		is_there[store_stack_cell(&all->items[i])] = true;
	for (size_t i = 0; !r && i < cells; i++)
		if (is_there[i])
			r = call_tree_place(tree, &source,
					    &(struct profile_entry){
						    .stack = (uint32_t)(i / 2) - 1u,
						    .end = i % 2 ? STACK_CUT : STACK_COMPLETE },
					    &node);
	return r;
}
