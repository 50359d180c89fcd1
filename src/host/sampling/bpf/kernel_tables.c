/*
 * Writes tables and ranges into maps that kernel programs read meanwhile: each is complete before a
 * program can find it.
 */
#include "host/sampling/bpf/kernel_tables.h"

#include "host/core/room.h"
#include "host/sampling/bpf/kernel_made.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LATER_ROWS          (1u << 19) /* for libraries loaded later: libLLVM has 949,000 */
#define LATER_ROWS_CHILDREN (1u << 22)
#define ROWS_PER_SPECIAL    64
#define SYSTEM_SHARE        128u
#define SYSTEM_ROWS_MIN     (1u << 20)
#define SYSTEM_ROWS_MAX     (1u << 24)
#define RANGES              (1u << 16)
#define MADE_GROWS          4u /* written in two rooms, which grow */
#define RING_BYTES          (16u << 20)
#define RING_BYTES_EACH     (2u << 20) /* per processor, for sampling of all processes */
#define RING_BYTES_MAX      (128u << 20)
#define OFF_CPU_THREADS     (1u << 16)

_Static_assert(RANGES <= UINT16_MAX + 1 && KERNEL_RANGES_MAX <= UINT16_MAX, "a part is one word");

static uint32_t room_grown(size_t needed, uint32_t later)
{
	return (uint32_t)MIN(needed + needed / 2 + later, (size_t)1 << 27);
}

/* Several ranges may belong to one module, which then counts twice: that is room for later. */
void kernel_tables_measure(const struct space *space, bool has_children, struct kernel_sizes *ret)
{
	uint32_t later = has_children ? LATER_ROWS_CHILDREN : LATER_ROWS;
	size_t rows = 0, pages = 0, specials = 0;

	for (size_t i = 0; i < space->count; i++) {
		const struct unwind_table *table = space->ranges[i].module->table;

		rows += table ? table->row_count : 0;
		pages += table ? table->page_count : 0;
		specials += table ? table->special_count : 0;
	}
	for (size_t i = 0; i < space->made_count; i++) {
		rows += MADE_GROWS * (size_t)space->made[i].table->row_count;
		pages += MADE_GROWS * (size_t)space->made[i].table->page_count;
		specials += MADE_GROWS * (size_t)space->made[i].table->special_count;
	}
	*ret = (struct kernel_sizes){
		.rows = room_grown(rows, later),
		.pages = room_grown(pages, later),
		.specials = room_grown(specials, later / ROWS_PER_SPECIAL),
		.ranges = RANGES,
		.off_cpu_threads = OFF_CPU_THREADS,
		.ring_bytes = RING_BYTES,
	};
}

/* Until a process has been read, its whole stacks are sent: each processor may send some at
 * once. */
static uint32_t ring_for_all(void)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t bytes = RING_BYTES;

	while (bytes < RING_BYTES_MAX && bytes / RING_BYTES_EACH < (uint64_t)processors)
		bytes *= 2;
	return bytes;
}

/* Large programs have twice as many rows as pages, and more. */
void kernel_tables_measure_system(struct kernel_sizes *ret)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t rows = memory / SYSTEM_SHARE /
			(sizeof(struct unwind_row) + sizeof(struct kernel_page) / 2);
	uint32_t bounded = (uint32_t)MIN(MAX(rows, SYSTEM_ROWS_MIN), SYSTEM_ROWS_MAX);

	*ret = (struct kernel_sizes){
		.rows = bounded,
		.pages = bounded / 2,
		.specials = bounded / ROWS_PER_SPECIAL,
		.ranges = RANGES,
		.off_cpu_threads = 1,
		.ring_bytes = ring_for_all(),
		.processes = KERNEL_SYSTEM_PROCESSES_MAX,
	};
}

static int array_map(const struct kernel_session *session, const char *name, size_t size,
		     uint32_t capacity, struct kernel_array *ret)
{
	struct kernel_array array = { .stride = ALIGN_UP(size, 8), .capacity = capacity };

	array.bytes = ALIGN_UP(array.stride * capacity, (uint64_t)sysconf(_SC_PAGESIZE));
	array.memory = mmap(NULL, array.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			    kernel_session_map(session, name), 0);
	if (array.memory == MAP_FAILED)
		return -errno;
	*ret = array;
	return 0;
}

static void array_unmap(struct kernel_array *array)
{
	if (array->memory)
		munmap(array->memory, array->bytes);
	array->memory = NULL;
}

static void *array_at(const struct kernel_array *array, size_t index)
{
	return array->memory + index * array->stride;
}

int kernel_tables_init(struct kernel_tables *ret, const struct kernel_session *session,
		       struct err *err)
{
	const struct kernel_sizes *sizes = &session->sizes;
	struct kernel_tables tables = { .ranges_max = KERNEL_RANGES_MAX,
					.processes = kernel_session_map(session, "processes"),
					.interpreters =
						kernel_session_map(session, "interpreters") };
	int r = array_map(session, "rows", sizeof(struct unwind_row), sizes->rows, &tables.rows);

	if (!r)
		r = array_map(session, "pages", sizeof(struct kernel_page), sizes->pages,
			      &tables.pages);
	if (!r)
		r = array_map(session, "specials", sizeof(struct unwind_special), sizes->specials,
			      &tables.specials);
	if (!r)
		r = array_map(session, "ranges", sizeof(struct kernel_range), sizes->ranges,
			      &tables.ranges);
	if (!r)
		r = array_map(session, "counts", sizeof(struct kernel_counts), 1, &tables.counts);
	if (r) {
		kernel_tables_done(&tables);
		return err_set(err, r, "mapping the tables of kernel programs: %s", strerror(-r));
	}
	*ret = tables;
	return 0;
}

void kernel_tables_done(struct kernel_tables *tables)
{
	array_unmap(&tables->rows);
	array_unmap(&tables->pages);
	array_unmap(&tables->specials);
	array_unmap(&tables->ranges);
	array_unmap(&tables->counts);
	free(tables->modules);
	free(tables->made);
	free(tables->parts);
	tables->made = NULL;
	tables->modules = NULL;
	tables->parts = NULL;
}

static bool has_room(const struct kernel_array *array, size_t count)
{
	return count <= array->capacity - array->used;
}

/* A page refers to the rows that contain the rule of any of its addresses. */
static void write_pages(struct kernel_tables *tables, const struct kernel_room *room,
			const struct unwind_table *table)
{
	for (uint32_t i = 0; i < table->page_count; i++) {
		bool is_last = i + 1 == table->page_count;

		*(struct kernel_page *)array_at(&tables->pages,
						room->page + i) = (struct kernel_page){
			.first = room->row + table->pages[i],
			.last = room->row + (is_last ? table->row_count - 1 : table->pages[i + 1]),
		};
	}
}

bool kernel_tables_reserve(struct kernel_tables *tables, const struct kernel_room *wanted,
			   struct kernel_room *ret)
{
	if (!has_room(&tables->rows, wanted->row_count) ||
	    !has_room(&tables->pages, wanted->page_count) ||
	    !has_room(&tables->specials, wanted->special_count))
		return false;
	*ret = *wanted;
	ret->row = (uint32_t)tables->rows.used;
	ret->page = (uint32_t)tables->pages.used;
	ret->special = (uint32_t)tables->specials.used;
	tables->rows.used += wanted->row_count;
	tables->pages.used += wanted->page_count;
	tables->specials.used += wanted->special_count;
	return true;
}

struct kernel_module kernel_tables_fill(struct kernel_tables *tables,
					const struct kernel_room *room,
					const struct unwind_table *table)
{
	write_pages(tables, room, table);
	memcpy(array_at(&tables->rows, room->row), table->rows,
	       table->row_count * sizeof(*table->rows));
	for (uint32_t i = 0; i < table->special_count; i++)
		memcpy(array_at(&tables->specials, room->special + i), &table->specials[i],
		       sizeof(*table->specials));
	return (struct kernel_module){ .is_placed = true,
				       .page = room->page,
				       .page_count = table->page_count,
				       .special = room->special };
}

static bool place_table(struct kernel_tables *tables, const struct unwind_table *table,
			struct kernel_module *ret)
{
	const struct kernel_room wanted = { .row_count = table->row_count,
					    .page_count = table->page_count,
					    .special_count = table->special_count };
	struct kernel_room room;

	if (!kernel_tables_reserve(tables, &wanted, &room))
		return false;
	*ret = kernel_tables_fill(tables, &room, table);
	return true;
}

static int know_module(struct kernel_tables *tables, unsigned number)
{
	size_t count = MAX(number + 1, 64u);
	struct kernel_module *grown_list;

	if (number < tables->module_count)
		return 0;
	count = ALIGN_UP(count + count / 2, 64);
	grown_list = realloc(tables->modules, count * sizeof(*grown_list));
	if (!grown_list)
		return -ENOMEM;
	memset(grown_list + tables->module_count, 0,
	       (count - tables->module_count) * sizeof(*grown_list));
	tables->modules = grown_list;
	tables->module_count = count;
	return 0;
}

/* A module without room is counted and left out: its frames end the walk with that reason. */
static struct kernel_module place_module(struct kernel_tables *tables, const struct module *module)
{
	struct kernel_module nothing = { .is_placed = false }, *place;

	if (!module->table || !module->table->row_count || know_module(tables, module->number))
		return nothing;
	place = &tables->modules[module->number];
	if (!place->is_placed && !place_table(tables, module->table, place)) {
		tables->left_out += !place->is_left_out;
		place->is_left_out = true;
	}
	return *place;
}

static struct kernel_range range_of(struct kernel_tables *tables, const struct space_range *range)
{
	struct kernel_module place = place_module(tables, range->module);

	return (struct kernel_range){
		.start = range->start,
		.end = range->end,
		.base = range->bias + (range->module->table ? range->module->table->first : 0),
		.page = place.page,
		.page_count = place.page_count,
		.special = place.special,
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
				*(struct kernel_range *)array_at(
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
static const struct kernel_part *in_the_way(const struct kernel_tables *tables, uint32_t first,
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
		part = in_the_way(tables, first, count);
		if (!part) {
			*ret = first;
			return true;
		}
		first = part->first + part->count;
	}
	return false;
}

static int lead_to(struct kernel_tables *tables, struct kernel_part part, enum kernel_asking asking)
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
	r = lead_to(tables, part, asking);
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

void kernel_tables_thin(struct kernel_tables *tables, uint32_t every)
{
	struct kernel_counts *counts = array_at(&tables->counts, 0);

	__atomic_store_n(&counts->every, every, __ATOMIC_RELAXED);
}
