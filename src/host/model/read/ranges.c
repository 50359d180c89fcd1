/*
 * Pairs opening and closing calls.  push and pop nest within a thread (and, where a library has
 * them, within an object); start and stop have an id that any thread of the process may stop.
 *
 * push and pop return the level of their range, the outermost being 0.  If calls are missing
 * (dropped, or made while nothing was traced), levels show the pairs; without levels (a library
 * without a tool), the last opened range is closed.
 */
#include "host/model/read/ranges.h"

#include "host/core/room.h"
#include "host/core/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IS_OPEN   UINT64_MAX
#define IS_UNSEEN (1ull << 63) /* its own closing call was not seen, but it was over by then */
#define FAILED    (-1)

enum marker_role marker_role_of(const struct trace_function *function)
{
	static const struct {
		const char *word;
		enum marker_role role;
	} roles[] = {
		{ "RangePush", MARKER_PUSH },   { "RangePop", MARKER_POP },
		{ "RangeStart", MARKER_START }, { "RangeStop", MARKER_STOP },
		{ "RangeEnd", MARKER_STOP },    { "Mark", MARKER_MARK },
	};

	if (function->domain != DOMAIN_MARKER)
		return MARKER_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (strstr(function->name, roles[i].word))
			return roles[i].role;
	return MARKER_NONE;
}

/* Where the ranges that this call could open or close hang together. */
static struct table_entry *find_chain(struct ranges *self, const struct call *call,
				      enum marker_role role)
{
	bool is_stacked = role == MARKER_PUSH || role == MARKER_POP, is_new;
	uint64_t owner = is_stacked ? call->thread->number : call->process->number, key = 0;

	call_value(call, is_stacked ? VALUE_OBJECT : VALUE_ID, &key);
	/* The first letter distinguishes the libraries of markers. */
	return table_make(&self->open,
			  owner << 16 | (uint64_t)is_stacked << 8 |
				  (unsigned char)call->function->name[0],
			  key, &is_new);
}

static int32_t level_of(const struct call *call)
{
	uint64_t result = UINT64_MAX;

	return call_value(call, VALUE_RESULT, &result) ? (int32_t)result : -2;
}

/* Has a call been seen that was at most this deep?  Then all deeper ones began after it. */
static bool was_seen(struct table_entry *chain, int32_t level)
{
	bool is_seen = chain->more && (level < 0 || chain->more <= (uint64_t)level + 1);

	if (level >= 0 && (!chain->more || (uint64_t)level + 1 < chain->more))
		chain->more = (uint64_t)level + 1;
	return is_seen;
}

static int open_range(struct ranges *self, const struct call *call, enum marker_role role)
{
	struct table_entry *chain = find_chain(self, call, role);
	int32_t level = level_of(call);

	if (!chain || self->end_count >= UINT32_MAX - 1 ||
	    make_room(&self->ends, self->end_count, &self->end_room, sizeof(*self->ends)))
		return -ENOMEM;
	was_seen(chain, level);
	self->ends[self->end_count++] =
		(struct range_end){ IS_OPEN, (uint32_t)chain->value, level };
	chain->value = self->end_count;
	return 0;
}

/* Removes the closed range from its chain; NULL when its opening call is missing. */
static struct range_end *take_range(struct ranges *self, struct table_entry *chain, int32_t level,
				    uint64_t time_ns)
{
	while (chain->value) {
		struct range_end *range = &self->ends[chain->value - 1];
		bool is_deeper = level >= 0 && range->level > level;

		if (level >= 0 && range->level >= 0 && range->level < level)
			return NULL;
		chain->value = range->below;
		if (!is_deeper)
			return range;
		range->end_ns = (time_ns & ~IS_UNSEEN) | IS_UNSEEN;
	}
	return NULL;
}

static int add_headless(struct ranges *self, const struct call *call)
{
	struct headless_range range = { .thread = call->thread->number,
					.function = call->function_number -
						    call->process->first_function,
					.end_ns = call->end_ns };

	if (make_room(&self->headless, self->headless_count, &self->headless_room,
		      sizeof(*self->headless)))
		return -ENOMEM;
	range.has_value = call->value_count > 0;
	range.value = range.has_value ? call->values[0] : 0;
	self->headless[self->headless_count++] = range;
	return 0;
}

/* Classifies a closing call, or -ENOMEM. */
static int close_range(struct ranges *self, const struct call *call, enum marker_role role)
{
	struct table_entry *chain = find_chain(self, call, role);
	int32_t level = role == MARKER_POP ? level_of(call) : -2;
	struct range_end *range;
	bool is_seen;

	if (!chain)
		return -ENOMEM;
	if (level == FAILED)
		return CLOSING_FAILED;
	is_seen = was_seen(chain, level);
	range = take_range(self, chain, level, call->begin_ns);
	if (range) {
		range->end_ns = call->end_ns & ~IS_UNSEEN;
		return CLOSING_PAIRED;
	}
	if (is_seen)
		return CLOSING_ALONE;
	return add_headless(self, call) ? -ENOMEM : CLOSING_PAIRED;
}

int ranges_take(struct ranges *self, const struct call *call)
{
	enum marker_role role = marker_role_of(call->function);
	int r;

	if (!self->first_ns || call->begin_ns < self->first_ns)
		self->first_ns = call->begin_ns;
	self->last_ns = MAX(self->last_ns, call->end_ns);
	if (role == MARKER_PUSH || role == MARKER_START)
		return open_range(self, call, role);
	if (role != MARKER_POP && role != MARKER_STOP)
		return 0;
	if (make_room(&self->closings, self->closing_count, &self->closing_room, 1))
		return -ENOMEM;
	r = close_range(self, call, role);
	if (r < 0)
		return r;
	self->closings[self->closing_count++] = (unsigned char)r;
	return 0;
}

static int by_end(const void *left, const void *right)
{
	const struct headless_range *a = left, *b = right;

	return a->end_ns > b->end_ns ? -1 : a->end_ns < b->end_ns;
}

void ranges_finish(struct ranges *self, const struct model *model)
{
	if (model->has_clock && model->first.boot_ns < self->first_ns)
		self->first_ns = model->first.boot_ns;
	if (model->has_clock && model->last.boot_ns > self->last_ns)
		self->last_ns = model->last.boot_ns;
	rows_sort(self->headless, self->headless_count, sizeof(*self->headless), by_end);
	table_done(&self->open);
	self->open = (struct table){ 0 };
}

void ranges_close(const struct ranges *self, size_t number, struct call *call)
{
	uint64_t end_ns = self->ends[number].end_ns;

	if (end_ns == IS_OPEN || end_ns & IS_UNSEEN)
		call->cut = RANGE_ENDLESS;
	if (end_ns == IS_OPEN)
		end_ns = self->last_ns;
	call->end_ns = MAX(call->begin_ns, end_ns & ~IS_UNSEEN);
}

void ranges_done(struct ranges *self)
{
	free(self->ends);
	free(self->headless);
	free(self->closings);
	table_done(&self->open);
}
