/*
 * Unwind tables: of small files that are fuzz seeds too, of libc, and of the vdso in our own
 * memory.
 */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "host/unwind/rules/frames.h"
#include "host/unwind/tables/table.h"

static struct unwind_table *compile(const char *path)
{
	CLEANUP(free) char *bytes = NULL;
	struct unwind_table *table = NULL;
	struct err err = { 0 };
	size_t size;

	assert_int_equal(text_read_file(path, (size_t)64 << 20, &bytes, &size), 0);
	assert_int_equal(unwind_table_compile(&table, bytes, size, &err), 0);
	return table;
}

static struct unwind_table *compile_seed(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", getenv("SEEDS"), name);
	return compile(path);
}

static void assert_row(const struct unwind_table *table, uint64_t address, unsigned kind,
		       unsigned cfa, int fp)
{
	const struct unwind_row *row = unwind_table_find(table, address);

	assert_int_equal(row->kind, kind);
	assert_int_equal(row->cfa, cfa);
	assert_int_equal(row->fp, fp);
}

/* The functions of the seed: a stub table, one with alloca, one with a realigned stack, a plain
 * one. */
static void check_x86_64(const char *name)
{
	struct unwind_table *table = compile_seed(name);
	const struct unwind_row *row = unwind_table_find(table, 0x340);

	assert_row(table, 0x2bf, UNWIND_NONE, 0, UNWIND_FP_SAME);
	assert_row(table, 0x2c0, UNWIND_SP, 2, UNWIND_FP_SAME);
	assert_row(table, 0x2d0, UNWIND_PLT, 11, UNWIND_FP_SAME);
	assert_row(table, 0x300, UNWIND_SP, 1, UNWIND_FP_SAME);
	assert_row(table, 0x301, UNWIND_SP, 2, -2);
	assert_row(table, 0x310, UNWIND_FP, 2, -2);
	assert_row(table, 0x31f, UNWIND_SP, 1, UNWIND_FP_SAME);
	assert_int_equal(row->kind, UNWIND_SPECIAL);
	assert_memory_equal(&table->specials[row->cfa],
			    (&(struct unwind_special){ .base = UNWIND_BASE_FP,
						       .is_dereferenced = 1,
						       .fp_saved = UNWIND_SAVED_AT_BASE,
						       .ra_saved = UNWIND_SAVED_AT_CFA,
						       .offset = -8,
						       .ra_offset = -8 }),
			    sizeof(struct unwind_special));
	assert_row(table, 0x36f, UNWIND_NONE, 0, UNWIND_FP_SAME);
	assert_row(table, 0x390, UNWIND_SP, 8, -6);
	assert_row(table, 0x3cd, UNWIND_SP, 1, UNWIND_FP_SAME);
	assert_row(table, 0x3ce, UNWIND_NONE, 0, UNWIND_FP_SAME);
	unwind_table_free(table);
}

static void reads_eh_frame(void **state)
{
	(void)state;
	check_x86_64("x86_64");
}

static void needs_no_section_headers(void **state)
{
	(void)state;
	check_x86_64("no_sections");
}

static void reads_debug_frame_where_there_is_nothing_else(void **state)
{
	struct unwind_table *table = compile_seed("debug_frame");

	(void)state;
	assert_row(table, 0x2e0, UNWIND_FP, 2, -2);
	assert_row(table, 0x360, UNWIND_SP, 8, -6);
	unwind_table_free(table);
}

/* lld writes no rules for its stubs. */
static void knows_stubs_without_rules(void **state)
{
	struct unwind_table *table = compile_seed("stubs");
	uint64_t plt = 0;

	(void)state;
	for (uint32_t i = 0; i < table->row_count && !plt; i++)
		if (table->rows[i].kind == UNWIND_PLT)
			plt = table->first + table->rows[i].pc;
	assert_true(plt > 0);
	assert_row(table, plt - 1, UNWIND_SP, 3, UNWIND_FP_SAME);
	assert_row(table, plt - 16, UNWIND_SP, 2, UNWIND_FP_SAME);
	unwind_table_free(table);
}

/* Nor has GNU ld for those of static programs, which jump only: 8 bytes each, or 16 with endbr64.
 */
static void knows_stubs_of_static_programs(void **state)
{
	struct unwind_table *table = compile_seed("stubs_static");

	(void)state;
	assert_row(table, 0x400117, UNWIND_NONE, 0, UNWIND_FP_SAME);
	assert_row(table, 0x400118, UNWIND_SP, 1, UNWIND_FP_SAME);
	assert_row(table, 0x400127, UNWIND_SP, 1, UNWIND_FP_SAME);
	assert_row(table, 0x400128, UNWIND_NONE, 0, UNWIND_FP_SAME);
	unwind_table_free(table);
	table = compile_seed("stubs_guarded");
	assert_row(table, 0x400120, UNWIND_SP, 1, UNWIND_FP_SAME);
	assert_row(table, 0x40013f, UNWIND_SP, 1, UNWIND_FP_SAME);
	unwind_table_free(table);
}

static void knows_where_aarch64_keeps_the_return_address(void **state)
{
	struct unwind_table *table = compile_seed("aarch64");

	(void)state;
	assert_row(table, 0x310, UNWIND_SP | UNWIND_RA_IN_REGISTER, 0, UNWIND_FP_SAME);
	assert_row(table, 0x318, UNWIND_SP | UNWIND_FP_HELD, 2, -2);
	assert_row(table, 0x330, UNWIND_FP, 2, -2);
	assert_row(table, 0x3bc, UNWIND_SP | UNWIND_RA_ALONE, 10, -3);
	unwind_table_free(table);
}

/* Its linkers write no rules for stubs. */
static void knows_stubs_of_aarch64(void **state)
{
	struct unwind_table *table = compile_seed("aarch64");

	(void)state;
	assert_row(table, 0x2c0, UNWIND_SP | UNWIND_RA_IN_REGISTER, 0, UNWIND_FP_SAME);
	assert_row(table, 0x2c4, UNWIND_SP | UNWIND_RA_ALONE, 2, -1);
	assert_row(table, 0x2e0, UNWIND_SP | UNWIND_RA_IN_REGISTER, 0, UNWIND_FP_SAME);
	assert_row(table, 0x30c, UNWIND_SP | UNWIND_RA_IN_REGISTER, 0, UNWIND_FP_SAME);
	unwind_table_free(table);
}

/* A file without .eh_frame, with stubs that are guarded (bti) and addresses that are signed. */
static void reads_instructions_where_there_is_nothing_else(void **state)
{
	struct unwind_table *table = compile_seed("aarch64_bare");
	unsigned counts[UNWIND_KINDS] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < table->row_count; i++)
		counts[table->rows[i].kind & UNWIND_KIND_MASK]++;
	assert_true(counts[UNWIND_SP] >= 4);
	assert_true(counts[UNWIND_FP] >= 2);
	assert_int_equal(counts[UNWIND_BAD], 0);
	unwind_table_free(table);
}

/* A function with a frame that writes sp, by Go's own table; nothing else tells of it. */
static void knows_go_by_its_own_table(void **state)
{
	struct unwind_table *table = compile_seed("go_aarch64");

	(void)state;
	assert_row(table, 0x401047, UNWIND_SP | UNWIND_RA_IN_REGISTER, 0, UNWIND_FP_SAME);
	assert_row(table, 0x401048, UNWIND_SP | UNWIND_RA_ALONE, 4, -4);
	assert_row(table, 0x40104c, UNWIND_SP, 4, -5);
	assert_row(table, 0x401074, UNWIND_GO_FP, 5, -5);
	assert_row(table, 0x40107c, UNWIND_SP, 4, -5);
	unwind_table_free(table);
	table = compile_seed("go_x86_64");
	assert_row(table, 0x401047, UNWIND_SP, 1, UNWIND_FP_SAME);
	assert_row(table, 0x401048, UNWIND_SP, 5, -2);
	assert_row(table, 0x40104f, UNWIND_GO_FP, 2, -2);
	assert_row(table, 0x401054, UNWIND_SP, 5, -2);
	unwind_table_free(table);
}

static void knows_where_signal_handlers_of_go_return_to(void **state)
{
	struct unwind_table *table = compile_seed("go_signal");

	(void)state;
	assert_row(table, 0x40103f, UNWIND_SIGNAL, 0, UNWIND_FP_SAME);
	assert_row(table, 0x401049, UNWIND_SIGNAL, 0, UNWIND_FP_SAME);
	unwind_table_free(table);
}

static void a_stack_ends_at_the_entry_of_a_program(void **state)
{
	struct unwind_table *table = compile_seed("go_x86_64");

	(void)state;
	assert_row(table, 0x401000, UNWIND_END, 0, UNWIND_FP_SAME);
	assert_row(table, 0x40103f, UNWIND_END, 0, UNWIND_FP_SAME);
	unwind_table_free(table);
}

/* x265: a fifth of its code has rules, and the rest is assembly. */
static void tells_compilers_from_assembly(void **state)
{
	struct frame_entry entries[] = { { 0x1000, 0x1101, ENTRY_PROGRAM },
					 { 0x2000, 0x9000, ENTRY_GAP } };
	const struct frames frames = { .entries = entries, .count = 2 };

	(void)state;
	assert_true(frames_are_compilers(&frames, 0x800));
	assert_false(frames_are_compilers(&frames, 0x808));
}

static void refuses_what_is_no_object(void **state)
{
	struct unwind_table *table = NULL;
	struct err err = { 0 };
	static const char text[] = "#!/bin/sh\n";

	(void)state;
	assert_int_equal(unwind_table_compile(&table, text, sizeof(text), &err), -ENOEXEC);
	assert_int_equal(unwind_table_compile(&table, text, 0, &err), -ENOEXEC);
	assert_null(table);
}

/* The size of the image: up to the end of its section headers, which are last. */
static void reads_the_vdso_from_memory(void **state)
{
	const unsigned char *image = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	struct unwind_table *table = NULL;
	struct err err = { 0 };
	Elf64_Ehdr header;

	(void)state;
	if (!image)
		skip();
	memcpy(&header, image, sizeof(header));
	assert_int_equal(unwind_table_compile(&table, image,
					      header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr),
					      &err),
			 0);
	assert_true(table->row_count > 4);
	unwind_table_free(table);
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	if (strstr(info->dlpi_name, "/libc.so"))
		snprintf(context, 256, "%s", info->dlpi_name);
	return 0;
}

static void knows_libc(void **state)
{
	struct unwind_table *table;
	unsigned counts[UNWIND_KINDS] = { 0 };
	char path[256] = "";

	(void)state;
	dl_iterate_phdr(find_libc, path);
	if (!path[0])
		skip();
	table = compile(path);
	for (uint32_t i = 0; i < table->row_count; i++)
		counts[table->rows[i].kind & UNWIND_KIND_MASK]++;
	assert_true(counts[UNWIND_SP] > 1000);
	assert_true(counts[UNWIND_END] >= 1);
	assert_true(counts[UNWIND_BAD] * 1000 < table->row_count);
#ifdef __x86_64__
	assert_true(counts[UNWIND_SIGNAL] >= 1);
#endif
	unwind_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_eh_frame),
		cmocka_unit_test(needs_no_section_headers),
		cmocka_unit_test(reads_debug_frame_where_there_is_nothing_else),
		cmocka_unit_test(knows_stubs_without_rules),
		cmocka_unit_test(knows_stubs_of_static_programs),
		cmocka_unit_test(knows_where_aarch64_keeps_the_return_address),
		cmocka_unit_test(knows_stubs_of_aarch64),
		cmocka_unit_test(reads_instructions_where_there_is_nothing_else),
		cmocka_unit_test(knows_go_by_its_own_table),
		cmocka_unit_test(knows_where_signal_handlers_of_go_return_to),
		cmocka_unit_test(a_stack_ends_at_the_entry_of_a_program),
		cmocka_unit_test(refuses_what_is_no_object),
		cmocka_unit_test(tells_compilers_from_assembly),
		cmocka_unit_test(reads_the_vdso_from_memory),
		cmocka_unit_test(knows_libc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
