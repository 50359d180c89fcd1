/*
 * In place of libelf's own member of that name: its variable is thread-local in a form that
 * Debian's static library cannot bring into a shared library.  Nobody here asks libelf for reasons.
 */
#include "host/symbols/elf/elf_source.h"

/* Whoever opens a file calls this, so that the linker finds the functions below before libelf's. */
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
