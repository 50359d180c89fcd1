/*
 * Tests of what libelf may be made to read: what counts are the headers that it has, not those that
 * were there when the file was checked.
 */
#include "unit.h"

#include "host/symbols/elf/elf_limits.h"
#include "shared/arch/elf.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

static struct {
	Elf64_Ehdr head;
	Elf64_Shdr sections[4];
} file;

static void make(void)
{
	memset(&file, 0, sizeof(file));
	memcpy(file.head.e_ident, ELFMAG, SELFMAG);
	file.head.e_ident[EI_CLASS] = ELFCLASS64;
	file.head.e_ident[EI_DATA] = ELFDATA2LSB;
	file.head.e_ident[EI_VERSION] = EV_CURRENT;
	file.head.e_type = ET_DYN;
	file.head.e_machine = ARCH_ELF_MACHINE;
	file.head.e_version = EV_CURRENT;
	file.head.e_ehsize = sizeof(file.head);
	file.head.e_shentsize = sizeof(file.sections[0]);
	file.head.e_shoff = offsetof(__typeof__(file), sections);
	file.head.e_shnum = 4;
}

static int judge(uint64_t max)
{
	Elf *elf = elf_version(EV_CURRENT) ? elf_memory((char *)&file, sizeof(file)) : NULL;
	int r;

	assert_non_null(elf);
	r = elf_limits_check_read(elf, max);
	elf_end(elf);
	return r;
}

static void sections_of_a_kind_are_added_up(void **state)
{
	(void)state;
	make();
	file.sections[1] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_size = ELF_SYMBOLS_MAX / 2 };
	file.sections[2] = (Elf64_Shdr){ .sh_type = SHT_DYNSYM, .sh_size = ELF_SYMBOLS_MAX / 2 };
	assert_int_equal(judge(UINT64_MAX), 0);
	file.sections[2].sh_size++;
	assert_int_equal(judge(UINT64_MAX), -EFBIG);
	file.sections[2].sh_size = UINT64_MAX;
	assert_int_equal(judge(UINT64_MAX), -EFBIG);
}

static void a_file_of_holes_has_the_limit_of_its_disk(void **state)
{
	(void)state;
	make();
	file.sections[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_size = 4096 };
	assert_int_equal(judge(4096), 0);
	assert_int_equal(judge(4095), -EFBIG);
}

static void what_is_never_read_as_a_whole_may_be_large(void **state)
{
	(void)state;
	make();
	file.sections[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_size = 1ull << 40 };
	file.sections[2] = (Elf64_Shdr){ .sh_type = SHT_NOBITS, .sh_size = 1ull << 40 };
	assert_int_equal(judge(4096), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_of_a_kind_are_added_up),
		cmocka_unit_test(a_file_of_holes_has_the_limit_of_its_disk),
		cmocka_unit_test(what_is_never_read_as_a_whole_may_be_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
