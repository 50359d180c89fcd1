/*
 * Follows blocks of memory through a recording.
 */
#include "host/model/calls/allocations.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>

/* Above it are error numbers: mmap's failure. */
#define ADDRESS_END (UINT64_MAX - 4095)

int allocations_init(struct allocations *ret, const struct model *model)
{
	*ret = (struct allocations){ .sample = model->alloc_sample };
	ret->outer_end_ns = calloc(MAX(model->thread_count, 1u), sizeof(*ret->outer_end_ns));
	return ret->outer_end_ns ? 0 : -ENOMEM;
}

static int add_site(struct allocations *self, const struct call *call)
{
	if (make_room(&self->sites, self->site_count, &self->site_room, sizeof(*self->sites)))
		return -ENOMEM;
	self->sites[self->site_count++] = (struct allocation_site){ .process = call->process,
								    .function = call->function,
								    .thread = call->thread,
								    .begin_ns = call->begin_ns,
								    .stack = call->stack,
								    .stack_end = call->stack_end };
	return 0;
}

/* Functions are numbered through all processes, stacks and threads through the recording. */
static int find_site(struct allocations *self, const struct call *call, uint32_t *ret)
{
	uint64_t thread = self->is_by_thread ? call->thread->number + 1ull : 0;
	bool is_new;
	struct table_entry *entry =
		table_make(&self->by_site, (uint64_t)call->function_number << 32 | call->stack,
			   thread << 8 | call->stack_end, &is_new);

	if (!entry)
		return -ENOMEM;
	if (is_new)
		entry->value = self->site_count;
	*ret = (uint32_t)entry->value;
	return is_new ? add_site(self, call) : 0;
}

static void sift_up(struct coming_block *heap, size_t at)
{
	while (at && heap[at].end_ns < heap[(at - 1) / 2].end_ns) {
		struct coming_block other = heap[at];

		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = other;
		at = (at - 1) / 2;
	}
}

static void sift_down(struct coming_block *heap, size_t count)
{
	for (size_t at = 0, least;; at = least) {
		least = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
			if (heap[child].end_ns < heap[least].end_ns)
				least = child;
		if (least == at)
			return;
		struct coming_block other = heap[at];

		heap[at] = heap[least];
		heap[least] = other;
	}
}

static int expect_block(struct allocations *self, const struct coming_block *block)
{
	if (make_room(&self->coming, self->coming_count, &self->coming_room, sizeof(*self->coming)))
		return -ENOMEM;
	self->coming[self->coming_count++] = *block;
	sift_up(self->coming, self->coming_count - 1);
	return 0;
}

/* Adds the estimate for a block of this size, or subtracts it. */
static void count_live(struct allocations *self, uint64_t number, uint64_t size, double sign)
{
	struct allocation_site *site = &self->sites[number];
	double blocks = sign * sample_blocks(size, self->sample);

	site->live_blocks += blocks;
	site->live_bytes += blocks * (double)size;
}

static int get_block(struct allocations *self, const struct coming_block *block)
{
	bool is_new;
	struct table_entry *entry =
		table_make(&self->blocks, block->address, block->process, &is_new);

	if (!entry)
		return -ENOMEM;
	/* Its release was not seen: dropped, or done by means that are not traced. */
	if (!is_new)
		count_live(self, entry->value, entry->more, -1);
	entry->value = block->site;
	entry->more = block->size;
	count_live(self, block->site, block->size, 1);
	return 0;
}

/* Adds the blocks of all calls that ended before that time. */
static int get_blocks_until(struct allocations *self, uint64_t time_ns)
{
	int r = 0;

	while (!r && self->coming_count && self->coming[0].end_ns < time_ns) {
		struct coming_block block = self->coming[0];

		self->coming[0] = self->coming[--self->coming_count];
		sift_down(self->coming, self->coming_count);
		r = get_block(self, &block);
	}
	return r;
}

static int give_back(struct allocations *self, const struct call *call, uint64_t address)
{
	struct table_entry *entry = table_find(&self->blocks, address, call->process->number);

	/* Allocated and freed within one tick. */
	if (!entry) {
		int r = get_blocks_until(self, call->begin_ns + 1);

		if (r)
			return r;
		entry = table_find(&self->blocks, address, call->process->number);
	}
	if (!entry) {
		/* Of samples, most are strangers by design: their old block was none. */
		self->strangers += !self->sample;
		return 0;
	}
	count_live(self, entry->value, entry->more, -1);
	table_remove(&self->blocks, entry);
	return 0;
}

/* operator new calls malloc: the outer call counts.  For samples, the tracer ensures that. */
static bool is_inside_another(struct allocations *self, const struct call *call)
{
	uint64_t *outer_end_ns = &self->outer_end_ns[call->thread->number];

	if (self->sample)
		return false;
	if (call->begin_ns < *outer_end_ns && call->end_ns <= *outer_end_ns)
		return true;
	*outer_end_ns = call->end_ns;
	return false;
}

static int allocations_get(struct allocations *self, const struct call *call, uint64_t address,
			   uint64_t size)
{
	struct coming_block block = { call->end_ns, address, size, 0, call->process->number };
	int r = find_site(self, call, &block.site);
	double blocks;

	if (r)
		return r;
	blocks = sample_blocks(size, self->sample);
	self->sites[block.site].records++;
	self->sites[block.site].calls += blocks;
	self->sites[block.site].bytes += blocks * (double)size;
	return expect_block(self, &block);
}

int allocations_take(struct allocations *self, const struct call *call)
{
	uint64_t address = 0, old = 0, size = 0, result = 0;
	bool is_gotten, is_returned;
	int r;

	if (call->function->domain != DOMAIN_ALLOC || is_inside_another(self, call))
		return 0;
	is_returned = call_value(call, VALUE_OLD_ADDRESS, &old) && old;
	is_gotten = call_value(call, VALUE_ADDRESS, &address);
	call_value(call, VALUE_SIZE, &size);
	/* A failed reallocation keeps the old block. */
	if (is_gotten && (address >= ADDRESS_END || (!address && size)))
		return 0;
	/* So does munmap. */
	if (call_value(call, VALUE_RESULT, &result) && (int64_t)result < 0)
		return 0;
	r = get_blocks_until(self, call->begin_ns);
	if (!r && is_returned)
		r = give_back(self, call, old);
	/* A sample has a stack; without one, only the old block was. */
	if (self->sample && !call->has_stack)
		is_gotten = false;
	return !r && is_gotten && address ? allocations_get(self, call, address, size) : r;
}

static int by_bytes(const void *left, const void *right)
{
	const struct allocation_site *a = left, *b = right;

	if (a->live_bytes != b->live_bytes)
		return a->live_bytes > b->live_bytes ? -1 : 1;
	return a->bytes > b->bytes ? -1 : a->bytes < b->bytes;
}

int allocations_finish(struct allocations *self)
{
	int r = get_blocks_until(self, UINT64_MAX);

	if (self->site_count)
		qsort(self->sites, self->site_count, sizeof(*self->sites), by_bytes);
	return r;
}

void allocations_done(struct allocations *self)
{
	free(self->sites);
	free(self->coming);
	free(self->outer_end_ns);
	table_done(&self->by_site);
	table_done(&self->blocks);
}
