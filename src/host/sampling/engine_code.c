/*
 * Makes the unwind tables of runtimes' code; reads memory, stops nothing.
 */
#include "host/sampling/engine_code.h"

#include "shared/arch/elf.h"

#include "host/core/cleanup.h"
#include "host/process/memory.h"
#include "host/process/procfs.h"
#include "host/unwind/arch/code.h"
#include "host/unwind/engine.h"
#include "host/unwind/mend/mend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define ENTRY_BYTES 256u /* a trampoline is no longer */

static void rows_done_at_scope_end(struct rows *rows)
{
	rows_done(rows);
}

/* "-JPperf true" on its command line, which has a zero behind each word. */
static bool has_option(pid_t pid, const char *option)
{
	static const char yes[] = "true";
	CLEANUP(free) char *words = NULL;
	struct err ignored = { 0 };
	size_t size, length = strlen(option) + 1, left;
	const char *found;

	if (proc_read(pid, "cmdline", &words, &size, &ignored))
		return false;
	found = memmem(words, size, option, length);
	left = found ? size - (size_t)(found - words) - length : 0;
	return left >= sizeof(yes) && !memcmp(found + length, yes, sizeof(yes));
}

static bool is_without_frames(const struct space *space, const struct space_range *range)
{
	const struct engine *engine;

	if (module_is_file(range->module) || range->module->kind == MODULE_VDSO)
		return false;
	engine = engine_of(space, range);
	return engine->frames != FRAMES_BY_POINTER &&
	       !(ARCH_RETURN_ON_STACK && engine->option && has_option(space->pid, engine->option));
}

/* Rules of the trampoline at the beginning of a mapping.  -ENODATA: there is none. */
static int read_entry(const struct space *space, const struct space_range *range, struct rows *rows)
{
	unsigned char bytes[ENTRY_BYTES];
	const struct object_part piece = { .bytes = bytes, .size = sizeof(bytes) };
	struct iovec local = { bytes, sizeof(bytes) };
	struct iovec remote = { (void *)(uintptr_t)range->start, sizeof(bytes) };

	rows->machine = unwind_machine_of(ARCH_ELF_MACHINE);
	if (engine_of(space, range)->frames != FRAMES_BY_ENTRY || !rows->machine ||
	    !rows->machine->code->add_entered ||
	    memory_copy(space->pid, &local, 1, &remote, 1) != sizeof(bytes))
		return -ENODATA;
	return rows->machine->code->add_entered(&piece, rows);
}

/* The rule of all code that the trampoline enters; UNWIND_BAD: not known. */
static struct unwind_row find_rule(const struct space *space)
{
	struct unwind_row found = { .kind = UNWIND_BAD,
				    .cfa = UNWIND_BAD_JIT,
				    .fp = UNWIND_FP_SAME };

	for (size_t i = 0; i < space->count; i++) {
		CLEANUP(rows_done) struct rows rows = { 0 };

		if (is_without_frames(space, &space->ranges[i]) &&
		    !read_entry(space, &space->ranges[i], &rows) && rows.count)
			found = rows.items[rows.count - 1];
	}
	return found;
}

static struct unwind_row rule_of(const struct space *space, const struct space_range *range,
				 struct unwind_row entered)
{
	return engine_of(space, range)->frames == FRAMES_OF_LUAJIT ? luajit_compiled : entered;
}

static int make_table(const struct space *space, const struct space_range *range,
		      struct unwind_row rule, struct made_code *ret)
{
	const struct unwind_row end = { .kind = UNWIND_NONE, .fp = UNWIND_FP_SAME };
	CLEANUP(rows_done) struct rows rows = { 0 };
	int r = read_entry(space, range, &rows);

	if (r == -ENODATA)
		r = rows_add(&rows, 0, rule);
	if (!r)
		r = rows_add(&rows, (uint32_t)MIN(range->end - range->start, UINT32_MAX), end);
	if (r)
		return r;
	ret->start = range->start;
	ret->end = range->end;
	return unwind_table_lay_out(&ret->table, range->start, &rows);
}

static void give_tables(struct engine_code *code, struct space *space)
{
	struct made_code *made = calloc(space->count + 1, sizeof(*made));
	struct unwind_row rule = find_rule(space);
	size_t count = 0;
	int r = made ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < space->count; i++)
		if (is_without_frames(space, &space->ranges[i])) {
			r = make_table(space, &space->ranges[i],
				       rule_of(space, &space->ranges[i], rule), &made[count]);
			count += !r;
		}
	if (!r && (count || code->has_rules)) {
		code->has_rules = count;
		space_set_made(space, made, count);
	} else {
		made_code_free(made, count);
	}
}

void engine_code_look(struct engine_code *code, struct space *space)
{
	if (code->generation == space->generation)
		return;
	give_tables(code, space);
	code->generation = space->generation;
}
