/*
 * The maps of the kernel programs: how large they are made, and room for tables in them.
 *
 * A table that changes has two rooms: the new one is written into the room that is not in use.
 * Programs that use the old room are done with it long before it is written again.
 */
#include "host/core/room.h"
#include "host/sampling/bpf/kernel_tables.h"

#include <errno.h>
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

static uint32_t size_grown(size_t needed, uint32_t later)
{
	return (uint32_t)MIN(needed + needed / 2 + later, (size_t)1 << 27);
}

/* Several ranges may belong to one module, which then counts twice: that is room for later. */
void kernel_tables_measure(const struct space *space, bool has_children, struct kernel_sizes *ret)
{
	uint32_t later = has_children ? LATER_ROWS_CHILDREN : LATER_ROWS;
	size_t rows = 0, pages = 0, specials = 0;

	for (size_t i = 0; i < space->count + space->made_count; i++) {
		bool is_made = i >= space->count;
		const struct unwind_table *table = is_made ? space->made[i - space->count].table
							   : space->ranges[i].module->table;
		size_t times = is_made ? MADE_GROWS : 1;

		if (!table)
			continue;
		rows += times * table->row_count;
		pages += times * table->page_count;
		specials += times * table->special_count;
	}
	*ret = (struct kernel_sizes){
		.rows = size_grown(rows, later),
		.pages = size_grown(pages, later),
		.specials = size_grown(specials, later / ROWS_PER_SPECIAL),
		.ranges = RANGES,
		.off_cpu_threads = OFF_CPU_THREADS,
		.ring_bytes = RING_BYTES,
	};
}

/* Large programs have twice as many rows as pages, and more. */
void kernel_tables_measure_system(struct kernel_sizes *ret)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t rows = memory / SYSTEM_SHARE /
			(sizeof(struct unwind_row) + sizeof(struct kernel_page) / 2);
	uint32_t bounded = (uint32_t)MIN(MAX(rows, SYSTEM_ROWS_MIN), SYSTEM_ROWS_MAX);
	uint64_t processors = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);

	*ret = (struct kernel_sizes){
		.rows = bounded,
		.pages = bounded / 2,
		.specials = bounded / ROWS_PER_SPECIAL,
		.ranges = RANGES,
		.off_cpu_threads = 1,
		.ring_bytes = RING_BYTES,
		.processes = KERNEL_SYSTEM_PROCESSES_MAX,
	};
	/* Until a process has been read its whole stacks are sent: each processor may send some at
	 * once. */
	while (ret->ring_bytes < RING_BYTES_MAX && ret->ring_bytes / RING_BYTES_EACH < processors)
		ret->ring_bytes *= 2;
}

int kernel_array_map(struct kernel_array *ret, const struct kernel_session *session,
		     const char *name, size_t size, uint32_t capacity)
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

void kernel_array_unmap(struct kernel_array *array)
{
	if (array->memory)
		munmap(array->memory, array->bytes);
	array->memory = NULL;
}

static bool has_room(const struct kernel_array *array, size_t count)
{
	return count <= array->capacity - array->used;
}

bool kernel_room_reserve(struct kernel_tables *tables, const struct kernel_room *wanted,
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

/* A page refers to the rows that contain the rule of any of its addresses. */
struct kernel_module kernel_room_fill(struct kernel_tables *tables, const struct kernel_room *room,
				      const struct unwind_table *table)
{
	for (uint32_t i = 0; i < table->page_count; i++) {
		struct kernel_page *page = kernel_array_at(&tables->pages, room->page + i);
		bool is_last = i + 1 == table->page_count;

		page->first = room->row + table->pages[i];
		page->last = room->row + (is_last ? table->row_count - 1 : table->pages[i + 1]);
	}
	memcpy(kernel_array_at(&tables->rows, room->row), table->rows,
	       table->row_count * sizeof(*table->rows));
	for (uint32_t i = 0; i < table->special_count; i++)
		memcpy(kernel_array_at(&tables->specials, room->special + i), &table->specials[i],
		       sizeof(*table->specials));
	return (struct kernel_module){ .is_written = true,
				       .page = room->page,
				       .page_count = table->page_count,
				       .special = room->special };
}

/* That of a process, or a free one for it; NULL: no memory. */
static struct kernel_made *made_of(struct kernel_tables *tables, pid_t pid, size_t number)
{
	struct kernel_made *free_one = NULL;

	for (size_t i = 0; i < tables->made_count; i++) {
		struct kernel_made *made = &tables->made[i];

		if (made->pid == pid && made->number == number)
			return made;
		if (!made->pid)
			free_one = made;
	}
	if (!free_one &&
	    make_room(&tables->made, tables->made_count, &tables->made_room, sizeof(*free_one)))
		return NULL;
	if (!free_one) {
		free_one = &tables->made[tables->made_count++];
		*free_one = (struct kernel_made){ 0 };
	}
	free_one->pid = pid;
	free_one->number = number;
	free_one->generation = 0;
	return free_one;
}

/* Room for half as much again, or exactly enough where there is no more. */
static bool find_room(struct kernel_tables *tables, const struct unwind_table *table,
		      struct kernel_room *room)
{
	const struct kernel_room exact = { .row_count = table->row_count,
					   .page_count = table->page_count,
					   .special_count = table->special_count };
	const struct kernel_room ample = {
		.row_count = table->row_count + table->row_count / 2 + 256,
		.page_count = table->page_count + table->page_count / 2 + 64,
		.special_count = table->special_count + table->special_count / 2 + 16,
	};

	if (room->row_count >= table->row_count && room->page_count >= table->page_count &&
	    room->special_count >= table->special_count)
		return true;
	return kernel_room_reserve(tables, &ample, room) ||
	       kernel_room_reserve(tables, &exact, room);
}

/* A table without room is counted and left out; the old one is outdated. */
static struct kernel_module made_write(struct kernel_tables *tables, const struct space *space,
				       size_t number)
{
	struct kernel_made *made = made_of(tables, space->pid, number);
	const struct unwind_table *table = space->made[number].table;
	bool was_left_out;

	if (!made)
		return (struct kernel_module){ .is_left_out = true };
	if (made->generation == space->made_generation)
		return made->module;
	was_left_out = made->module.is_left_out;
	made->turn = !made->turn;
	if (find_room(tables, table, &made->rooms[made->turn]))
		made->module = kernel_room_fill(tables, &made->rooms[made->turn], table);
	else
		made->module = (struct kernel_module){ .is_left_out = true };
	tables->left_out += made->module.is_left_out && !was_left_out;
	made->generation = space->made_generation;
	return made->module;
}

static struct kernel_range piece_of(const struct kernel_range *whole, uint64_t start, uint64_t end)
{
	struct kernel_range piece = *whole;

	piece.start = start;
	piece.end = end;
	return piece;
}

size_t kernel_made_split(struct kernel_tables *tables, const struct space *space,
			 const struct space_range *range,
			 struct kernel_range pieces[KERNEL_PIECES_MAX])
{
	const struct kernel_range whole = pieces[0];
	uint64_t at = whole.start;
	size_t count = 0;

	if (range->module->table)
		return 1;
	for (size_t i = 0; i < space->made_count && count + 2 < KERNEL_PIECES_MAX; i++) {
		const struct made_code *code = &space->made[i];
		struct kernel_module module;

		if (code->end <= at || code->start >= whole.end)
			continue;
		if (code->start > at)
			pieces[count++] = piece_of(&whole, at, code->start);
		module = made_write(tables, space, i);
		at = MIN(whole.end, code->end);
		pieces[count++] = (struct kernel_range){ .start = MAX(whole.start, code->start),
							 .end = at,
							 .base = code->table->first,
							 .page = module.page,
							 .page_count = module.page_count,
							 .special = module.special,
							 .is_made = 1 };
	}
	if (at < whole.end)
		pieces[count++] = piece_of(&whole, at, whole.end);
	return count;
}

void kernel_made_forget(struct kernel_tables *tables, pid_t pid)
{
	for (size_t i = 0; i < tables->made_count; i++)
		if (tables->made[i].pid == pid)
			tables->made[i].pid = 0;
}
