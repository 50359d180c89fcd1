/*
 * Symbol tables of files: a small file made here, whole, cut and lying; and our own executable.
 */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "shared/elf/file.h"

/* Section 0, the symbols, their names. */
struct small_file {
	Elf64_Ehdr header;
	Elf64_Shdr sections[3];
	Elf64_Sym symbols[4];
	char names[24];
};

#define NAMES "\0one\0undefined\0last" /* without a zero at the end */

static struct small_file make(void)
{
	struct small_file file = { 0 };

	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_shoff = offsetof(struct small_file, sections);
	file.header.e_shentsize = sizeof(Elf64_Shdr);
	file.header.e_shnum = 3;
	file.sections[1] = (Elf64_Shdr){
		.sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(struct small_file, symbols),
		.sh_size = sizeof(file.symbols),
		.sh_link = 2,
	};
	file.sections[2] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct small_file, names),
		.sh_size = sizeof(NAMES),
	};
	memcpy(file.names, NAMES, sizeof(NAMES));
	file.symbols[1] = (Elf64_Sym){ .st_name = 1, .st_shndx = 1, .st_value = 0x1111 };
	file.symbols[2] = (Elf64_Sym){ .st_name = 5, .st_shndx = SHN_UNDEF, .st_value = 0x2222 };
	file.symbols[3] = (Elf64_Sym){ .st_name = 15, .st_shndx = 1, .st_value = 0x3333 };
	return file;
}

/* In a block of its own, so that a sanitizer sees a byte read too far; -1 is never an answer. */
static int look_up(const struct small_file *file, size_t size, const char *name, uint64_t *ret)
{
	CLEANUP(free) void *copy = malloc(size ? size : 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, file, size);
	r = elf_file_symbol(copy, size, name, ret);
	assert_true(r == 0 || r == -ENOENT);
	return r;
}

static void finds_defined_symbols(void **state)
{
	struct small_file file = make();
	uint64_t value = 0;

	(void)state;
	assert_int_equal(look_up(&file, sizeof(file), "one", &value), 0);
	assert_int_equal(value, 0x1111);
	assert_int_equal(look_up(&file, sizeof(file), "last", &value), 0);
	assert_int_equal(value, 0x3333);
}

static void does_not_find_others(void **state)
{
	static const char *const names[] = { "undefined", "on", "ones", "ne", "two", "lasting" };
	struct small_file file = make();
	uint64_t value = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(look_up(&file, sizeof(file), names[i], &value), -ENOENT);
	assert_int_equal(value, 7);
}

static void survives_every_cut(void **state)
{
	struct small_file file = make();
	size_t needed = offsetof(struct small_file, names) + sizeof(NAMES);
	uint64_t value;

	(void)state;
	for (size_t size = 0; size <= sizeof(file); size++)
		assert_int_equal(look_up(&file, size, "one", &value), size < needed ? -ENOENT : 0);
}

static void does_not_believe_a_name_that_leaves_its_table(void **state)
{
	struct small_file file = make();
	uint64_t value;

	(void)state;
	file.sections[2].sh_size = sizeof(NAMES) - 1;
	assert_int_equal(look_up(&file, sizeof(file), "last", &value), -ENOENT);
	assert_int_equal(look_up(&file, sizeof(file), "one", &value), 0);
	file.symbols[3].st_name = UINT32_MAX;
	assert_int_equal(look_up(&file, sizeof(file), "last", &value), -ENOENT);
}

static void refuses_nonsense(void **state)
{
	const struct small_file good = make();
	struct small_file files[9];
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		files[i] = good;
	files[0].header.e_ident[1] = 'e';
	files[1].header.e_shentsize--;
	files[2].header.e_shoff = UINT64_MAX - 64;
	files[3].header.e_shoff = sizeof(files[3]);
	files[4].header.e_shnum = 0;
	files[5].sections[1].sh_link = 99;
	files[6].sections[1].sh_offset = UINT64_MAX;
	files[7].sections[1].sh_size = UINT64_MAX;
	files[8].sections[2].sh_size = UINT64_MAX - 8;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		assert_int_equal(look_up(&files[i], sizeof(files[i]), "one", &value), -ENOENT);
}

static void agrees_with_the_linker_about_ourselves(void **state)
{
	CLEANUP(free) char *bytes = NULL;
	uint64_t entry, start;
	size_t size;

	(void)state;
	assert_int_equal(text_read_file("/proc/self/exe", 64 << 20, &bytes, &size), 0);
	memcpy(&entry, bytes + offsetof(Elf64_Ehdr, e_entry), sizeof(entry));
	assert_int_equal(elf_file_symbol(bytes, size, "_start", &start), 0);
	assert_int_equal(start, entry);
	assert_int_equal(elf_file_symbol(bytes, size, "no_such_symbol_here", &start), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_defined_symbols),
		cmocka_unit_test(does_not_find_others),
		cmocka_unit_test(survives_every_cut),
		cmocka_unit_test(does_not_believe_a_name_that_leaves_its_table),
		cmocka_unit_test(refuses_nonsense),
		cmocka_unit_test(agrees_with_the_linker_about_ourselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
