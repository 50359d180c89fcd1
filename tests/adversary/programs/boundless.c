/*
 * Maps a memory file without an end, under the name that limpet's agent has in a process.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST (1ul << 46)

int main(void)
{
	int fd = memfd_create("limpet-agent", MFD_CLOEXEC);
	void *area = MAP_FAILED;

	if (fd < 0 || ftruncate(fd, MOST))
		return 1;
	for (unsigned long size = MOST; size && area == MAP_FAILED; size /= 2)
		area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
