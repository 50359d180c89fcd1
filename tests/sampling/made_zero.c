/*
 * Code that is made while the program runs and keeps frame pointers, but sets the outermost to 0,
 * as runtimes do that use the register for something else.  Its callers are there, and nothing
 * leads to them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define APART __attribute__((noinline, noipa))
#define INNER 64 /* where the inner function lies */

#if defined(__x86_64__)
/* push %rbp; xor %ebp, %ebp; call *%rsi; pop %rbp; ret */
static const unsigned char outer[] = { 0x55, 0x31, 0xed, 0xff, 0xd6, 0x5d, 0xc3 };
/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static const unsigned char inner[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#else
static const unsigned outer[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0xd280001d, /* mov x29, #0 */
	0xd63f0020, /* blr x1 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
static const unsigned inner[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xd63f0000, /* blr x0 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#endif

static volatile unsigned sink;

APART void zero_leaf(void)
{
	unsigned value = sink;

	for (unsigned i = 0; i < 2000000; i++)
		value = value * 1664525 + 1013904223;
	sink = value;
}

int main(void)
{
	char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*made)(void (*function)(void), void *next);

	if (code == MAP_FAILED)
		return 2;
	memcpy(code, outer, sizeof(outer));
	memcpy(code + INNER, inner, sizeof(inner));
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC))
		return 2;
	__builtin___clear_cache(code, code + 4096);
	memcpy(&made, &code, sizeof(made));
	for (;;)
		made(zero_leaf, code + INNER);
}
