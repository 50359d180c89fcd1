/*
 * Where coroutines of glibc return to: known by instructions of both machines, and nothing else is.
 */
#include "unit.h"

#include <elf.h>
#include <string.h>

#include "host/unwind/tables/entries.h"

#define CODE     0x1000u /* its address */
#define CODE_AT  256u    /* in the file */
#define BEFORE   16u     /* code of somebody else */
#define MAX_SIZE 30u

struct code {
	unsigned machine, size;
	unsigned char bytes[MAX_SIZE];
};

static const struct code known[] = {
	{ EM_X86_64, 30, { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c,
			   0x24, 0x48, 0x85, 0xff, 0x74, 0x08, 0xe8, 0x9b, 0x98, 0xff,
			   0xff, 0x48, 0x89, 0xc7, 0xe8, 0xa3, 0xb4, 0xfe, 0xff, 0xf4 } },
	{ EM_X86_64, 26, { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85,
			   0xff, 0x74, 0x08, 0xe8, 0x9b, 0xa6, 0xff, 0xff, 0x48,
			   0x89, 0xc7, 0xe8, 0xc3, 0xd2, 0xfe, 0xff, 0xf4 } },
	{ EM_AARCH64,
	  16,
	  { 0x1f, 0x20, 0x03, 0xd5, 0xe0, 0x03, 0x13, 0xaa, 0xc0, 0xf9, 0xff, 0xb5, 0x52, 0xf5,
	    0xff, 0x17 } },
	{ EM_AARCH64,
	  16,
	  { 0x5f, 0x24, 0x03, 0xd5, 0xe0, 0x03, 0x13, 0xaa, 0xc0, 0xf9, 0xff, 0xb5, 0x52, 0xf5,
	    0xff, 0x17 } },
	{ EM_AARCH64,
	  12,
	  { 0xe0, 0x03, 0x13, 0xaa, 0xc0, 0xf9, 0xff, 0xb5, 0x52, 0xf5, 0xff, 0x17 } },
};

/* Others: another register is tested; another first instruction; those of the other machine. */
static const struct code others[] = {
	{ EM_AARCH64,
	  12,
	  { 0xe0, 0x03, 0x13, 0xaa, 0xc1, 0xf9, 0xff, 0xb5, 0x52, 0xf5, 0xff, 0x17 } },
	{ EM_AARCH64,
	  16,
	  { 0xe0, 0x03, 0x13, 0xaa, 0xe0, 0x03, 0x13, 0xaa, 0xc0, 0xf9, 0xff, 0xb5, 0x52, 0xf5,
	    0xff, 0x17 } },
	{ EM_X86_64,
	  12,
	  { 0xe0, 0x03, 0x13, 0xaa, 0xc0, 0xf9, 0xff, 0xb5, 0x52, 0xf5, 0xff, 0x17 } },
};

struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	unsigned char rest[CODE_AT];
};

/* Two entries without a byte between them; the second one is of this code, and claims so much. */
static void code_mark(const struct code *code, unsigned claimed, struct frame_entry *entries)
{
	struct file file = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = (Elf64_Half)code->machine,
			    .e_version = EV_CURRENT,
			    .e_phoff = sizeof(Elf64_Ehdr),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1 },
		.segment = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_offset = CODE_AT,
			     .p_vaddr = CODE,
			     .p_filesz = BEFORE + code->size,
			     .p_memsz = BEFORE + code->size },
	};
	struct frames frames = { .entries = entries, .count = 2 };
	struct object object;

	memcpy((char *)&file + CODE_AT + BEFORE, code->bytes, code->size);
	entries[0] = (struct frame_entry){ .start = CODE, .end = CODE + BEFORE };
	entries[1] = (struct frame_entry){ .start = CODE + BEFORE, .end = CODE + BEFORE + claimed };
	assert_int_equal(object_open(&object, &file, sizeof(file)), 0);
	context_ends_mark(&frames, &object);
	assert_int_equal(entries[0].kind, ENTRY_PROGRAM);
	assert_int_equal(entries[0].end, CODE + BEFORE);
}

static void finds_the_code_of_both_machines(void **state)
{
	struct frame_entry entries[2];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		code_mark(&known[i], known[i].size, entries);
		assert_int_equal(entries[1].kind, ENTRY_END);
		assert_int_equal(entries[1].start, CODE + BEFORE - 1);
		assert_int_equal(entries[1].end, CODE + BEFORE + known[i].size);
	}
}

static void leaves_other_code_alone(void **state)
{
	struct frame_entry entries[2];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		code_mark(&others[i], others[i].size, entries);
		assert_int_equal(entries[1].kind, ENTRY_PROGRAM);
		assert_int_equal(entries[1].start, CODE + BEFORE);
	}
}

/* An entry may claim more code than the file has. */
static void does_not_read_behind_the_file(void **state)
{
	struct code cut = known[4];
	struct frame_entry entries[2];

	(void)state;
	code_mark(&cut, 12, entries);
	assert_int_equal(entries[1].kind, ENTRY_END);
	cut.size = 11;
	code_mark(&cut, 12, entries);
	assert_int_equal(entries[1].kind, ENTRY_PROGRAM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_code_of_both_machines),
		cmocka_unit_test(leaves_other_code_alone),
		cmocka_unit_test(does_not_read_behind_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
