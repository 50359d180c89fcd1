/*
 * Finds pairs that push a number and pop it, within one row: what that says of sp is true before
 * and behind them.
 */
#include "host/unwind/mend/mend.h"

#include <stdlib.h>

#include "host/core/cleanup.h"

#define BETWEEN_MAX 8u /* instructions */
#define WORD        8

/* The pushing instruction begins at `at`; from `behind` to `end` the number lies on the stack. */
struct pair {
	uint32_t at, behind, end;
};

struct search {
	const struct code_reader *reader;
	const struct object_part *code;
	uint32_t from; /* an instruction begins there */
};

static bool read_step(const struct search *self, uint32_t at, struct frame_step *ret)
{
	return at < self->code->size &&
	       !self->reader->read_step(ret, self->code->bytes + at, self->code->size - at);
}

/* It goes on, and changes sp by that only. */
static bool moves_sp(const struct frame_step *step, int32_t by)
{
	return step->flow == STEP_ON && step->sp_change == by && !step->is_sp_lost &&
	       step->move != MOVE_SP_FROM_FP;
}

static bool read_pair(const struct search *self, uint32_t at, struct pair *ret)
{
	struct frame_step step;

	if (!read_step(self, at, &step) || !moves_sp(&step, -WORD))
		return false;
	*ret = (struct pair){ .at = at, .behind = at + step.size, .end = at + step.size };
	for (unsigned i = 0; i <= BETWEEN_MAX && read_step(self, ret->end, &step); i++) {
		ret->end += step.size;
		if (!moves_sp(&step, 0))
			return moves_sp(&step, WORD);
	}
	return false;
}

/* Whether an instruction begins there; goes on to the first one that does not begin before it. */
static bool is_instruction(struct search *self, uint32_t at)
{
	struct frame_step step;

	while (self->from < at && read_step(self, self->from, &step))
		self->from += step.size;
	return self->from == at;
}

static bool find_pair(struct search *self, uint32_t from, struct pair *ret)
{
	uint32_t at = from;

	for (; (at = self->reader->find_number_push(self->code, at)) < self->code->size; at++)
		if (read_pair(self, at, ret) && is_instruction(self, at))
			return true;
	return false;
}

/* The row that was added last holds where the number is pushed, and, where no row begins before,
 * behind the pair. */
static int add_pair(struct rows *rows, uint32_t pc, const struct pair *pair)
{
	struct unwind_row row, other;
	int r;

	if (!rows->count)
		return 0;
	row = other = rows->items[rows->count - 1];
	if ((row.kind & UNWIND_KIND_MASK) != UNWIND_SP || row.cfa == UINT16_MAX)
		return 0;
	other.cfa++;
	r = rows_add(rows, pc + pair->behind, other);
	return r ? r : rows_add(rows, pc + pair->end, row);
}

int pushed_numbers_mend(struct rows *rows, size_t first, const struct object_part *code,
			uint32_t pc)
{
	struct search search = { .reader = rows->machine->code, .code = code };
	size_t count, next = 0;
	CLEANUP(free) struct unwind_row *old = NULL;
	struct pair pair = { 0 };
	int r;

	if (!search.reader->find_number_push || code->size > CODE_PIECE_MAX ||
	    !find_pair(&search, 0, &pair))
		return 0;
	r = rows_detach(rows, first, &old, &count);
	if (r)
		return r;
	do {
		for (; !r && next < count && old[next].pc <= pc + pair.at; next++)
			r = rows_add(rows, old[next].pc, old[next]);
		if (!r && (next == count || old[next].pc > pc + pair.end))
			r = add_pair(rows, pc, &pair);
	} while (!r && find_pair(&search, pair.end, &pair));
	for (; !r && next < count; next++)
		r = rows_add(rows, old[next].pc, old[next]);
	return r;
}
