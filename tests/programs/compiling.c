/*
 * Like a runtime with a compiler in it: code in memory without a file, told of in a perf map; and
 * after each line from stdin other code, with another name, at the same address.
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; mov $1000000,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const unsigned char spin[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0x40, 0x42, 0x0f,
				      0x00, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
#elif defined(__aarch64__)
/* stp x29,x30,[sp,#-16]!; mov x29,sp; movz w0,#15,lsl #16; 1: subs w0,w0,#1; b.ne 1b;
 * ldp x29,x30,[sp],#16; ret */
static const uint32_t spin[] = { 0xa9bf7bfd, 0x910003fd, 0x52a001e0, 0x71000400,
				 0x54ffffe1, 0xa8c17bfd, 0xd65f03c0 };
#endif

static int has_line(void)
{
	struct pollfd input = { STDIN_FILENO, POLLIN, 0 };
	char line[64];

	return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, line, sizeof(line)) > 0;
}

int main(void)
{
	static const char *const names[] = { "first_function", "second_function" };
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "wx");
	if (code == MAP_FAILED || !map)
		return 1;
	memcpy(code, spin, sizeof(spin));
	__builtin___clear_cache((char *)code, (char *)code + sizeof(spin));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		fprintf(map, "%lx %zx %s\n", (unsigned long)code, sizeof(spin), names[i]);
		fflush(map);
		puts(names[i]);
		fflush(stdout);
		do
			((void (*)(void))(uintptr_t)code)();
		while (!has_line());
	}
	unlink(path);
	return 0;
}
