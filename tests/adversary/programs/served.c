/*
 * Runs with a frame pointer into memory that it should serve itself, and does not: who reads there
 * waits in the kernel for as long as this program lives.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE (1ul << 20)

static __attribute__((noinline, noreturn)) void spin(const void *frame)
{
#ifdef __x86_64__
	__asm__ volatile("mov %0, %%rbp\n1: pause\n jmp 1b" ::"r"(frame) : "memory");
#else
	__asm__ volatile("mov x29, %0\n1: yield\n b 1b" ::"r"(frame) : "memory");
#endif
	__builtin_unreachable();
}

int main(void)
{
	char *area = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register served = { .range = { (unsigned long)area, SIZE },
					  .mode = UFFDIO_REGISTER_MODE_MISSING };

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &served))
		return 1;
	puts("ready");
	fflush(stdout);
	spin(area + SIZE / 2);
}
