/*
 * Adds up the neighbours of a function.  A sample counts once for each caller, callee and line,
 * even if a recursion has them several times in its stack.
 */
#include "host/model/samples/neighbours.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/table.h"
#include "shared/base/hash.h"

#define NOBODY UINT32_MAX

/* By number of function: how much, and the entry that was added last. */
struct sums {
	uint64_t *total_ns;
	uint32_t *stamps;
};

struct line_sum {
	struct hot_line line;
	uint32_t stamp;
};

struct finding {
	const struct profile *profile;
	const struct samples *samples;
	uint32_t function;
	struct sums callers, callees;
	struct table line_numbers; /* (hash of the file, line) */
	struct line_sum *lines;
	size_t line_count, line_room;
	struct neighbours *found;
	uint32_t stamp; /* of the entry */
	uint64_t weight_ns;
};

static int sums_init(struct sums *sums, size_t count)
{
	sums->total_ns = calloc(count + 1, sizeof(*sums->total_ns));
	sums->stamps = calloc(count + 1, sizeof(*sums->stamps));
	return sums->total_ns && sums->stamps ? 0 : -ENOMEM;
}

static void finding_done_at_scope_end(struct finding *self)
{
	free(self->callers.total_ns);
	free(self->callers.stamps);
	free(self->callees.total_ns);
	free(self->callees.stamps);
	free(self->lines);
	table_done(&self->line_numbers);
}

static void add_neighbour(const struct finding *self, struct sums *sums, uint32_t number)
{
	if (number == NOBODY || sums->stamps[number] == self->stamp)
		return;
	sums->stamps[number] = self->stamp;
	sums->total_ns[number] += self->weight_ns;
}

static int find_line(struct finding *self, const struct sample_location *location,
		     struct line_sum **ret)
{
	struct table_entry *entry;
	bool is_new;

	if (make_room(&self->lines, self->line_count, &self->line_room, sizeof(*self->lines)))
		return -ENOMEM;
	entry = table_make(&self->line_numbers, hash_bytes(location->file, strlen(location->file)),
			   location->line, &is_new);
	if (!entry)
		return -ENOMEM;
	if (is_new) {
		entry->value = self->line_count;
		self->lines[self->line_count++] =
			(struct line_sum){ .line = { .file = location->file,
						     .line = location->line } };
	}
	*ret = &self->lines[entry->value];
	return 0;
}

static int add_line(struct finding *self, const struct sample_location *location, bool is_self)
{
	struct line_sum *sum;

	if (find_line(self, location, &sum))
		return -ENOMEM;
	sum->line.self_ns += is_self ? self->weight_ns : 0;
	if (sum->stamp != self->stamp)
		sum->line.total_ns += self->weight_ns;
	sum->stamp = self->stamp;
	return 0;
}

/* inner: the function it called here, NOBODY where it is the innermost. */
static int add_location(struct finding *self, const struct sample_location *location,
			uint32_t inner, bool is_self, bool *is_met)
{
	self->found->total_ns += *is_met ? 0 : self->weight_ns;
	self->found->self_ns += is_self ? self->weight_ns : 0;
	*is_met = true;
	add_neighbour(self, &self->callees, inner);
	return add_line(self, location, is_self);
}

/* From the innermost location of a stack outwards. */
static int add_entry(struct finding *self, const struct profile_entry *entry)
{
	const struct samples *samples = self->samples;
	uint32_t inner = NOBODY, place = profile_place(samples, entry);
	bool is_met = false;
	int r = 0;

	self->weight_ns = entry->weight_ns;
	for (uint32_t at = entry->stack; at != STACK_NONE; at = samples->stacks[at].caller) {
		const struct sample_frame *frame = &samples->frames[samples->stacks[at].frame];

		for (uint32_t i = 0; !r && i < frame->location_count; i++) {
			const struct sample_location *location =
				&samples->locations[frame->first_location + i];

			if (inner == self->function)
				add_neighbour(self, &self->callers, location->function);
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

static int take_neighbours(const struct finding *self, const struct sums *sums,
			   struct neighbour **ret, size_t *ret_count)
{
	size_t count = 0;

	for (size_t i = 0; i < self->samples->function_count; i++)
		count += sums->stamps[i] != 0;
	*ret = calloc(count + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < self->samples->function_count; i++)
		if (sums->stamps[i])
			(*ret)[(*ret_count)++] = (struct neighbour){ &self->samples->functions[i],
								     sums->total_ns[i] };
	qsort(*ret, *ret_count, sizeof(**ret), by_total);
	return 0;
}

static int take_lines(const struct finding *self)
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

static int add_all(struct finding *self)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->profile->count; i++) {
		self->stamp = (uint32_t)i + 1;
		r = add_entry(self, &self->profile->entries[i]);
	}
	return r;
}

int neighbours_find(struct neighbours *ret, const struct profile *profile, uint32_t function)
{
	CLEANUP(finding_done)
	struct finding self = {
		.profile = profile, .samples = profile->samples, .function = function, .found = ret
	};

	*ret = (struct neighbours){ 0 };
	if (sums_init(&self.callers, profile->samples->function_count) ||
	    sums_init(&self.callees, profile->samples->function_count) || add_all(&self) ||
	    take_neighbours(&self, &self.callers, &ret->callers, &ret->caller_count) ||
	    take_neighbours(&self, &self.callees, &ret->callees, &ret->callee_count) ||
	    take_lines(&self)) {
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
