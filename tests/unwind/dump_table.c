/*
 * Prints the unwind table that limpet makes of a file, one row a line, for comparison with what
 * others read in it.
 *
 *   usage: dump_table FILE     "ADDRESS KIND CFA FP", the CFA as readelf writes it
 */
#include <stdio.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/unwind/tables/table.h"

static const char *const kinds[UNWIND_KINDS] = {
	[UNWIND_NONE] = "none",
	[UNWIND_SP] = "sp",
	[UNWIND_FP] = "fp",
	[UNWIND_PLT] = "plt",
	[UNWIND_SIGNAL] = "signal",
	[UNWIND_END] = "end",
	[UNWIND_SPECIAL] = "special",
	[UNWIND_BAD] = "bad",
	[UNWIND_NEWER] = "newer",
	[UNWIND_GO_GOBUF] = "gobuf",
	[UNWIND_GO_CGO] = "cgo",
	[UNWIND_GO_FP] = "go_fp",
	[UNWIND_GO_PUSHED] = "pushed",
	[UNWIND_LUAJIT] = "luajit",
	[UNWIND_GO_CALLED_BACK] = "called_back",
};

static void print_special(const struct unwind_special *special)
{
	printf(" base=%u offset=%d deref=%u add=%d fp=%u:%d ra=%u:%d", special->base,
	       special->offset, special->is_dereferenced, special->addition, special->fp_saved,
	       special->fp_offset, special->ra_saved, special->ra_offset);
}

static void print_row(const struct unwind_table *table, const struct unwind_row *row)
{
	unsigned kind = row->kind & UNWIND_KIND_MASK;

	printf("%llx %s %u %d %x", (unsigned long long)(table->first + row->pc), kinds[kind],
	       row->cfa * 8u, row->fp, row->kind & ~UNWIND_KIND_MASK);
	if (kind == UNWIND_SPECIAL)
		print_special(&table->specials[row->cfa]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	CLEANUP(free) char *bytes = NULL;
	struct unwind_table *table;
	struct err err = { 0 };
	size_t size;

	if (argc != 2 || text_read_file(argv[1], (size_t)1 << 30, &bytes, &size) < 0) {
		fprintf(stderr, "usage: dump_table FILE\n");
		return 2;
	}
	if (unwind_table_compile(&table, bytes, size, &err) < 0) {
		fprintf(stderr, "%s: %s\n", argv[1], err.what);
		return 1;
	}
	for (uint32_t i = 0; i < table->row_count; i++)
		print_row(table, &table->rows[i]);
	unwind_table_free(table);
	return 0;
}
