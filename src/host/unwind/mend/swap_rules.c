/*
 * Makes rows from the instructions of swapcontext().  The file is foreign bytes.
 */
#include "host/unwind/mend/mend.h"

#include <string.h>

static const char name[] = "swapcontext"; /* with its zero */

static bool is_among(const struct object *object, const char *section)
{
	struct object_part names;

	return !object_section(object, section, &names) &&
	       memmem(names.bytes, names.size, name, sizeof(name));
}

bool swap_is_named(const struct object *object)
{
	return is_among(object, ".dynstr") || is_among(object, ".strtab");
}

static int add_saved(struct rows *rows, const struct swap_code *swap, uint32_t pc)
{
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(swap->saved); i++) {
		const struct unwind_special special = {
			.base = UNWIND_BASE_SP,
			.ra_saved = UNWIND_SAVED_BEHIND,
			.ra_register = (__u8)swap->saved[i].in,
			.ra_offset = swap->saved[i].offset,
		};

		r = rows_add_special(rows, pc + swap->saved[i].start, &special);
	}
	return r;
}

static int add_back(struct rows *rows, const struct swap_code *swap, uint32_t pc)
{
	const struct unwind_special special = {
		.base = UNWIND_BASE_SP,
		.ra_saved = UNWIND_SAVED_IN,
		.ra_offset = (int32_t)swap->back_in,
	};
	const struct unwind_row bare = { .kind = UNWIND_SP | UNWIND_RA_IN_REGISTER,
					 .fp = UNWIND_FP_SAME };
	int r = rows_add_special(rows, pc + swap->back, &special);

	return r ? r : rows_add(rows, pc + swap->back_end, bare);
}

int swap_rules_add(struct rows *rows, const struct object_part *code, uint32_t pc)
{
	struct swap_code swap;
	struct unwind_row left = { .kind = UNWIND_CONTEXT, .fp = UNWIND_FP_SAME };
	int r;

	if (!rows->machine->code->read_swap || !rows->machine->code->read_swap(code, &swap))
		return 0;
	r = add_saved(rows, &swap, pc);
	left.cfa = (__u16)swap.call;
	if (!r)
		r = rows_add(rows, pc + swap.call, left);
	return r ? r : add_back(rows, &swap, pc);
}
