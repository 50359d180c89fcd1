/*
 * The bootstrap code as it is carried: what the injector relies on without looking.
 *
 *   usage: test_boot_blob BOOT_BIN BOOT_ELF
 */
#include "unit.h"

#include <elf.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/text/text.h"
#include "shared/arch/elf.h"
#include "shared/elf/file.h"
#include "shared/wire/boot.h"

struct file {
	char *bytes;
	size_t size;
};

static struct file blob, elf;

static void fits_its_part_of_the_region(void **state)
{
	(void)state;
	assert_true(blob.size > CODE_CALL);
	assert_true(blob.size <= REGION_CODE_SIZE);
}

static void begins_with_a_system_call(void **state)
{
	/* Without the return that follows it in the pattern for libc. */
	size_t size = sizeof(ARCH_SYSCALL_RETURN) - 1 - (ARCH_CODE_ALIGNMENT == 1 ? 1 : 4);

	(void)state;
	assert_memory_equal(blob.bytes + CODE_CLONE, ARCH_SYSCALL_RETURN, size);
}

/* Where the jump or call at this address goes, or 0 when it is something else. */
static uint64_t branch_target(uint32_t at)
{
	const unsigned char *code = (const unsigned char *)blob.bytes + at;
	int32_t distance;
	uint32_t word;

	if (ARCH_ELF_MACHINE == EM_X86_64) {
		memcpy(&distance, code + 1, sizeof(distance));
		if (code[0] == 0xeb)
			return at + 2 + (uint64_t)(int64_t)(int8_t)code[1];
		return (code[0] | 1) == 0xe9 ? at + 5 + (uint64_t)(int64_t)distance : 0;
	}
	memcpy(&word, code, sizeof(word));
	distance = (int32_t)(word << 6) >> 4;
	return (word & 0x7c000000) == 0x14000000 ? at + (uint64_t)(int64_t)distance : 0;
}

static void has_the_call_entry_at_its_offset(void **state)
{
	uint64_t function, target = 0;
	uint32_t at = CODE_CALL;

	(void)state;
	assert_int_equal(elf_file_symbol(elf.bytes, elf.size, "boot_begin", &function), 0);
	assert_int_equal(function, CODE_CLONE);
	assert_int_equal(elf_file_symbol(elf.bytes, elf.size, "boot_from_call", &function), 0);
	assert_true(function > CODE_CALL && function < blob.size);
	/* A register or two may be saved first. */
	for (; at < CODE_CALL + 16 && target != function; at += ARCH_CODE_ALIGNMENT)
		target = branch_target(at);
	assert_int_equal(target, function);
}

static const Elf64_Shdr *section(unsigned index)
{
	const Elf64_Ehdr *header = (const void *)elf.bytes;

	return (const void *)(elf.bytes + header->e_shoff + index * sizeof(Elf64_Shdr));
}

static void needs_no_relocation_and_no_data(void **state)
{
	const Elf64_Ehdr *header = (const void *)elf.bytes;

	(void)state;
	assert_true(header->e_shnum > 1);
	for (unsigned i = 1; i < header->e_shnum; i++) {
		const Elf64_Shdr *one = section(i);

		assert_false((one->sh_type == SHT_RELA || one->sh_type == SHT_REL) && one->sh_size);
		assert_false((one->sh_flags & SHF_WRITE) && one->sh_size);
		assert_false((one->sh_flags & SHF_TLS) && one->sh_size);
	}
}

static void leaves_no_symbol_to_others(void **state)
{
	const Elf64_Ehdr *header = (const void *)elf.bytes;
	size_t seen = 0;

	(void)state;
	for (unsigned i = 1; i < header->e_shnum; i++) {
		const Elf64_Shdr *table = section(i);
		const Elf64_Sym *symbols = (const void *)(elf.bytes + table->sh_offset);

		if (table->sh_type != SHT_SYMTAB)
			continue;
		for (size_t j = 1; j < table->sh_size / sizeof(*symbols); j++, seen++)
			assert_int_not_equal(symbols[j].st_shndx, SHN_UNDEF);
	}
	assert_true(seen > 0);
}

static int read_files(char **argv)
{
	if (!argv[1] || !argv[2])
		return -1;
	if (text_read_file(argv[1], 1 << 20, &blob.bytes, &blob.size) < 0)
		return -1;
	return text_read_file(argv[2], 1 << 20, &elf.bytes, &elf.size);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fits_its_part_of_the_region),
		cmocka_unit_test(begins_with_a_system_call),
		cmocka_unit_test(has_the_call_entry_at_its_offset),
		cmocka_unit_test(needs_no_relocation_and_no_data),
		cmocka_unit_test(leaves_no_symbol_to_others),
	};
	int failed;

	(void)argc;
	if (read_files(argv) < 0)
		return 2;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(blob.bytes);
	free(elf.bytes);
	return failed;
}
