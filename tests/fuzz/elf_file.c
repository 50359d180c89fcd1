/*
 * Fuzzes the reader of symbol tables in files.
 */
#include "fuzz.h"

#include <elf.h>
#include <errno.h>

#include "shared/elf/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;
	int r = elf_file_symbol(bytes, size, "one", &value);

	must(r == 0 || r == -ENOENT);
	must(r || size > sizeof(Elf64_Ehdr)); /* tables may lie over each other */
	must(!r || !value);
	(void)!elf_file_symbol(bytes, size, "a_longer_name", &value);
	return 0;
}
