/*
 * Code that is made while the program runs, without rules but with a frame pointer, and called by
 * functions with rules.  On aarch64 the frame goes on above what the frame pointer points to.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define APART __attribute__((noinline, noipa))

#if defined(__x86_64__)
/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#else
static const unsigned code[] = {
	0xa9bc7bfd, /* stp x29, x30, [sp, #-64]! */
	0x910003fd, /* mov x29, sp */
	0xd63f0000, /* blr x0 */
	0xa8c47bfd, /* ldp x29, x30, [sp], #64 */
	0xd65f03c0, /* ret */
};
#endif

static volatile unsigned sink;
static void (*made)(void (*function)(void));

APART void made_leaf(void)
{
	unsigned value = sink;

	for (unsigned i = 0; i < 2000000; i++)
		value = value * 1664525 + 1013904223;
	sink = value;
}

APART void made_inner(unsigned value)
{
	made(made_leaf);
	sink += value;
}

APART void made_outer(unsigned value)
{
	made_inner(value + 1);
	sink += value;
}

int main(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return 2;
	memcpy(page, code, sizeof(code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		return 2;
	__builtin___clear_cache(page, page + sizeof(code));
	memcpy(&made, &page, sizeof(made));
	for (;;)
		made_outer(sink);
}
