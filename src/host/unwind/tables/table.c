/*
 * Compiles the unwind table of a module, and looks addresses up.
 */
#include "host/unwind/tables/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "host/core/cleanup.h"
#include "host/unwind/arch/code.h"
#include "host/unwind/mend/mend.h"
#include "host/unwind/rules/rows.h"
#include "host/unwind/tables/entries.h"
#include "host/unwind/tables/go_rules.h"
#include "host/unwind/tables/source.h"

static const struct unwind_row nothing_known = { .kind = UNWIND_NONE, .fp = UNWIND_FP_SAME };

struct compilation {
	const struct unwind_source *source;
	struct frames frames;
	struct code_begins begins;
	struct rows rows;
	uint64_t first, end;
	bool has_swap; /* maybe */
	/* During the compilation of one entry: */
	uint64_t entry_end;
	bool is_signal;
};

static void compilation_done_at_scope_end(struct compilation *work)
{
	frames_done(&work->frames);
	free(work->begins.named);
	free(work->begins.called);
	rows_done(&work->rows);
}

static int add_rules(void *context, uint64_t address, const struct rules *rules)
{
	struct compilation *work = context;
	uint32_t pc = (uint32_t)(address - work->first);

	if (address >= work->entry_end)
		return 0;
	if (rules->kind == RULES_NONE)
		return rows_add_kind(&work->rows, pc, UNWIND_NONE);
	if (work->is_signal || rules->kind == RULES_SIGNAL)
		return rows_add_kind(&work->rows, pc, UNWIND_SIGNAL);
	return rows_add_rules(&work->rows, pc, rules);
}

static bool find_code(const struct compilation *work, const struct frame_entry *entry,
		      struct object_part *ret)
{
	if (object_at(&work->source->object, entry->start, ret) < 0)
		return false;
	ret->size = MIN(ret->size, entry->end - entry->start);
	return true;
}

static int compile_program(struct compilation *work, const struct frame_entry *entry,
			   const struct rules_listener *listener)
{
	const struct frame_common *common = &work->frames.commons[entry->common];
	const struct code_reader *reader = work->rows.machine->code;
	uint32_t pc = (uint32_t)(entry->start - work->first);
	size_t first = work->rows.count;
	struct object_part code;
	int r;

	work->is_signal = common->is_signal;
	r = rules_run(work->rows.machine, common, entry, listener);
	if (r < 0 || !find_code(work, entry, &code))
		return r;
	first = MIN(first, work->rows.count);
	while (first && work->rows.items[first - 1].pc >= pc)
		first--;
	r = epilogues_mend(&work->rows, first, &code, pc);
	if (!r)
		r = pushed_numbers_mend(&work->rows, first, &code, pc);
	if (!r)
		r = throwers_narrow(&work->rows, first, &code, pc);
	if (!r && reader->mark)
		reader->mark(&code, pc, work->rows.items + first, work->rows.count - first);
	if (!r)
		r = calls_add_rows(&work->rows, first, &work->source->object, &code, pc);
	return r || !work->has_swap ? r : swap_rules_add(&work->rows, &code, pc);
}

static int compile_kind(struct compilation *work, const struct frame_entry *entry)
{
	const struct rules_listener listener = { add_rules, work };
	struct object_part piece;

	switch (entry->kind) {
	case ENTRY_PROGRAM:
		return compile_program(work, entry, &listener);
	case ENTRY_GAP:
		work->is_signal = false;
		if (!find_code(work, entry, &piece))
			return 0;
		return work->source->machine->code->read(&piece, &work->begins, &listener);
	case ENTRY_END:
		return rows_add_kind(&work->rows, (uint32_t)(entry->start - work->first),
				     UNWIND_END);
	case ENTRY_GO:
		return go_code_compile(&work->source->go, entry->common, work->first, &work->rows);
	default:
		return 0;
	}
}

/* The last row holds on in the padding behind such code; a gap with other code has its own
 * entry. */
static bool holds_on(const struct compilation *work, const struct frame_entry *entry)
{
	const struct code_reader *reader = work->rows.machine->code;
	struct object_part code;

	return entry->kind == ENTRY_PROGRAM && reader->may_fall_on &&
	       find_code(work, entry, &code) && reader->may_fall_on(&code);
}

/* An invalid program is not used at all. */
static int compile_entry(struct compilation *work, const struct frame_entry *entry)
{
	int r = compile_kind(work, entry);

	if (r == -EBADMSG)
		r = rows_add_kind(&work->rows, (uint32_t)(entry->start - work->first), UNWIND_BAD);
	if (r < 0 || holds_on(work, entry))
		return r;
	return rows_add_kind(&work->rows, (uint32_t)(work->entry_end - work->first), UNWIND_NONE);
}

/* Code in two entries belongs to the later one. */
static int compile_entries(struct compilation *work)
{
	const struct frames *frames = &work->frames;
	int r = rows_add_kind(&work->rows, 0, UNWIND_NONE);

	for (size_t i = 0; !r && i < frames->count; i++) {
		const struct frame_entry *entry = &frames->entries[i];

		if (entry->start < work->first || entry->end > work->end)
			continue;
		/* In rt_sigreturn the pc stands behind the last byte of the trampoline. */
		work->entry_end = entry->end + (entry->kind == ENTRY_GAP ||
						(entry->kind == ENTRY_PROGRAM &&
						 frames->commons[entry->common].is_signal));
		if (i + 1 < frames->count)
			work->entry_end = MIN(work->entry_end, frames->entries[i + 1].start);
		r = compile_entry(work, entry);
	}
	return r;
}

/* Rows, specials and index in one block, so that a file can hold them unchanged. */
static struct unwind_table *lay_out(uint64_t first, const struct rows *from)
{
	size_t rows = from->count * sizeof(struct unwind_row);
	size_t specials = from->special_count * sizeof(struct unwind_special);
	uint32_t pages = (from->items[from->count - 1].pc >> UNWIND_PAGE_BITS) + 1;
	struct unwind_table *table = calloc(1, sizeof(*table));
	size_t size = rows + specials + pages * sizeof(uint32_t);
	char *block = malloc(size);

	if (!table || !block) {
		free(block);
		free(table);
		return NULL;
	}
	memcpy(block, from->items, rows);
	if (specials)
		memcpy(block + rows, from->specials, specials);
	*table = (struct unwind_table){
		.first = first,
		.rows = (const struct unwind_row *)block,
		.row_count = (uint32_t)from->count,
		.specials = (const struct unwind_special *)(block + rows),
		.special_count = (uint32_t)from->special_count,
		.pages = (const uint32_t *)(block + rows + specials),
		.page_count = pages,
		.block = block,
		.block_size = size,
	};
	return table;
}

int unwind_table_lay_out(struct unwind_table **ret, uint64_t first, const struct rows *rows)
{
	struct unwind_table *table = lay_out(first, rows);
	uint32_t *pages = table ? (uint32_t *)(uintptr_t)table->pages : NULL, row = 0;

	*ret = table;
	if (!table)
		return -ENOMEM;
	for (uint32_t page = 0; page < table->page_count; page++) {
		while (row + 1 < table->row_count &&
		       table->rows[row + 1].pc <= page << UNWIND_PAGE_BITS)
			row++;
		pages[page] = row;
	}
	return 0;
}

/* The first section's entries, and those of the second for other code. */
static int read_frames(struct compilation *work)
{
	const struct object_part *parts = work->source->parts;
	struct frames more;
	int r = frames_read(&work->frames, &parts[FRAMES_EH], FRAMES_EH);

	if (r < 0)
		return r;
	r = frames_read(&more, &parts[FRAMES_DEBUG], FRAMES_DEBUG);
	if (r < 0)
		return r;
	r = frames_merge(&work->frames, &more);
	frames_done(&more);
	if (!r && work->source->has_go)
		r = go_code_add(&work->source->go, &work->frames);
	return r ? r : ends_add(&work->frames, &work->source->object);
}

static int add_gaps(struct compilation *work)
{
	const struct unwind_source *source = work->source;
	const struct code_reader *reader = source->machine->code;
	int r = stubs_add(&work->frames, &source->stubs);

	if (!r)
		r = gaps_add(&work->frames, &source->object, reader->step);
	if (!r)
		r = reader->find_begins(&source->object, &work->begins);
	work->begins.is_assembly = frames_are_compilers(&work->frames, work->end - work->first);
	return r;
}

int unwind_table_make(struct unwind_table **ret, const struct unwind_source *source,
		      struct err *err)
{
	CLEANUP(compilation_done)
	struct compilation work = {
		.source = source,
		.first = source->first,
		.end = source->end,
		.rows.machine = source->machine,
		.has_swap = source->machine->code->read_swap && swap_is_named(&source->object),
	};
	int r = read_frames(&work);

	if (!r)
		r = add_gaps(&work);
	if (!r)
		r = compile_entries(&work);
	if (!r)
		luajit_rules_mark(&source->object, &work.rows);
	if (!r)
		r = unwind_table_lay_out(ret, work.first, &work.rows);
	if (r < 0) {
		*ret = NULL;
		return r == -EOVERFLOW ? err_set(err, r, "more than %u rows of unwind information",
						 UNWIND_ROWS_MAX)
				       : err_set(err, -ENOMEM, "no memory for an unwind table");
	}
	return 0;
}

int unwind_table_compile(struct unwind_table **ret, const void *bytes, size_t size, struct err *err)
{
	struct unwind_source source;
	int r = unwind_source_open(&source, bytes, size, err);

	if (r < 0)
		return r;
	r = unwind_table_make(ret, &source, err);
	unwind_source_close(&source);
	return r;
}

void unwind_table_free(struct unwind_table *table)
{
	if (!table)
		return;
	if (table->is_mapped)
		munmap(table->block, table->block_size);
	else
		free(table->block);
	free(table);
}

const struct unwind_row *unwind_table_find(const struct unwind_table *table, uint64_t address)
{
	uint64_t offset = address - table->first;
	uint64_t page = offset >> UNWIND_PAGE_BITS;
	uint32_t low, high;

	if (address < table->first || page >= table->page_count)
		return &nothing_known;
	low = table->pages[page];
	high = page + 1 < table->page_count ? table->pages[page + 1] : table->row_count - 1;
	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		if (table->rows[middle].pc <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return &table->rows[low];
}
