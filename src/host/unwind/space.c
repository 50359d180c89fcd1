/*
 * Follows the executable mappings of a process; reads /proc, stops nothing.
 */
#include "host/unwind/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/process/maps.h"
#include "host/process/procfs.h"
#include "host/unwind/modules.h"

#define START_STACK_FIELD 28u
#define RANGES_KEPT       4096u /* beyond this, ranges that were unmapped are dropped */

static int no_memory(pid_t pid, struct err *err)
{
	return err_set(err, -ENOMEM, "no memory for the mappings of %d", (int)pid);
}

int space_open(struct space **ret, pid_t pid, struct err *err)
{
	struct space *space;
	int r;

	if (space_fork(&space, /* parent */ NULL, pid) < 0)
		return no_memory(pid, err);
	r = space_refresh(space, err);
	if (r < 0) {
		space_close(space);
		return r;
	}
	*ret = space;
	return 0;
}

/* The kernel shows no mappings of a first thread that has ended; its siblings' are the same. */
static int read_any_maps(pid_t pid, struct maps *ret, struct err *err)
{
	CLEANUP(free) pid_t *threads = NULL;
	size_t count = 0;
	int r = maps_read(pid, ret, err);

	if (r < 0 || ret->count || proc_list(pid, "task", &threads, &count, err) < 0)
		return r;
	for (size_t i = 0; i < count && !ret->count; i++)
		if (threads[i] != pid && maps_read(threads[i], ret, err) < 0)
			*ret = (struct maps){ 0 };
	return 0;
}

/* NULL: it is new, or another one now. */
static const struct space_range *find_again(const struct space *space,
					    const struct mapping *mapping)
{
	const struct space_range *range = space_find(space, mapping->start);
	const struct module *module = range ? range->module : NULL;

	if (!range || range->start != mapping->start || range->end != mapping->end ||
	    module->inode != mapping->inode || range->offset != mapping->offset ||
	    strncmp(module->path, mapping->path, strlen(module->path)) != 0)
		return NULL;
	return range;
}

static int make_range(const struct space *space, const struct maps *maps,
		      const struct mapping *mapping, struct space_range *ret)
{
	const struct space_range *before = find_again(space, mapping);
	struct module_place place;
	int r;

	if (before) {
		*ret = *before;
		return 0;
	}
	r = module_of(&place, space->pid, maps, mapping);
	if (r < 0)
		return r;
	*ret = (struct space_range){ mapping->start, mapping->end, place.bias, mapping->offset,
				     place.module };
	return 0;
}

/* The 28th field; the second is a name in parentheses, which may hold anything. */
static uint64_t read_start_stack(pid_t pid)
{
	char text[1024];
	struct err ignored = { 0 };
	const char *at = NULL;

	if (proc_read_small(pid, "stat", text, sizeof(text), &ignored) > 0)
		at = strrchr(text, ')');
	for (unsigned field = 2; at && field < START_STACK_FIELD; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* Owns the ranges, or frees them when they equal the known ones. */
static void ranges_adopt(struct space *space, struct space_range *ranges, size_t count)
{
	if (space->count == count &&
	    (!count || !memcmp(space->ranges, ranges, count * sizeof(*ranges)))) {
		free(ranges);
		return;
	}
	free(space->ranges);
	space->ranges = ranges;
	space->count = count;
	space->generation++;
	space->start_stack = read_start_stack(space->pid);
}

/* *ret is NULL for a process that has ended: its old ranges name its last frames. */
static int read_ranges(struct space *space, struct space_range **ret, size_t *ret_count,
		       struct err *err)
{
	CLEANUP(maps_done) struct maps maps = { 0 };
	size_t count = 0, made = 0, limit = space->ranges_max ? space->ranges_max : SIZE_MAX;
	int r = read_any_maps(space->pid, &maps, err);

	*ret = NULL;
	for (size_t i = 0; i < maps.count; i++)
		count += maps.items[i].executable;
	space->ranges_beyond = count - MIN(count, limit);
	*ret_count = count = MIN(count, limit);
	if (r < 0 || !count)
		return r;
	*ret = calloc(count, sizeof(**ret));
	r = *ret ? 0 : -ENOMEM;
	for (size_t i = 0; !r && made < count; i++)
		if (maps.items[i].executable)
			r = make_range(space, &maps, &maps.items[i], &(*ret)[made++]);
	if (!r)
		return 0;
	free(*ret);
	*ret = NULL;
	return no_memory(space->pid, err);
}

int space_refresh(struct space *space, struct err *err)
{
	struct space_range *ranges;
	size_t count;
	int r = read_ranges(space, &ranges, &count, err);

	if (ranges)
		ranges_adopt(space, ranges, count);
	return r;
}

/* Both ascending; an old range that overlaps a new one is dropped. */
static size_t merge_ranges(const struct space *space, const struct space_range *now, size_t count,
			   struct space_range *into)
{
	size_t made = 0, at = 0;

	for (size_t i = 0; i < space->count; i++) {
		const struct space_range *old = &space->ranges[i];

		while (at < count && now[at].end <= old->start)
			into[made++] = now[at++];
		if (at == count || now[at].start >= old->end)
			into[made++] = *old;
	}
	while (at < count)
		into[made++] = now[at++];
	return made;
}

static int ranges_merge(struct space *space, const struct space_range *now, size_t count)
{
	struct space_range *merged = calloc(space->count + count, sizeof(*merged));

	if (!merged)
		return -ENOMEM;
	count = merge_ranges(space, now, count, merged);
	ranges_adopt(space, merged, count);
	return 0;
}

int space_merge(struct space *space, struct err *err)
{
	struct space_range *ranges;
	size_t count;
	int r = read_ranges(space, &ranges, &count, err);

	if (!ranges)
		return r;
	if (space->count > RANGES_KEPT) {
		ranges_adopt(space, ranges, count);
		return 0;
	}
	r = ranges_merge(space, ranges, count);
	free(ranges);
	return r < 0 ? no_memory(space->pid, err) : 0;
}

int space_map(struct space *space, const struct mapping *mapping)
{
	const struct maps none = { 0 };
	struct space_range range;
	int r = make_range(space, &none, mapping, &range);

	return r < 0 ? r : ranges_merge(space, &range, 1);
}

int space_fork(struct space **ret, const struct space *parent, pid_t pid)
{
	struct space *space = calloc(1, sizeof(*space));

	if (!space)
		return -ENOMEM;
	space->pid = pid;
	if (parent && parent->count && ranges_merge(space, parent->ranges, parent->count) < 0) {
		space_close(space);
		return -ENOMEM;
	}
	*ret = space;
	return 0;
}

void made_code_free(struct made_code *made, size_t count)
{
	for (size_t i = 0; i < count; i++)
		unwind_table_free(made[i].table);
	free(made);
}

void space_set_made(struct space *space, struct made_code *made, size_t count)
{
	made_code_free(space->made, space->made_count);
	space->made = made;
	space->made_count = count;
	space->made_generation++;
	space->generation++;
}

const struct unwind_table *space_table(const struct space *space, const struct space_range *range,
				       uint64_t address, uint64_t *ret_bias)
{
	*ret_bias = range->bias;
	if (range->module->table)
		return range->module->table;
	*ret_bias = 0;
	for (size_t i = 0; i < space->made_count; i++)
		if (address >= space->made[i].start && address < space->made[i].end)
			return space->made[i].table;
	return NULL;
}

void space_forget(struct space *space)
{
	space_set_made(space, NULL, 0);
	space->count = 0;
	space->generation++;
}

const struct space_range *space_find(const struct space *space, uint64_t address)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address < space->ranges[middle].start)
			high = middle;
		else if (address >= space->ranges[middle].end)
			low = middle + 1;
		else
			return &space->ranges[middle];
	}
	return NULL;
}

static bool table_leaves_stacks(const struct unwind_table *table)
{
	for (uint32_t i = 0; table && i < table->row_count; i++) {
		unsigned kind = table->rows[i].kind & UNWIND_KIND_MASK;

		if (kind == UNWIND_GO_GOBUF || kind == UNWIND_GO_CGO || kind == UNWIND_LUAJIT)
			return true;
	}
	return false;
}

bool space_leaves_stacks(const struct space *space)
{
	for (size_t i = 0; i < space->count; i++)
		if (table_leaves_stacks(space->ranges[i].module->table))
			return true;
	for (size_t i = 0; i < space->made_count; i++)
		if (table_leaves_stacks(space->made[i].table))
			return true;
	return false;
}

void space_close(struct space *space)
{
	if (!space)
		return;
	made_code_free(space->made, space->made_count);
	free(space->ranges);
	free(space);
}
