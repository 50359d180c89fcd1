/*
 * Adds up times of functions over ranks.
 */
#include "host/fleet/report/spreads.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OTHER_FUNCTIONS "[other functions]"

static struct spread *spread_make(struct spreads *self, const char *name, const char *module)
{
	uint32_t name_text = pool_add(&self->texts, name);
	uint32_t module_text = pool_add(&self->texts, module);
	struct table_entry *entry;
	bool is_new;

	if (name_text == POOL_NONE || module_text == POOL_NONE)
		return NULL;
	entry = table_make(&self->by_name, name_text, module_text, &is_new);
	if (!entry ||
	    (is_new && make_room(&self->items, self->count, &self->room, sizeof(*self->items))))
		return NULL;
	if (is_new) {
		self->items[self->count] =
			(struct spread){ .name = name_text, .module = module_text };
		entry->value = self->count++;
	}
	return &self->items[entry->value];
}

/* The number of its text; POOL_NONE: new. */
static uint32_t module_find(struct spreads *self, const char *module)
{
	uint32_t number = self->module;

	if (number < self->texts.count && !strcmp(pool_text(&self->texts, number), module))
		return number;
	number = pool_find(&self->texts, module);
	if (number != POOL_NONE)
		self->module = number;
	return number;
}

/* Without room, it goes to the shared entry for others. */
static struct spread *spread_find(struct spreads *self, const char *name, const char *module)
{
	uint32_t name_text = pool_find(&self->texts, name);
	uint32_t module_text = module_find(self, module);
	const struct table_entry *entry =
		name_text == POOL_NONE || module_text == POOL_NONE
			? NULL
			: table_find(&self->by_name, name_text, module_text);

	if (entry)
		return &self->items[entry->value];
	if (self->count < SPREADS_MAX)
		return spread_make(self, name, module);
	self->left_out++;
	return spread_make(self, OTHER_FUNCTIONS, "");
}

int spreads_merge(struct spreads *self, const char *name, const char *module,
		  const struct spread *part)
{
	struct spread *spread = spread_find(self, name, module);

	if (!spread)
		return -ENOMEM;
	if (!spread->ranks || part->most_ns > spread->most_ns ||
	    (part->most_ns == spread->most_ns && part->most_rank < spread->most_rank)) {
		spread->most_ns = part->most_ns;
		spread->most_rank = part->most_rank;
	}
	if (!spread->ranks || part->least_ns < spread->least_ns ||
	    (part->least_ns == spread->least_ns && part->least_rank < spread->least_rank)) {
		spread->least_ns = part->least_ns;
		spread->least_rank = part->least_rank;
	}
	spread->ranks += part->ranks;
	spread->sum_ns += part->sum_ns;
	spread->total_ns += part->total_ns;
	spread->count += part->count;
	return 0;
}

int spreads_add(struct spreads *self, const struct spread_part *part)
{
	const struct spread one = { .ranks = 1,
				    .most_rank = part->rank,
				    .least_rank = part->rank,
				    .sum_ns = part->self_ns,
				    .most_ns = part->self_ns,
				    .least_ns = part->self_ns,
				    .total_ns = part->total_ns,
				    .count = part->count };

	return spreads_merge(self, part->name, part->module, &one);
}

/* Names break ties: ranks are read in any order. */
static int compare_spreads(const void *a, const void *b, void *context)
{
	const struct spread *left = a, *right = b;
	const struct pool *texts = &((const struct spreads *)context)->texts;
	int names;

	if (left->sum_ns != right->sum_ns)
		return left->sum_ns < right->sum_ns ? 1 : -1;
	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	names = strcmp(pool_text(texts, left->name), pool_text(texts, right->name));
	return names ? names
		     : strcmp(pool_text(texts, left->module), pool_text(texts, right->module));
}

void spreads_sort(struct spreads *self)
{
	if (self->count)
		qsort_r(self->items, self->count, sizeof(*self->items), compare_spreads, self);
	table_done(&self->by_name);
	self->by_name = (struct table){ 0 };
}

void spreads_done(struct spreads *self)
{
	pool_done(&self->texts);
	table_done(&self->by_name);
	free(self->items);
	*self = (struct spreads){ 0 };
}

uint64_t imbalance_of(uint64_t most, uint64_t mean)
{
	return mean && most > mean ? (uint64_t)((double)(most - mean) * 10000 / (double)mean) : 0;
}
