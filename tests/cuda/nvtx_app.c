/*
 * STAND-IN, for tests only.  A program with NVTX 3 as a header in it, and a library that has it
 * too. Words on stdin, a line of JSON for each on stdout:
 *
 *   go N    N rounds of ranges and marks
 *   dangle  marks that are called with what cannot be read, as nobody notices without a tool
 *   state   how many pointers of NVTX lead somewhere: of the program, of what only looks alike
 */
#include "standin_nvtx3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* One address is wrong: not to be touched, whatever it looks like. */
static struct nvtx3_globals decoy = { .state = NVTX3_BEGUN };

static void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	printf("{\"wrong\": \"%s\"}\n", what);
	fflush(stdout);
	_Exit(1);
}

static void decoy_make(void)
{
	const char *from = (const char *)&nvtx3;
	void ***lists = (void ***)&decoy.core, ***end = (void ***)(&decoy + 1);

	decoy = nvtx3;
	memset(decoy.pointers, 0, sizeof(decoy.pointers));

	for (; lists < end; lists++)
		if (*lists)
			*lists = (void **)((char *)&decoy + ((const char *)*lists - from));
	decoy.sync[NVTX3_SYNC]--;
}

static unsigned decoy_set(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < NVTX3_POINTERS; i++)
		count += __atomic_load_n(&decoy.pointers[i], __ATOMIC_RELAXED) != 0;
	return count;
}

/* With a tag, where the processor ignores it. */
static const char *tagged(const char *text)
{
#ifdef __aarch64__
	return (const char *)((uintptr_t)text | 0x5aull << 56);
#else
	return text;
#endif
}

static void one_round(void)
{
	uint64_t id = nvtx3_start("span");

	check(!id, "start");
	check(nvtx3_push("outer") == NVTX3_NO_LEVELS, "push");
	check(nvtx3_push("inner") == NVTX3_NO_LEVELS, "push");
	nvtx3_mark(tagged("mark"));
	check(nvtx3_pop() == NVTX3_NO_LEVELS, "pop");
	check(nvtx3_pop() == NVTX3_NO_LEVELS, "pop");
	nvtx3_end(id);
	check(nvtxRangePushA("of a library") == NVTX3_NO_LEVELS, "push of the library");
	check(nvtxRangePop() == NVTX3_NO_LEVELS, "pop of the library");
}

static void mark_by(unsigned pointer, const void *given)
{
	void (*mark)(const void *) = (void (*)(const void *))nvtx3_pointer(pointer);

	if (mark)
		mark(given);
}

/* Texts and structures on a page that is not there, and such that reach into it. */
static void dangle(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *here =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *gone = here + page;

	check(here != MAP_FAILED && !munmap(gone, page), "pages");
	memset(here, 'e', page);
	for (uint32_t i = 0; i < 4; i++)
		((uint32_t *)gone)[-1 - (int)i] = 'w';
	for (unsigned pointer = 0; pointer < 3; pointer++) { /* nvtxMarkEx, nvtxMarkA, nvtxMarkW */
		mark_by(pointer, gone);
		mark_by(pointer, gone + 3);
		mark_by(pointer, (void *)8);
		mark_by(pointer, gone - 16);
		mark_by(pointer, gone - 6);
	}
	munmap(here, page);
}

int main(void)
{
	char line[64];
	unsigned count;

	decoy_make();
	printf("{}\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "go %u", &count) == 1)
			while (count-- > 0)
				one_round();
		if (!strncmp(line, "dangle", 6))
			dangle();
		printf("{\"begun\": %u, \"set\": %u, \"decoy\": %u}\n", nvtx3.state == NVTX3_BEGUN,
		       nvtx3_set(), decoy_set());
		fflush(stdout);
	}
	return 0;
}
