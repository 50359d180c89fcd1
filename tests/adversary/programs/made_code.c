/*
 * made_code: runs code that it has made itself, as interpreters do, for ever.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
static const unsigned char code[] = { 0xeb, 0xfe }; /* a jump to itself */
#else
static const unsigned char code[] = { 0x00, 0x00, 0x00, 0x14 };
#endif

int main(void)
{
	unsigned char *made =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*run)(void);

	if (made == MAP_FAILED)
		return 1;
	memcpy(made, code, sizeof(code));
	memcpy(&run, &made, sizeof(run));
	if (mprotect(made, 4096, PROT_READ | PROT_EXEC))
		return 1;
	__builtin___clear_cache((char *)made, (char *)made + sizeof(code));
	printf("%lx\n", (unsigned long)made);
	fflush(stdout);
	run();
}
