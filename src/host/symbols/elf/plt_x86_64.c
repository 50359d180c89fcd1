/*
 * x86-64: [endbr64] [bnd] jmp *displacement(%rip), in any of the forms that linkers write.
 */
#include "host/symbols/elf/plt.h"

#if defined(__x86_64__)
#include <elf.h>
#include <string.h>

const unsigned plt_jump_relocation = R_X86_64_JUMP_SLOT, plt_data_relocation = R_X86_64_GLOB_DAT;

static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

#define BND       0xf2
#define JUMP_SIZE 6u

bool plt_word(const unsigned char *entry, uint64_t address, uint64_t *ret)
{
	size_t at = memcmp(entry, endbr, sizeof(endbr)) == 0 ? sizeof(endbr) : 0;
	int32_t displacement;

	at += entry[at] == BND;
	if (entry[at] != 0xff || entry[at + 1] != 0x25)
		return false;
	memcpy(&displacement, entry + at + 2, sizeof(displacement));
	*ret = address + at + JUMP_SIZE + (uint64_t)(int64_t)displacement;
	return true;
}
#endif
