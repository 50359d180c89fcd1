/*
 * A thread whose stack is taken out of memory, as by a machine that swaps: what lies there stays,
 * and comes back when it is touched, which the thread itself never does.  (At its upper end lies
 * what libc keeps of the thread: the kernel touches that, and with it 64 KB around.)
 *
 *   usage: paged_out once|always
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define APART      __attribute__((noinline, noipa))
#define DEPTH      40 /* as in test_bpf.py */
#define STACK_SIZE ((size_t)1 << 20)

static char *stack;
static int is_always;

/* All but the page that it stands on. */
APART void leaf_spin(void)
{
	volatile char here = 0;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	char *from = (char *)(((uintptr_t)&here | (page - 1)) + 1);
	size_t size = (size_t)(stack + STACK_SIZE - from);

	do {
		madvise(from, size, MADV_DONTNEED);
		for (int i = 0; i < 100000; i++)
			here++;
	} while (is_always);
	for (;;)
		here++;
}

APART int descend(int left)
{
	volatile char local[4000];

	local[left] = 1;
	if (left > 1)
		return descend(left - 1) + local[left];
	leaf_spin();
	return local[left];
}

static void *run(void *unused)
{
	(void)unused;
	descend(DEPTH);
	return NULL;
}

int main(int argc, char **argv)
{
	int memory = memfd_create("stack", MFD_CLOEXEC);
	pthread_attr_t attributes;
	pthread_t thread;

	is_always = argc > 1 && !strcmp(argv[1], "always");
	if (ftruncate(memory, (off_t)STACK_SIZE))
		return 1;
	stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (stack == MAP_FAILED || pthread_attr_init(&attributes) ||
	    pthread_attr_setstack(&attributes, stack, STACK_SIZE) ||
	    pthread_create(&thread, &attributes, run, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
