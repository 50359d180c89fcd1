/*
 * Follows blocks of memory through a recording.
 *
 * Of sampled allocations sums are estimates.  The tracer counts bytes down from a random number,
 * exponential with mean R (target/domains/cpu/alloc.c), so a block of s bytes is written with the
 * chance p = 1 - exp(-s / R), independently of all others.  Counting each one that was written as
 * 1 / p blocks and s / p bytes gives the right sum on average, whatever the sizes are: small blocks
 * are rare and stand for about R bytes, one much larger than R is always there and stands for
 * itself.  The error of a sum over n samples of small blocks is about 1 / sqrt(n) of it.
 */
#include "host/model/calls/allocations.h"

#include "host/core/room.h"
#include "host/model/calls/call_sites.h"

#include <errno.h>
#include <stdlib.h>

/* Above it are error numbers: mmap's failure. */
#define ADDRESS_END (UINT64_MAX - 4095)

/* 1 - exp(-x).  For small x by its series; p(2x) = p(x) (2 - p(x)) leads to large ones.  Nothing
 * is subtracted from nearly the same, and no math library is needed. */
static double sampling_chance(double x)
{
	unsigned doublings = 0;
	double p;

	x = x < 64 ? x : 64; /* where it is 1 to the last digit */
	for (; x > 1.0 / 256; doublings++)
		x /= 2;
	p = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
	while (doublings--)
		p *= 2 - p;
	return p;
}

double sample_blocks(uint64_t size, uint64_t alloc_sample)
{
	return size && alloc_sample ? 1 / sampling_chance((double)size / (double)alloc_sample) : 1;
}

bool call_estimate(const struct call *call, double *ret_blocks, double *ret_bytes)
{
	uint64_t size = call_number(call, VALUE_SIZE), address;

	/* Calls without a stack only report the end of a sampled block. */
	if (!call->model->alloc_sample || !call->has_stack ||
	    call->function->domain != DOMAIN_ALLOC || !call_value(call, VALUE_ADDRESS, &address) ||
	    !size)
		return false;
	*ret_blocks = sample_blocks(size, call->model->alloc_sample);
	*ret_bytes = (double)size * *ret_blocks;
	return true;
}

int allocations_init(struct allocations *ret, const struct model *model)
{
	*ret = (struct allocations){ .sample = model->alloc_sample };
	ret->outer_end_ns = calloc(MAX(model->thread_count, 1u), sizeof(*ret->outer_end_ns));
	return ret->outer_end_ns ? 0 : -ENOMEM;
}

static void sift_up(struct pending_block *heap, size_t at)
{
	while (at && heap[at].end_ns < heap[(at - 1) / 2].end_ns) {
		struct pending_block other = heap[at];

		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = other;
		at = (at - 1) / 2;
	}
}

static void sift_down(struct pending_block *heap, size_t count)
{
	for (size_t at = 0, least;; at = least) {
		least = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
			if (heap[child].end_ns < heap[least].end_ns)
				least = child;
		if (least == at)
			return;
		struct pending_block other = heap[at];

		heap[at] = heap[least];
		heap[least] = other;
	}
}

static int block_expect(struct allocations *self, const struct pending_block *block)
{
	if (make_room(&self->pending, self->pending_count, &self->pending_room,
		      sizeof(*self->pending)))
		return -ENOMEM;
	self->pending[self->pending_count++] = *block;
	sift_up(self->pending, self->pending_count - 1);
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

static int block_begin(struct allocations *self, const struct pending_block *block)
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
static int blocks_begin_until(struct allocations *self, uint64_t time_ns)
{
	int r = 0;

	while (!r && self->pending_count && self->pending[0].end_ns < time_ns) {
		struct pending_block block = self->pending[0];

		self->pending[0] = self->pending[--self->pending_count];
		sift_down(self->pending, self->pending_count);
		r = block_begin(self, &block);
	}
	return r;
}

static int block_end(struct allocations *self, const struct call *call, uint64_t address)
{
	struct table_entry *entry = table_find(&self->blocks, address, call->process->number);

	/* Allocated and freed within one tick. */
	if (!entry) {
		int r = blocks_begin_until(self, call->begin_ns + 1);

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

static int block_add(struct allocations *self, const struct call *call, uint64_t address,
		     uint64_t size)
{
	double blocks = sample_blocks(size, self->sample);
	struct allocation_site *site =
		row_find(&self->by_site, call_site_key(call, self->is_by_thread), &self->sites,
			 &self->site_count, sizeof(*site));

	if (!site)
		return -ENOMEM;
	if (!site->function)
		*site = (struct allocation_site){ .process = call->process,
						  .function = call->function,
						  .thread = call->thread,
						  .begin_ns = call->begin_ns,
						  .stack = call->stack,
						  .stack_end = call->stack_end };
	site->records++;
	site->calls += blocks;
	site->bytes += blocks * (double)size;
	return block_expect(self, &(struct pending_block){ call->end_ns, address, size,
							   (uint32_t)(site - self->sites),
							   call->process->number });
}

int allocations_add(struct allocations *self, const struct call *call)
{
	uint64_t old = call_number(call, VALUE_OLD_ADDRESS);
	uint64_t address = call_number(call, VALUE_ADDRESS), size = call_number(call, VALUE_SIZE);
	int r;

	if (call->function->domain != DOMAIN_ALLOC || is_inside_another(self, call))
		return 0;
	/* A failed reallocation keeps the old block, and so does a failed munmap. */
	if (call_value(call, VALUE_ADDRESS, &address) &&
	    (address >= ADDRESS_END || (!address && size)))
		return 0;
	if ((int64_t)call_number(call, VALUE_RESULT) < 0)
		return 0;
	r = blocks_begin_until(self, call->begin_ns);
	if (!r && old)
		r = block_end(self, call, old);
	/* A sample has a stack; without one, only the old block was. */
	if (r || !address || (self->sample && !call->has_stack))
		return r;
	return block_add(self, call, address, size);
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
	int r = blocks_begin_until(self, UINT64_MAX);

	rows_sort(self->sites, self->site_count, sizeof(*self->sites), by_bytes);
	return r;
}

void allocations_done(struct allocations *self)
{
	free(self->sites);
	free(self->pending);
	free(self->outer_end_ns);
	table_done(&self->by_site.numbers);
	table_done(&self->blocks);
}
