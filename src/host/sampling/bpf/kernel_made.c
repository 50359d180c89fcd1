/*
 * Writes tables that change into the kernel's maps.  Each has two rooms: the new one is written
 * into the room that is not in use.  Programs that use the old room are done with it long before it
 * is written again.
 */
#include "host/sampling/bpf/kernel_tables.h"

#include "host/core/room.h"

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
