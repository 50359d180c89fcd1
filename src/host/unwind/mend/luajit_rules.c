/*
 * Finds the assembly of LuaJIT: one entry of .eh_frame gives all of it the same frame, which no
 * compiled function has from its first byte on.  Its own subroutines push a return address below
 * that frame, which the entry does not cover.  The file is foreign bytes.
 */
#include "host/unwind/mend/mend.h"

#include "shared/unwind/luajit.h"

#include <string.h>

#define ASSEMBLY_MIN 8192u /* bytes; Debian's have twice as many */

const struct unwind_row luajit_compiled = { .kind = UNWIND_LUAJIT,
					    .cfa = LUAJIT_WORDS,
					    .fp = LUAJIT_FP };

static const char exported[] = "luaJIT_setmode"; /* with its zero */

/* 0: unsupported machine, or no LuaJIT in the file. */
static unsigned find_words(const struct object *object)
{
	struct object_part names;

	if (object_section(object, ".dynstr", &names) ||
	    !memmem(names.bytes, names.size, exported, sizeof(exported)))
		return 0;
	if (object->header.e_machine == EM_X86_64)
		return LUAJIT_WORDS_X86_64;
	return object->header.e_machine == EM_AARCH64 ? LUAJIT_WORDS_AARCH64 : 0;
}

void luajit_rules_mark(const struct object *object, struct rows *rows)
{
	unsigned words = find_words(object);

	for (size_t i = 0; words && i + 1 < rows->count; i++) {
		struct unwind_row *row = &rows->items[i];

		if ((row->kind & UNWIND_KIND_MASK) == UNWIND_SP && row->cfa == words &&
		    row->fp == LUAJIT_FP && row[1].pc - row->pc >= ASSEMBLY_MIN) {
			row->kind = UNWIND_LUAJIT;
			row->cfa = (__u16)(words | LUAJIT_ASSEMBLY);
		}
	}
}
