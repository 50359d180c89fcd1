/*
 * Adds up the neighbours of a function.  A sample counts once for each caller, callee and line,
 * even if a recursion has them several times in its stack.
 */
#include "host/model/samples/neighbours.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/rows.h"
#include "shared/base/hash.h"

#define FUNCTION_NONE UINT32_MAX

/* Of one function: how much, and the entry that was added last. */
struct sum {
	uint64_t total_ns;
	uint32_t stamp;
};

struct line_sum {
	struct hot_line line;
	uint32_t stamp;
};

struct finding {
	const struct profile *profile;
	const struct samples *samples;
	uint32_t function;
	struct sum *callers, *callees; /* by number of function */
	struct row_index by_line;      /* (hash of the file, line) */
	struct line_sum *lines;
	uint32_t line_count;
	struct neighbours *found;
	uint32_t stamp; /* of the entry */
	uint64_t weight_ns;
};

static void finding_done_at_scope_end(struct finding *self)
{
	free(self->callers);
	free(self->callees);
	free(self->lines);
	table_done(&self->by_line.numbers);
}

static void add_neighbour(const struct finding *self, struct sum *sums, uint32_t number)
{
	if (number == FUNCTION_NONE || sums[number].stamp == self->stamp)
		return;
	sums[number].stamp = self->stamp;
	sums[number].total_ns += self->weight_ns;
}

static int add_line(struct finding *self, const struct sample_location *location, bool is_self)
{
	struct line_sum *sum =
		row_find(&self->by_line,
			 (struct row_key){ hash_bytes(location->file, strlen(location->file)),
					   location->line },
			 &self->lines, &self->line_count, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	if (!sum->line.file)
		sum->line = (struct hot_line){ .file = location->file, .line = location->line };
	sum->line.self_ns += is_self ? self->weight_ns : 0;
	if (sum->stamp != self->stamp)
		sum->line.total_ns += self->weight_ns;
	sum->stamp = self->stamp;
	return 0;
}

/* inner: the function it called here, FUNCTION_NONE where it is the innermost. */
static int add_location(struct finding *self, const struct sample_location *location,
			uint32_t inner, bool is_self, bool *is_met)
{
	self->found->total_ns += *is_met ? 0 : self->weight_ns;
	self->found->self_ns += is_self ? self->weight_ns : 0;
	*is_met = true;
	add_neighbour(self, self->callees, inner);
	return add_line(self, location, is_self);
}

/* From the innermost location of a stack outwards. */
static int add_entry(struct finding *self, const struct profile_entry *entry)
{
	const struct samples *samples = self->samples;
	uint32_t inner = FUNCTION_NONE, place = profile_place(samples, entry);
	bool is_met = false;
	int r = 0;

	self->weight_ns = entry->weight_ns;
	for (uint32_t at = entry->stack; at != STACK_NONE; at = samples->stacks[at].caller) {
		const struct sample_frame *frame = &samples->frames[samples->stacks[at].frame];

		for (uint32_t i = 0; !r && i < frame->location_count; i++) {
			const struct sample_location *location =
				&samples->locations[frame->first_location + i];

			if (inner == self->function)
				add_neighbour(self, self->callers, location->function);
			if (location->function == self->function)
				r = add_location(self, location, inner, at == place && !i, &is_met);
			inner = location->function;
		}
	}
	return r;
}

static int by_total(const void *left, const void *right)
{
	const struct neighbour *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(a->function->name, b->function->name);
}

static int by_line_total(const void *left, const void *right)
{
	const struct hot_line *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int list_neighbours(const struct finding *self, const struct sum *sums,
			   struct neighbour **ret, size_t *ret_count)
{
	size_t count = 0;

	for (size_t i = 0; i < self->samples->function_count; i++)
		count += sums[i].stamp != 0;
	*ret = calloc(count + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < self->samples->function_count; i++)
		if (sums[i].stamp)
			(*ret)[(*ret_count)++] = (struct neighbour){ &self->samples->functions[i],
								     sums[i].total_ns };
	qsort(*ret, *ret_count, sizeof(**ret), by_total);
	return 0;
}

static int list_lines(const struct finding *self)
{
	struct neighbours *found = self->found;

	found->lines = calloc(self->line_count + 1, sizeof(*found->lines));
	if (!found->lines)
		return -ENOMEM;
	for (size_t i = 0; i < self->line_count; i++)
		found->lines[i] = self->lines[i].line;
	found->line_count = self->line_count;
	qsort(found->lines, found->line_count, sizeof(*found->lines), by_line_total);
	return 0;
}

int neighbours_find(struct neighbours *ret, const struct profile *profile, uint32_t function)
{
	size_t functions = profile->samples->function_count;
	CLEANUP(finding_done)
	struct finding self = {
		.profile = profile, .samples = profile->samples, .function = function, .found = ret
	};
	int r;

	*ret = (struct neighbours){ 0 };
	self.callers = calloc(functions + 1, sizeof(*self.callers));
	self.callees = calloc(functions + 1, sizeof(*self.callees));
	r = self.callers && self.callees ? 0 : -ENOMEM;
	for (size_t i = 0; !r && i < profile->count; i++) {
		self.stamp = (uint32_t)i + 1;
		r = add_entry(&self, &profile->entries[i]);
	}
	if (r || list_neighbours(&self, self.callers, &ret->callers, &ret->caller_count) ||
	    list_neighbours(&self, self.callees, &ret->callees, &ret->callee_count) ||
	    list_lines(&self)) {
		neighbours_done(ret);
		return -ENOMEM;
	}
	return 0;
}

void neighbours_done(struct neighbours *neighbours)
{
	free(neighbours->callers);
	free(neighbours->callees);
	free(neighbours->lines);
	*neighbours = (struct neighbours){ 0 };
}
