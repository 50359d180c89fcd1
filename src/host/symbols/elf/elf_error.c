/*
 * Replaces libelf's own object of that name: its variable is thread-local in a form that Debian's
 * static library cannot bring into a shared library.  limpet never calls elf_errno().
 */
#include "host/symbols/elf/elf_source.h"

/* Callers that open a file call this, so that the linker finds the functions below before
 * libelf's. */
void elf_prepare(void)
{
	elf_version(EV_CURRENT);
}

void __libelf_seterrno(int number);

void __libelf_seterrno(int number)
{
	(void)number;
}

int elf_errno(void)
{
	return 0;
}

const char *elf_errmsg(int number)
{
	(void)number;
	return "";
}
