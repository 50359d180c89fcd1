/*
 * Writes tables and ranges into maps that kernel programs read meanwhile: each is complete before a
 * program can find it.
 */
#include "host/sampling/bpf/kernel_tables.h"

#include "host/core/room.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int kernel_tables_init(struct kernel_tables *ret, const struct kernel_session *session,
		       struct err *err)
{
	const struct kernel_sizes *sizes = &session->sizes;
	struct kernel_tables tables = { .ranges_max = KERNEL_RANGES_MAX,
					.processes = kernel_session_map(session, "processes"),
					.interpreters =
						kernel_session_map(session, "interpreters") };
	const struct {
		struct kernel_array *array;
		const char *name;
		size_t size;
		uint32_t capacity;
	} arrays[] = {
		{ &tables.rows, "rows", sizeof(struct unwind_row), sizes->rows },
		{ &tables.pages, "pages", sizeof(struct kernel_page), sizes->pages },
		{ &tables.specials, "specials", sizeof(struct unwind_special), sizes->specials },
		{ &tables.ranges, "ranges", sizeof(struct kernel_range), sizes->ranges },
		{ &tables.counts, "counts", sizeof(struct kernel_counts), 1 },
	};
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(arrays); i++)
		r = kernel_array_map(arrays[i].array, session, arrays[i].name, arrays[i].size,
				     arrays[i].capacity);
	if (r) {
		kernel_tables_done(&tables);
		return err_set(err, r, "mapping the tables of kernel programs: %s", strerror(-r));
	}
	*ret = tables;
	return 0;
}

void kernel_tables_done(struct kernel_tables *tables)
{
	kernel_array_unmap(&tables->rows);
	kernel_array_unmap(&tables->pages);
	kernel_array_unmap(&tables->specials);
	kernel_array_unmap(&tables->ranges);
	kernel_array_unmap(&tables->counts);
	free(tables->modules);
	free(tables->made);
	free(tables->parts);
	tables->made = NULL;
	tables->modules = NULL;
	tables->parts = NULL;
}

/* Makes the list of modules as long as this number needs. */
static int know_module(struct kernel_tables *tables, unsigned number)
{
	size_t count = MAX(number + 1, 64u);
	struct kernel_module *longer;

	if (number < tables->module_count)
		return 0;
	count = ALIGN_UP(count + count / 2, 64);
	longer = realloc(tables->modules, count * sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	memset(longer + tables->module_count, 0, (count - tables->module_count) * sizeof(*longer));
	tables->modules = longer;
	tables->module_count = count;
	return 0;
}

/* A module without room is counted and left out: its frames end the walk with that reason. */
static struct kernel_module write_module(struct kernel_tables *tables, const struct module *module)
{
	const struct unwind_table *table = module->table;
	struct kernel_room wanted, room;
	struct kernel_module *known;

	if (!table || !table->row_count || know_module(tables, module->number))
		return (struct kernel_module){ .is_written = false };
	known = &tables->modules[module->number];
	if (known->is_written)
		return *known;
	wanted = (struct kernel_room){ .row_count = table->row_count,
				       .page_count = table->page_count,
				       .special_count = table->special_count };
	if (kernel_room_reserve(tables, &wanted, &room)) {
		*known = kernel_room_fill(tables, &room, table);
	} else {
		tables->left_out += !known->is_left_out;
		known->is_left_out = true;
	}
	return *known;
}

static struct kernel_range range_of(struct kernel_tables *tables, const struct space_range *range)
{
	struct kernel_module module = write_module(tables, range->module);

	return (struct kernel_range){
		.start = range->start,
		.end = range->end,
		.base = range->bias + (range->module->table ? range->module->table->first : 0),
		.page = module.page,
		.page_count = module.page_count,
		.special = module.special,
		.is_file = module_is_file(range->module),
	};
}

/* Returns the number of ranges; writes as many as have room, from `first` on. */
static size_t write_ranges(struct kernel_tables *tables, const struct space *space, uint32_t first,
			   size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < space->count; i++) {
		struct kernel_range pieces[KERNEL_PIECES_MAX] = { range_of(tables,
									   &space->ranges[i]) };
		size_t made = kernel_made_split(tables, space, &space->ranges[i], pieces);

		for (size_t k = 0; k < made; k++, count++)
			if (count < room)
				*(struct kernel_range *)kernel_array_at(
					&tables->ranges, first + (uint32_t)count) = pieces[k];
	}
	return count;
}

static struct kernel_part *part_of(struct kernel_tables *tables, pid_t pid)
{
	for (size_t i = 0; i < tables->part_count; i++)
		if (tables->parts[i].pid == pid)
			return &tables->parts[i];
	return NULL;
}

/* A part in use that overlaps, or NULL. */
static const struct kernel_part *find_overlap(const struct kernel_tables *tables, uint32_t first,
					      uint32_t count)
{
	for (size_t i = 0; i < tables->part_count; i++) {
		const struct kernel_part *part = &tables->parts[i];

		if (part->first < first + count && first < part->first + part->count)
			return part;
	}
	return NULL;
}

/* Round robin, so that a freed part is overwritten as late as possible. */
static bool find_part(const struct kernel_tables *tables, uint32_t count, uint32_t *ret)
{
	uint32_t first = tables->next_range;

	for (int rounds = 0; rounds < 2;) {
		const struct kernel_part *part;

		if (first + count > tables->ranges.capacity) {
			first = 0;
			rounds++;
			continue;
		}
		part = find_overlap(tables, first, count);
		if (!part) {
			*ret = first;
			return true;
		}
		first = part->first + part->count;
	}
	return false;
}

/* Leads the programs to this part. */
static int publish_part(struct kernel_tables *tables, struct kernel_part part,
			enum kernel_asking asking)
{
	struct kernel_process process = { .first_range = (uint16_t)part.first,
					  .range_count = (uint16_t)part.count,
					  .generation = ++tables->generation,
					  .pid = (uint32_t)part.pid,
					  .asking = asking,
					  .start_stack = part.start_stack };
	struct kernel_part *known = part_of(tables, part.pid);
	uint32_t key = (uint32_t)part.pid;
	int r = 0;

	if (!known)
		r = make_room(&tables->parts, tables->part_count, &tables->part_room,
			      sizeof(*tables->parts));
	if (!r)
		r = bpf_map_update_elem(tables->processes, &key, &process, BPF_ANY);
	if (r)
		return r;
	if (known) {
		part.left_out = MAX(part.left_out, known->left_out);
		tables->left_out -= known->left_out;
	} else {
		known = &tables->parts[tables->part_count++];
	}
	tables->left_out += part.left_out;
	*known = part;
	tables->next_range = part.first + part.count;
	return 0;
}

int kernel_tables_publish(struct kernel_tables *tables, const struct space *space,
			  enum kernel_asking asking, struct err *err)
{
	size_t count = write_ranges(tables, space, 0, 0);
	struct kernel_part part = { .pid = space->pid,
				    .count = (uint32_t)MIN(count, tables->ranges_max),
				    .start_stack = space->start_stack };
	int r;

	part.left_out = count - part.count + space->ranges_beyond;
	if (!find_part(tables, part.count, &part.first))
		return err_set(err, -ENOSPC, "too many mappings for the kernel programs");
	write_ranges(tables, space, part.first, part.count);
	r = publish_part(tables, part, asking);
	return r ? err_set(err, r, "following process %d: %s", space->pid, strerror(-r)) : 0;
}

int kernel_tables_interpreter(const struct kernel_tables *tables, pid_t pid,
			      const struct interpreter *interpreter, struct err *err)
{
	uint32_t key = (uint32_t)pid;
	int r = bpf_map_update_elem(tables->interpreters, &key,
				    interpreter_walk_layout(interpreter), BPF_ANY);

	return r ? err_set(err, r, "following the interpreter of %d: %s", pid, strerror(-r)) : 0;
}

void kernel_tables_forget(struct kernel_tables *tables, pid_t pid)
{
	struct kernel_part *part = part_of(tables, pid);
	uint32_t key = (uint32_t)pid;

	/* The kernel may have dropped the process, and have been given new ranges since. */
	bpf_map_delete_elem(tables->processes, &key);
	bpf_map_delete_elem(tables->interpreters, &key);
	kernel_made_forget(tables, pid);
	if (part)
		*part = tables->parts[--tables->part_count];
}

void kernel_tables_mute(const struct kernel_tables *tables, pid_t pid)
{
	struct kernel_process process = { .generation = KERNEL_NO_RANGES >> 32,
					  .pid = (uint32_t)pid,
					  .asking = ASKED_IN_VAIN };
	uint32_t key = (uint32_t)pid;

	bpf_map_update_elem(tables->processes, &key, &process, BPF_EXIST);
}

void kernel_tables_keep_every(struct kernel_tables *tables, uint32_t every)
{
	struct kernel_counts *counts = kernel_array_at(&tables->counts, 0);

	__atomic_store_n(&counts->every, every, __ATOMIC_RELAXED);
}
