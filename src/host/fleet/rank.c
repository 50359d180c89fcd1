/*
 * Names of states and files; ranges of ranks, of which most are added in order, so that the last
 * range is checked first.  Runs at both ends.
 */
#include "host/fleet/rank.h"

#include "host/core/room.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE_LETTERS_MAX 100
#define REST             ",..."

static const struct {
	const char *name, *key;
} states[RANK_STATES] = {
	[RANK_NO_ANSWER] = { "no answer", "no-answer" },
	[RANK_DONE] = { "done", "done" },
	[RANK_IDLE] = { "idle", "idle" },
	[RANK_ENDED] = { "ended", "ended" },
	[RANK_REFUSED] = { "refused", "refused" },
	[RANK_CUT] = { "cut", "cut" },
};

const char *rank_state_name(enum rank_state state)
{
	return states[state < RANK_STATES ? state : RANK_NO_ANSWER].name;
}

const char *rank_state_key(enum rank_state state)
{
	return states[state < RANK_STATES ? state : RANK_NO_ANSWER].key;
}

const char *recording_name(uint32_t rank, const char *node, pid_t pid, char ret[RECORDING_NAME_MAX])
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
	int used = rank == RANK_NONE ? 0 : snprintf(ret, RECORDING_NAME_MAX, "rank-%05u-", rank);
	char *name = ret + used;

	used += snprintf(name, RECORDING_NAME_MAX - (size_t)used, "%.*s", NODE_LETTERS_MAX,
			 *node ? node : "node");
	for (char *at = name; *at; at++)
		if (!strchr(letters, *at) || (at == name && *at == '.'))
			*at = '-';
	snprintf(ret + used, RECORDING_NAME_MAX - (size_t)used, "-%d" RECORDING_EXTENSION, pid);
	return ret;
}

/* The first range that ends at or after this rank, or directly before it. */
static size_t range_find(const struct rank_set *self, uint32_t rank)
{
	size_t low = 0, high = self->count;

	if (self->count && self->items[self->count - 1].last < rank)
		low = self->count - 1;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uint64_t)self->items[middle].last + 1 < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Merges the following ranges that it now touches. */
static void range_join(struct rank_set *self, size_t index)
{
	struct rank_range *range = &self->items[index];
	size_t next = index + 1;

	while (next < self->count && self->items[next].first <= (uint64_t)range->last + 1) {
		range->last = MAX(range->last, self->items[next].last);
		next++;
	}
	memmove(self->items + index + 1, self->items + next,
		(self->count - next) * sizeof(*self->items));
	self->count -= next - index - 1;
}

int rank_set_add_range(struct rank_set *self, struct rank_range range)
{
	size_t index = range_find(self, range.first);

	if (index == self->count || (uint64_t)range.last + 1 < self->items[index].first) {
		if (make_room(&self->items, self->count, &self->room, sizeof(*self->items)))
			return -ENOMEM;
		memmove(self->items + index + 1, self->items + index,
			(self->count - index) * sizeof(*self->items));
		self->items[index] = range;
		self->count++;
		return 0;
	}
	self->items[index].first = MIN(self->items[index].first, range.first);
	self->items[index].last = MAX(self->items[index].last, range.last);
	range_join(self, index);
	return 0;
}

int rank_set_add(struct rank_set *self, uint32_t rank)
{
	return rank_set_add_range(self, (struct rank_range){ rank, rank });
}

bool rank_set_has(const struct rank_set *self, uint32_t rank)
{
	size_t index = range_find(self, rank);

	/* The range found may end directly before it. */
	if (index < self->count && self->items[index].last < rank)
		index++;
	return index < self->count && self->items[index].first <= rank;
}

uint64_t rank_set_size(const struct rank_set *self)
{
	uint64_t size = 0;

	for (size_t i = 0; i < self->count; i++)
		size += (uint64_t)self->items[i].last - self->items[i].first + 1;
	return size;
}

void rank_set_done(struct rank_set *self)
{
	free(self->items);
	*self = (struct rank_set){ 0 };
}

static bool range_take(struct text *text, struct rank_range *ret)
{
	uint64_t first, last;

	if (!text_take_number(text, 10, &first))
		return false;
	last = first;
	if (text_take_char(text, '-') && !text_take_number(text, 10, &last))
		return false;
	if (last < first || last > RANK_MAX)
		return false;
	*ret = (struct rank_range){ (uint32_t)first, (uint32_t)last };
	return true;
}

int rank_set_parse(struct rank_set *ret, const char *string, struct err *err)
{
	struct text text = text_of(string);
	struct rank_set set = { 0 };
	struct rank_range range;
	bool is_sound;

	do {
		is_sound = range_take(&text, &range);
		if (is_sound && rank_set_add_range(&set, range)) {
			rank_set_done(&set);
			return err_set(err, -ENOMEM, "ranks: no memory");
		}
	} while (is_sound && text_take_char(&text, ','));
	if (!is_sound || text.at != text.end) {
		rank_set_done(&set);
		err_usage(err, NULL, "'%s' is no list of ranks", string);
		return err_fix(err, "--ranks 0,7,8-15 (up to %u)", RANK_MAX);
	}
	*ret = set;
	return 0;
}

const char *rank_set_describe(const struct rank_set *self, char *buffer, size_t capacity)
{
	char text[32];
	size_t used = 0;

	buffer[0] = '\0';
	for (size_t i = 0; i < self->count; i++) {
		const struct rank_range *range = &self->items[i];
		bool is_last = i + 1 == self->count;
		size_t length =
			(size_t)snprintf(text, sizeof(text), "%s%u", i ? "," : "", range->first);

		if (range->last > range->first)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "-%u",
						   range->last);

		if (used + length + (is_last ? 0 : strlen(REST)) >= capacity) {
			snprintf(buffer + used, capacity - used, "%s", REST + (used ? 0 : 1));
			break;
		}
		memcpy(buffer + used, text, length + 1);
		used += length;
	}
	return buffer;
}
