/*
 * Follows the generated code of one process; reads memory, stops nothing.
 */
#include "host/sampling/generated_code.h"

#include "shared/arch/elf.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/java/java.h"
#include "host/process/memory.h"
#include "host/process/procfs.h"
#include "host/unwind/arch/code.h"
#include "host/unwind/engine.h"
#include "host/unwind/mend/mend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define NO_RULES    "stacks end in compiled Java (start it with -XX:+PreserveFramePointer): %s"
#define PATIENCE_NS 1000000000ull /* a Java that is just starting cannot be read yet */
#define ENTRY_BYTES 256u          /* a trampoline is no longer */

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

/* `entered`: the rule of code that a trampoline enters. */
static int make_table(const struct space *space, const struct space_range *range,
		      struct unwind_row entered, struct made_code *ret)
{
	const struct unwind_row end = { .kind = UNWIND_NONE, .fp = UNWIND_FP_SAME };
	bool is_luajit = engine_of(space, range)->frames == FRAMES_OF_LUAJIT;
	CLEANUP(rows_done) struct rows rows = { 0 };
	int r = read_entry(space, range, &rows);

	if (r == -ENODATA)
		r = rows_add(&rows, 0, is_luajit ? luajit_compiled : entered);
	if (!r)
		r = rows_add(&rows, (uint32_t)MIN(range->end - range->start, UINT32_MAX), end);
	if (r)
		return r;
	ret->start = range->start;
	ret->end = range->end;
	return unwind_table_lay_out(&ret->table, range->start, &rows);
}

/* Reads the mappings when they have changed. */
static void make_tables(struct generated_code *code, struct space *space)
{
	struct made_code *made;
	struct unwind_row entered;
	size_t count = 0;
	int r;

	if (code->generation == space->generation)
		return;
	made = calloc(space->count + 1, sizeof(*made));
	entered = find_rule(space);
	r = made ? 0 : -ENOMEM;
	for (size_t i = 0; !r && i < space->count; i++)
		if (is_without_frames(space, &space->ranges[i])) {
			r = make_table(space, &space->ranges[i], entered, &made[count]);
			count += !r;
		}
	if (!r && (count || code->has_rules)) {
		code->has_rules = count;
		space_set_made(space, made, count);
	} else {
		made_code_free(made, count);
	}
	code->generation = space->generation;
}

/* No loss with frame pointers: they lead through Java's code as well. */
static void java_explain(struct generated_code *code, pid_t pid, const char *why)
{
	if (!java_keeps_frame_pointers(pid))
		snprintf(code->why, sizeof(code->why), NO_RULES, why);
}

static void note_failure(struct generated_code *code, pid_t pid, const char *why)
{
	uint64_t now = now_ns();

	if (!code->failing_since_ns)
		code->failing_since_ns = now;
	if (now - code->failing_since_ns >= PATIENCE_NS)
		java_explain(code, pid, why);
}

static void seek_java(struct generated_code *code, const struct space *space)
{
	struct err err = { 0 };
	int r = java_open(&code->java, space, space->pid, &err);

	code->was_sought = r != -EFAULT;
	if (r == -EFAULT)
		note_failure(code, space->pid, err.what);
	else if (r && r != -ENOENT)
		java_explain(code, space->pid, err.what);
}

bool generated_code_read(struct generated_code *code, struct space *space)
{
	int r;

	if (!code->java && !code->was_sought)
		seek_java(code, space);
	if (!code->java) {
		make_tables(code, space);
		return true;
	}
	r = java_refresh(code->java, space);
	if (!r)
		code->failing_since_ns = 0;
	if (r == -EBADMSG || r == -EFBIG) {
		/* Rules that may belong to freed code are worse than none. */
		if (space->made_count)
			space_set_made(space, NULL, 0);
		note_failure(code, space->pid,
			     r == -EFBIG ? "its code cache is too large"
					 : "its code cache is not consistent");
	}
	return r != -EAGAIN;
}

void generated_code_seek_again(struct generated_code *code)
{
	code->was_sought = false;
}

void generated_code_done(struct generated_code *code)
{
	java_close(code->java);
	*code = (struct generated_code){ 0 };
}
