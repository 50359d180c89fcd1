/*
 * Adds rules that hold at calls only.
 *
 * The CFA of its callee is the caller's sp, so a register that the callee saves first is below
 * that.  Callers are looked up at the last byte of their call, where a thread can only stand during
 * it.
 */
#include "host/unwind/mend/mend.h"

#include <stdlib.h>

#include "host/core/cleanup.h"

struct stretch {
	struct rows *rows;
	const struct object *object;
	const struct object_part *code;
	uint32_t pc; /* of the code's beginning */
	struct unwind_row row;
	uint32_t end; /* the next row's pc */
};

static const struct unwind_special *special_of(const struct rows *rows,
					       const struct unwind_row *row)
{
	const struct unwind_special *special;

	if ((row->kind & UNWIND_KIND_MASK) != UNWIND_SPECIAL)
		return NULL;
	special = &rows->specials[row->cfa];
	return special->base >= UNWIND_BASE_REGISTER && !special->is_dereferenced &&
			       !special->addition
		       ? special
		       : NULL;
}

static int add_stretch(const struct stretch *self)
{
	const struct unwind_special *found = special_of(self->rows, &self->row);
	const unsigned number = found ? found->base - UNWIND_BASE_REGISTER : 0;
	struct saving_call call = { .end = self->row.pc - self->pc };
	struct unwind_special special = found ? *found : (struct unwind_special){ 0 };
	int r = rows_add(self->rows, self->row.pc, self->row);

	special.base = UNWIND_BASE_SP;
	special.is_dereferenced = 1;
	special.addition = special.offset;
	while (!r && found &&
	       self->rows->machine->code->find_saving_call(self->object, self->code, number,
							   &call) &&
	       call.end <= self->end - self->pc) {
		special.offset = call.saved;
		r = rows_add_special(self->rows, self->pc + call.start + 1, &special);
		if (!r)
			r = rows_add(self->rows, self->pc + call.end, self->row);
	}
	return r;
}

int calls_add_rows(struct rows *rows, size_t first, const struct object *object,
		   const struct object_part *code, uint32_t pc)
{
	CLEANUP(free) struct unwind_row *old = NULL;
	struct stretch stretch = { .rows = rows, .object = object, .code = code, .pc = pc };
	bool has_any = false;
	size_t count;
	int r;

	for (size_t i = first; i < rows->count; i++)
		has_any |= special_of(rows, &rows->items[i]) != NULL;
	if (!rows->machine->code->find_saving_call || !has_any)
		return 0;
	r = rows_detach(rows, first, &old, &count);
	for (size_t i = 0; !r && i < count; i++) {
		stretch.row = old[i];
		stretch.end = i + 1 < count ? old[i + 1].pc : pc + (uint32_t)code->size;
		r = add_stretch(&stretch);
	}
	return r;
}
