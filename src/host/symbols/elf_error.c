/*
 * In place of libelf's own member of that name: its variable is thread-local in a form that
 * Debian's static library cannot bring into a shared library.  Nobody here asks libelf for reasons.
 */
#include <libelf.h>

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
