/*
 * The machines whose HotSpot code is supported.
 */
#include "host/java/code_rows.h"

const struct code_machine *code_machine_of(unsigned elf_machine)
{
	static const struct code_machine *const machines[] = { &code_machine_x86_64,
							       &code_machine_aarch64 };

	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i]->elf_machine == elf_machine)
			return machines[i];
	return NULL;
}
