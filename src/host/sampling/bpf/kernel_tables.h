/*
 * Unwind tables and mappings in the maps of the kernel programs.  A module is written once, for all
 * processes.
 */
#pragma once

#include "host/interpreter/interpreter.h"
#include "host/sampling/bpf/kernel_session.h"
#include "host/unwind/space.h"

/* A map whose entries are mapped into limpet's memory. */
struct kernel_array {
	unsigned char *memory;
	size_t stride, used, capacity, bytes;
};

/* Where a module's table is; by the module's number. */
struct kernel_module {
	bool is_written, is_left_out;
	uint32_t page, page_count, special;
};

/* A part of rows, pages and specials. */
struct kernel_room {
	uint32_t row, row_count, page, page_count, special, special_count;
};

/* Where the table of a process's generated code is.  It changes: two rooms are written in
 * turns, one of which is read. */
struct kernel_made {
	pid_t pid; /* 0: free */
	size_t number;
	unsigned generation; /* of the space; 0: nothing written yet */
	unsigned turn;
	struct kernel_room rooms[2];
	struct kernel_module module;
};

/* The ranges of a process. */
struct kernel_part {
	pid_t pid;
	uint64_t start_stack;
	uint32_t first, count;
	size_t left_out; /* ranges without room */
};

struct kernel_tables {
	struct kernel_array rows, pages, specials, ranges, counts;
	int processes, interpreters;
	struct kernel_module *modules;
	size_t module_count;
	struct kernel_made *made;
	size_t made_count, made_room;
	struct kernel_part *parts;
	size_t part_count, part_room;
	uint32_t next_range, generation;
	uint32_t ranges_max; /* of one process */
	size_t left_out;     /* modules and ranges without room, each once */
};

/* Room for this space, and for libraries loaded later. */
void kernel_tables_measure(const struct space *space, bool has_children, struct kernel_sizes *ret);

/* Room for the mappings of all processes of this machine: a 128th of its memory. */
void kernel_tables_measure_system(struct kernel_sizes *ret);

/* For kernel_tables.c: maps an array; reserves room for a table, false: not
 * enough; writes a table into it. */
int kernel_array_map(struct kernel_array *ret, const struct kernel_session *session,
		     const char *name, size_t size, uint32_t capacity) MUST_CHECK;
void kernel_array_unmap(struct kernel_array *array);
static inline void *kernel_array_at(const struct kernel_array *array, size_t index)
{
	return array->memory + index * array->stride;
}
bool kernel_room_reserve(struct kernel_tables *tables, const struct kernel_room *wanted,
			 struct kernel_room *ret);
struct kernel_module kernel_room_fill(struct kernel_tables *tables, const struct kernel_room *room,
				      const struct unwind_table *table);

#define KERNEL_PIECES_MAX 17u /* of one mapping: generated code and the gaps */

/* Splits a mapping where generated code begins and ends: pieces[0] is all of it.  Returns their
 * number. */
size_t kernel_made_split(struct kernel_tables *tables, const struct space *space,
			 const struct space_range *range,
			 struct kernel_range pieces[KERNEL_PIECES_MAX]);
/* The process has ended: frees its room for others. */
void kernel_made_forget(struct kernel_tables *tables, pid_t pid);

/* After the first file is loaded. */
int kernel_tables_init(struct kernel_tables *ret, const struct kernel_session *session,
		       struct err *err) MUST_CHECK;
void kernel_tables_done(struct kernel_tables *tables);

/* The kernel programs follow the process with these ranges from now on. */
int kernel_tables_publish(struct kernel_tables *tables, const struct space *space,
			  enum kernel_asking asking, struct err *err) MUST_CHECK;
/* From now on they send the frames of its interpreter, too. */
int kernel_tables_interpreter(const struct kernel_tables *tables, pid_t pid,
			      const struct interpreter *interpreter, struct err *err) MUST_CHECK;
void kernel_tables_forget(struct kernel_tables *tables, pid_t pid);
/* Nothing of this process is known: its stacks are not to be sent for walking in user space. */
void kernel_tables_mute(const struct kernel_tables *tables, pid_t pid);
/* From now on one in `every` ticks of a clock is a sample. */
void kernel_tables_keep_every(struct kernel_tables *tables, uint32_t every);
