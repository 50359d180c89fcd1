/*
 * Keeps rows for all code of a Java virtual machine, and makes tables of them; reads memory, stops
 * nothing.
 */
#include "host/java/java.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/text/path.h"
#include "host/core/text/text.h"
#include "host/java/blob_rows.h"
#include "host/process/memory.h"
#include "host/process/procfs.h"
#include "shared/arch/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define BATCH               512u
#define PAUSE_NS            5000000u   /* least time between two rounds */
#define PAUSES              10u        /* rounds may cost one part in so many of a processor */
#define PAUSES_PARTIAL      4u         /* the same while there is much to see */
#define ROUND_MAX_NS        500000000u /* limit of one round */
#define ROWS_MAX            (4u << 20) /* of a process */
#define SETTLE_NS           500000000u /* code seen this recently may be incomplete */
#define KEEP_FRAME_POINTERS "-XX:+PreserveFramePointer"
#define DROP_FRAME_POINTERS "-XX:-PreserveFramePointer"

/* The blobs of a heap, ascending. */
struct known_heap {
	struct java_heap heap;
	struct blob_rows *blobs;
	size_t count;
};

struct java {
	pid_t pid;
	struct java_layout layout;
	struct known_heap heaps[JAVA_HEAPS_MAX];
	size_t heap_count;
	uint64_t next_ns; /* no round before */
	bool is_partial;  /* the last round was cut short */
	bool has_changed; /* since the last tables */
};

/* Reading stops at the first unreadable piece: it is skipped, and the rest read again. */
static void read_pieces(void *context, const uint64_t *addresses, size_t count, size_t size,
			unsigned char *into)
{
	struct iovec remote[BATCH];

	memset(into, 0, count * size);
	for (size_t at = 0; at < count;) {
		size_t pieces = MIN(count - at, BATCH);
		struct iovec local = { into + at * size, pieces * size };
		ssize_t n;

		for (size_t i = 0; i < pieces; i++)
			remote[i] = (struct iovec){ (void *)(uintptr_t)addresses[at + i], size };
		n = memory_copy(*(pid_t *)context, &local, 1, remote, pieces);
		at += n > 0 ? MAX((size_t)n / size, 1u) : 1;
	}
}

static struct java_memory memory_of(struct java *java)
{
	return (struct java_memory){ { memory_read_process, &java->pid }, read_pieces };
}

static int read_layout(struct java *self, uint64_t base, struct err *err)
{
	const struct java_memory memory = memory_of(self);
	uint64_t symbols[JAVA_SYMBOLS] = { 0 };
	struct elf_image image;
	int r = elf_image_open(&image, &memory.reader, base);

	if (r)
		return err_set(err, r, "libjvm.so cannot be read: %s", strerror(-r));
	for (unsigned i = 0; i < JAVA_SYMBOLS; i++)
		if (elf_image_symbol(&image, java_symbol_names[i], &symbols[i]))
			symbols[i] = 0;
	r = java_layout_read(&self->layout, &memory.reader, symbols, err);
	self->layout.add_rows =
		ARCH_ELF_MACHINE == EM_X86_64 ? java_add_rows_x86_64 : java_add_rows_aarch64;
	return r;
}

int java_open(struct java **ret, const struct space *space, pid_t pid, struct err *err)
{
	const struct space_range *range = NULL;
	struct java *self;
	int r;

	for (size_t i = 0; !range && i < space->count; i++)
		if (space->ranges[i].module->kind == MODULE_FILE &&
		    !strcmp(path_base_name(space->ranges[i].module->path), "libjvm.so"))
			range = &space->ranges[i];
	if (!range)
		return -ENOENT;
	self = calloc(1, sizeof(*self));
	if (!self)
		return err_set(err, -ENOMEM, "Java of %d: no memory", pid);
	self->pid = pid;
	r = read_layout(self, range->bias, err);
	if (!r) {
		*ret = self;
		return 0;
	}
	java_close(self);
	return r;
}

static void forget_blobs(struct known_heap *heap)
{
	for (size_t i = 0; i < heap->count; i++)
		rows_done(&heap->blobs[i].rows);
	free(heap->blobs);
	*heap = (struct known_heap){ 0 };
}

void java_close(struct java *java)
{
	if (!java)
		return;
	for (size_t i = 0; i < java->heap_count; i++)
		forget_blobs(&java->heaps[i]);
	free(java);
}

static bool are_same_rows(const struct rows *a, const struct rows *b)
{
	return a->count == b->count && a->special_count == b->special_count &&
	       !memcmp(a->items, b->items, a->count * sizeof(*a->items)) &&
	       (!a->special_count ||
		!memcmp(a->specials, b->specials, a->special_count * sizeof(*a->specials)));
}

/* One round over the code. */
struct round {
	const struct java_memory *memory;
	const struct java_layout *layout;
	uint64_t begin_ns;
	size_t rows; /* of all blobs */
	bool has_changed, is_partial;
};

/* The rest beyond the limit is read in the next round: until then it counts as newer code. */
static bool is_over_budget(const struct round *round)
{
	return round->rows > ROWS_MAX || now_ns() - round->begin_ns > ROUND_MAX_NS;
}

/* Moves rows of known code; new code is read again until it has settled, and once then. */
static int adopt_blob(struct blob_rows *blob, struct blob_rows *before, struct round *round)
{
	int r;

	if (before && (before->is_settled || is_over_budget(round))) {
		*blob = *before;
		before->rows = (struct rows){ 0 };
		round->rows += blob->rows.count;
		return 0;
	}
	blob->first_seen_ns = before ? before->first_seen_ns : round->begin_ns;
	blob->is_settled = round->begin_ns - blob->first_seen_ns > SETTLE_NS;
	r = blob_rows_make(blob, before, round->memory, round->layout);
	round->has_changed |=
		r || !before ||
		(blob->sum != before->sum && !are_same_rows(&blob->rows, &before->rows));
	round->rows += blob->rows.count;
	return r;
}

static int adopt_blobs(struct known_heap *heap, struct known_heap *before,
		       const struct java_blob *blobs, size_t count, struct round *round)
{
	size_t old = 0;
	int r = 0;

	for (size_t i = 0; !r && i < count; i++) {
		struct blob_rows *same = NULL;

		while (old < before->count && before->blobs[old].blob.address < blobs[i].address)
			old++;
		if (old < before->count && before->blobs[old].blob.address == blobs[i].address &&
		    before->blobs[old].blob.mark == blobs[i].mark)
			same = &before->blobs[old];
		if (!same && is_over_budget(round)) {
			round->is_partial = true;
			continue;
		}
		heap->blobs[heap->count].blob = blobs[i];
		r = adopt_blob(&heap->blobs[heap->count++], same, round);
	}
	round->has_changed |= heap->count != before->count;
	return r;
}

/* On failure the heap is empty: the next round starts again. */
static int scan_heap(struct known_heap *known, const struct java_heap *heap, struct round *round)
{
	CLEANUP(free) struct java_blob *blobs = NULL;
	struct known_heap now = { .heap = *heap };
	size_t count;
	int r = java_blobs_read(&blobs, &count, round->memory, round->layout, heap);

	if (r)
		return r;
	now.blobs = calloc(count + 1, sizeof(*now.blobs));
	if (!now.blobs)
		return -ENOMEM;
	round->has_changed |= known->heap.low != heap->low || known->heap.high != heap->high;
	r = adopt_blobs(&now, known, blobs, count, round);
	forget_blobs(known);
	*known = now;
	if (r)
		forget_blobs(known);
	return r;
}

static int add_blob(struct rows *rows, const struct blob_rows *blob, uint64_t low)
{
	uint32_t begin = (uint32_t)(blob->blob.code_begin - low);
	int r = 0;

	for (size_t i = 0; !r && i < blob->rows.count; i++) {
		const struct unwind_row *row = &blob->rows.items[i];

		r = row->kind == UNWIND_SPECIAL ? rows_add_special(rows, begin + row->pc,
								   &blob->rows.specials[row->cfa])
						: rows_add(rows, begin + row->pc, *row);
	}
	return r ? r : rows_add_kind(rows, (uint32_t)(blob->blob.code_end - low), UNWIND_NEWER);
}

static int make_table(const struct known_heap *heap, struct made_code *ret)
{
	CLEANUP(rows_done) struct rows rows = { 0 };
	int r = rows_add_kind(&rows, 0, UNWIND_NEWER);

	for (size_t i = 0; !r && i < heap->count; i++)
		r = add_blob(&rows, &heap->blobs[i], heap->heap.low);
	if (!r)
		r = rows_add_kind(&rows, (uint32_t)(heap->heap.high - heap->heap.low), UNWIND_NONE);
	if (r)
		return r;
	ret->start = heap->heap.low;
	ret->end = heap->heap.high;
	return unwind_table_lay_out(&ret->table, heap->heap.low, &rows);
}

static int publish_tables(struct java *self, struct space *space)
{
	struct made_code *made = calloc(self->heap_count + 1, sizeof(*made));
	size_t count = 0;
	int r = made ? 0 : -ENOMEM;

	for (; !r && count < self->heap_count; count += !r)
		r = make_table(&self->heaps[count], &made[count]);
	if (!r) {
		space_set_made(space, made, count);
		return 0;
	}
	made_code_free(made, count);
	return r;
}

static int scan_all(struct java *self, struct space *space)
{
	const struct java_memory memory = memory_of(self);
	struct round round = { .memory = &memory, .layout = &self->layout, .begin_ns = now_ns() };
	struct java_heap heaps[JAVA_HEAPS_MAX] = { 0 };
	int count = java_heaps_read(heaps, &memory, &self->layout), r = 0;

	if (count < 0)
		return count;
	while (self->heap_count > (size_t)count)
		forget_blobs(&self->heaps[--self->heap_count]);
	round.has_changed = self->has_changed || self->heap_count != (size_t)count ||
			    space->made_count != (size_t)count;
	self->heap_count = (size_t)count;
	for (int i = 0; !r && i < count; i++)
		r = scan_heap(&self->heaps[i], &heaps[i], &round);
	self->is_partial = round.is_partial && round.rows <= ROWS_MAX;
	if (!r && round.has_changed)
		r = publish_tables(self, space);
	self->has_changed = r && round.has_changed;
	return r;
}

/* The first round is the most expensive, and has no pause after it: code compiled meanwhile is soon
 * needed. */
int java_refresh(struct java *java, struct space *space)
{
	uint64_t before = thread_cpu_ns(), cost;
	bool is_first = !java->heap_count;
	int r;

	if (now_ns() < java->next_ns)
		return -EAGAIN;
	r = scan_all(java, space);
	cost = is_first ? 0 : thread_cpu_ns() - before;
	java->next_ns =
		now_ns() + MAX(cost * (java->is_partial ? PAUSES_PARTIAL : PAUSES), PAUSE_NS);
	return r;
}

/* Of one argument, or of the value of a variable. */
static bool read_options(struct text options, bool is_so_far)
{
	struct text option;

	while (text_take_word(&options, &option))
		is_so_far = text_equals(option, KEEP_FRAME_POINTERS) ||
			    (is_so_far && !text_equals(option, DROP_FRAME_POINTERS));
	return is_so_far;
}

static bool skip_variable_name(struct text *entry)
{
	return text_take_prefix(entry, "JAVA_TOOL_OPTIONS=") ||
	       text_take_prefix(entry, "JDK_JAVA_OPTIONS=") ||
	       text_take_prefix(entry, "_JAVA_OPTIONS=");
}

bool java_options_keep_frame_pointers(const char *bytes, size_t size, bool are_variables,
				      bool is_so_far)
{
	struct text all = { bytes, bytes + size };

	while (all.at < all.end) {
		struct text entry = { all.at,
				      all.at + strnlen(all.at, (size_t)(all.end - all.at)) };

		all.at = entry.end + (entry.end < all.end);
		if (!are_variables || skip_variable_name(&entry))
			is_so_far = read_options(entry, is_so_far);
	}
	return is_so_far;
}

static bool read_file(pid_t pid, const char *name, bool are_variables, bool is_so_far)
{
	CLEANUP(free) char *bytes = NULL;
	struct err err = { 0 };
	size_t size;

	if (proc_read(pid, name, &bytes, &size, &err))
		return is_so_far;
	return java_options_keep_frame_pointers(bytes, size, are_variables, is_so_far);
}

bool java_keeps_frame_pointers(pid_t pid)
{
	bool is_kept = read_file(pid, "cmdline", /* are_variables */ false, false);

	return read_file(pid, "environ", /* are_variables */ true, is_kept);
}
