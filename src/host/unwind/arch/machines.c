/*
 * The supported machines.
 */
#include "host/unwind/arch/code.h"
#include "host/unwind/arch/go_code.h"

static const struct unwind_machine machines[] = {
	{ .elf_machine = EM_X86_64,
	  .sp = 7,
	  .fp = 6,
	  .ra = 16,
	  .thrown = 0,
	  .is_ra_pushed = true,
	  .code = &code_of_x86_64,
	  .go = &go_of_x86_64 },
	{ .elf_machine = EM_AARCH64,
	  .sp = 31,
	  .fp = 29,
	  .ra = 30,
	  .thrown = 0,
	  .is_ra_pushed = false,
	  .code = &code_of_aarch64,
	  .go = &go_of_aarch64 },
};

const struct unwind_machine *unwind_machine_of(unsigned elf_machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].elf_machine == elf_machine)
			return &machines[i];
	return NULL;
}
