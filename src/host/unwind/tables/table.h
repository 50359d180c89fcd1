/*
 * The unwind table of a module: rows, their index, and the rules that rows have no room for.
 */
#pragma once

#include "shared/base/macros.h"
#include "shared/unwind/row.h"

#include "host/core/err.h"

#include <stdbool.h>

struct rows;
struct unwind_source;

struct unwind_table {
	uint64_t first;                /* the address (p_vaddr) to which rows are relative */
	const struct unwind_row *rows; /* ascending; the last one is UNWIND_NONE at the end */
	uint32_t row_count;
	const uint32_t *pages; /* each 1 << UNWIND_PAGE_BITS bytes of code: the last row before */
	uint32_t page_count;
	const struct unwind_special *specials;
	uint32_t special_count;
	void *block; /* the memory of rows, pages and specials */
	size_t block_size;
	bool is_mapped; /* the block is mapped from a file, not on the heap */
};

/* The table of an ELF file or of an image of the vdso, made from .eh_frame, or from .debug_frame
 * when that is missing; for other code from instructions.  -ENOEXEC: not an object of a supported
 * machine. */
int unwind_table_compile(struct unwind_table **ret, const void *bytes, size_t size,
			 struct err *err) MUST_CHECK;
int unwind_table_make(struct unwind_table **ret, const struct unwind_source *source,
		      struct err *err) MUST_CHECK;
/* From existing rows; addresses of the table are relative to `first`.  -ENOMEM. */
int unwind_table_lay_out(struct unwind_table **ret, uint64_t first,
			 const struct rows *rows) MUST_CHECK;
void unwind_table_free(struct unwind_table *table);

/* The rule for an address in the file; never NULL: a row of UNWIND_NONE where nothing is known. */
const struct unwind_row *unwind_table_find(const struct unwind_table *table, uint64_t address);
