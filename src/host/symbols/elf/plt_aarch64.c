/*
 * aarch64: [bti c] adrp x16, page; ldr x17, [x16, offset].
 */
#include "host/symbols/elf/plt.h"

#if defined(__aarch64__)
#include <elf.h>
#include <string.h>

const unsigned plt_jump_relocation = R_AARCH64_JUMP_SLOT, plt_data_relocation = R_AARCH64_GLOB_DAT;

#define BTI_C 0xd503245fu

bool plt_word(const unsigned char *entry, uint64_t address, uint64_t *ret)
{
	uint32_t code[PLT_ENTRY_BYTES / 4], page, load;
	unsigned at;
	int64_t pages;

	memcpy(code, entry, sizeof(code));
	at = code[0] == BTI_C;
	page = code[at];
	load = code[at + 1];
	if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return false;
	pages = (int64_t)((uint64_t)(page >> 5 & 0x7ffff) << 45 | (uint64_t)(page >> 29 & 3)
									  << 43) >>
		43;
	*ret = ((address + at * 4) & ~0xfffull) + (uint64_t)pages * 0x1000 +
	       (uint64_t)(load >> 10 & 0xfff) * 8;
	return true;
}
#endif
