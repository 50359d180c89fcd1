/*
 * A list that grows and is kept sorted.  Names come from targets: they may overlap in any way.
 */
#include "host/symbols/jit/jit_names.h"

#include "host/core/notes.h"
#include "host/core/room.h"
#include "host/core/sorted.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* How many names before an address are checked for one that spans it. */
#define LOOK_BACK_MAX 4096u

/* Limits all programs together: limpet may read names of many. */
static _Atomic size_t all_bytes;

bool jit_names_are_full(const struct jit_names *names)
{
	return names->count >= JIT_NAMES_MAX || names->text_bytes >= JIT_TEXT_MAX ||
	       atomic_load_explicit(&all_bytes, memory_order_relaxed) >= JIT_ALL_MAX;
}

int jit_names_add(struct jit_names *names, uint64_t start, uint64_t size, const char *name,
		  uint64_t born_ns)
{
	uint32_t text;

	if (!size || size > UINT64_MAX - start)
		return -EINVAL;
	if (jit_names_are_full(names)) {
		if (!names->is_full)
			note_add(
				"a runtime told the names of more than %u functions, or more than %u MiB of "
				"them: the rest have none",
				JIT_NAMES_MAX, JIT_TEXT_MAX >> 20);
		names->is_full = true;
		return -EOVERFLOW;
	}
	text = pool_add(&names->texts, name);
	if (text == POOL_NONE ||
	    make_room(&names->items, names->count, &names->room, sizeof(*names->items)))
		return -ENOMEM;
	names->items[names->count] = (struct jit_name){ .start = start,
							.end = start + size,
							.born_ns = born_ns,
							.version = (uint32_t)names->count + 1,
							.text = text };
	names->count++;
	names->text_bytes += strlen(name) + 1;
	atomic_fetch_add_explicit(&all_bytes, strlen(name) + 1 + sizeof(*names->items),
				  memory_order_relaxed);
	return 0;
}

static int by_start(const void *left, const void *right)
{
	const struct jit_name *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->version < b->version ? -1 : a->version > b->version;
}

/* From the end: the old ones are merged with a copy of the new ones. */
static void jit_names_merge(struct jit_name *items, size_t old, const struct jit_name *new,
			    size_t count)
{
	for (size_t at = old + count; count; at--) {
		bool is_old = old && by_start(&items[old - 1], &new[count - 1]) > 0;

		items[at - 1] = is_old ? items[--old] : new[--count];
	}
}

int jit_names_sort(struct jit_names *names)
{
	size_t count = names->count - names->sorted;
	struct jit_name *new;
	uint64_t reach = 0;

	if (!count)
		return 0;
	new = malloc(count * sizeof(*new));
	if (!new)
		return -ENOMEM;
	memcpy(new, names->items + names->sorted, count * sizeof(*new));
	qsort(new, count, sizeof(*new), by_start);
	jit_names_merge(names->items, names->sorted, new, count);
	free(new);
	names->sorted = names->count;
	for (size_t i = 0; i < names->sorted; i++)
		names->items[i].reach = reach = MAX(reach, names->items[i].end);
	return 0;
}

static uint64_t start_at(const void *items, size_t index)
{
	return ((const struct jit_name *)items)[index].start;
}

/* The names that hold an address, one after the other; NULL: no more.  *at begins with 0. */
static const struct jit_name *next_over(const struct jit_names *names, uint64_t address, size_t *at)
{
	size_t count = count_up_to(names->items, names->sorted, address, start_at), looked = *at;

	while (looked < count && looked < LOOK_BACK_MAX) {
		const struct jit_name *name = &names->items[count - 1 - looked++];

		*at = looked;
		if (name->end > address)
			return name;
		if (name->reach <= address)
			return NULL;
	}
	return NULL;
}

uint32_t jit_names_version(const struct jit_names *names, uint64_t address, uint64_t time_ns)
{
	const struct jit_name *name, *best = NULL;
	size_t at = 0;

	while ((name = next_over(names, address, &at)))
		if (name->born_ns <= time_ns &&
		    (!best || name->born_ns > best->born_ns ||
		     (name->born_ns == best->born_ns && name->version > best->version)))
			best = name;
	return best ? best->version : 0;
}

const struct jit_name *jit_names_find(const struct jit_names *names, uint64_t address,
				      uint32_t version)
{
	const struct jit_name *name, *first = NULL;
	size_t at = 0;

	while ((name = next_over(names, address, &at))) {
		if (name->version == version)
			return name;
		if (!version && (!first || name->version < first->version))
			first = name;
	}
	return first;
}

const struct jit_name *jit_names_latest(const struct jit_names *names, uint64_t address)
{
	size_t fresh = MIN(names->count - names->sorted, LOOK_BACK_MAX);

	for (size_t i = names->count; i > names->count - fresh; i--)
		if (names->items[i - 1].start <= address && address < names->items[i - 1].end)
			return &names->items[i - 1];
	return jit_names_find(names, address, jit_names_version(names, address, UINT64_MAX));
}

void jit_names_done(struct jit_names *names)
{
	atomic_fetch_sub_explicit(&all_bytes,
				  names->text_bytes + names->count * sizeof(*names->items),
				  memory_order_relaxed);
	free(names->items);
	pool_done(&names->texts);
	*names = (struct jit_names){ 0 };
}
