/*
 * Code that is made while the program runs, on two pages at a known address: the function on the
 * first page calls the one on the second, which makes a frame and leaves it at once.  Nearly all
 * time goes by where a frame is only half there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ADDRESS ((char *)0x200000000)
#define PAGE    4096

#if defined(__x86_64__)
static const unsigned char calling[] = {
	0x55, 0x48, 0x89, 0xe5,       /* push %rbp; mov %rsp, %rbp */
	0x53, 0x53, 0x48, 0x89, 0xfb, /* push %rbx; push %rbx; mov %rdi, %rbx */
	0xe8, 0xf2, 0x0f, 0,    0,    /* 9: call the other page */
	0x48, 0xff, 0xcb, 0x75, 0xf6, /* dec %rbx; jne 9 */
	0x5b, 0x5b, 0x5d, 0xc3,       /* pop %rbx; pop %rbx; pop %rbp; ret */
};
/* push %rbp; mov %rsp, %rbp; nop; pop %rbp; ret */
static const unsigned char called[] = { 0x55, 0x48, 0x89, 0xe5, 0x90, 0x5d, 0xc3 };
#else
static const unsigned calling[] = {
	0xa9be7bfd, /* stp x29, x30, [sp, #-32]! */
	0x910003fd, /* mov x29, sp */
	0xf9000bf3, /* str x19, [sp, #16] */
	0xaa0003f3, /* mov x19, x0 */
	0x940003fc, /* 4: bl the other page */
	0xf1000673, /* subs x19, x19, #1 */
	0x54ffffc1, /* b.ne 4 */
	0xf9400bf3, /* ldr x19, [sp, #16] */
	0xa8c27bfd, /* ldp x29, x30, [sp], #32 */
	0xd65f03c0, /* ret */
};
static const unsigned called[] = {
	0xd10083ff, /* sub sp, sp, #32 */
	0xa9017bfd, /* stp x29, x30, [sp, #16] */
	0x910043fd, /* add x29, sp, #16 */
	0xd503201f, /* nop */
	0xa9417bfd, /* ldp x29, x30, [sp, #16] */
	0x910083ff, /* add sp, sp, #32 */
	0xd65f03c0, /* ret */
};
#endif

__attribute__((noinline, noipa)) void call_made(void (*made)(long count))
{
	made(100000000);
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	char *address = mmap(ADDRESS, 2 * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	void (*made)(long count);

	if (address != ADDRESS)
		return 2;
	memcpy(address, calling, sizeof(calling));
	memcpy(address + PAGE, called, sizeof(called));
	if (mprotect(address, 2 * PAGE, PROT_READ | PROT_EXEC))
		return 2;
	__builtin___clear_cache(address, address + 2 * PAGE);
	memcpy(&made, &address, sizeof(made));
	for (;;)
		call_made(made);
}
