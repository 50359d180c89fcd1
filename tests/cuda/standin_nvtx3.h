/*
 * STAND-IN, for tests only, of NVTX 3 as a header: a structure of pointers in each module that uses
 * it, which the first call sets to nothing, since no tool was named in the environment.  Laid out
 * as the published interface says; nothing in it is NVIDIA's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { NVTX3_FRESH, NVTX3_STARTED, NVTX3_BEGUN };
#define NVTX3_NO_LEVELS (-2)

enum {
	NVTX3_CORE = 15,
	NVTX3_CUDA = 8,
	NVTX3_OPENCL = 14,
	NVTX3_CUDART = 6,
	NVTX3_CORE2 = 15,
	NVTX3_SYNC = 6
};
enum {
	NVTX3_POINTERS =
		NVTX3_CORE + NVTX3_CUDA + NVTX3_OPENCL + NVTX3_CUDART + NVTX3_CORE2 + NVTX3_SYNC
};

struct nvtx3_globals {
	volatile unsigned state;
	struct {
		uint64_t size;
		void *get_table;
	} callbacks;
	struct {
		uint64_t size;
		uint32_t version, reserved;
		void *set_version;
	} version;
	void *pointers[NVTX3_POINTERS];
	void **core[NVTX3_CORE + 2], **cuda[NVTX3_CUDA + 2], **opencl[NVTX3_OPENCL + 2],
		**cudart[NVTX3_CUDART + 2], **core2[NVTX3_CORE2 + 2], **sync[NVTX3_SYNC + 2];
};

/* Which pointer is which function. */
enum {
	NVTX3_MARK = 1,
	NVTX3_START = 4,
	NVTX3_END = 6,
	NVTX3_PUSH = 8,
	NVTX3_POP = 10,
	NVTX3_DOMAIN_PUSH = 46,
	NVTX3_DOMAIN_POP = 47
};

#define NVTX3_P(at)  (void **)&nvtx3.pointers[at]
#define NVTX3_2(at)  NVTX3_P(at), NVTX3_P((at) + 1)
#define NVTX3_6(at)  NVTX3_2(at), NVTX3_2((at) + 2), NVTX3_2((at) + 4)
#define NVTX3_8(at)  NVTX3_6(at), NVTX3_2((at) + 6)
#define NVTX3_14(at) NVTX3_8(at), NVTX3_6((at) + 8)
#define NVTX3_15(at) NVTX3_14(at), NVTX3_P((at) + 14)

static struct nvtx3_globals nvtx3;

/* What the pointers of a module that has not begun lead to: it would be called for ever by who kept
 * them. */
static void nvtx3_first(void)
{
	for (unsigned i = 0; i < NVTX3_POINTERS; i++)
		if (nvtx3.pointers[i] == (void *)nvtx3_first)
			nvtx3.pointers[i] = 0;
	__atomic_store_n(&nvtx3.state, NVTX3_BEGUN, __ATOMIC_RELEASE);
}

/* In data of the file, as a structure with such contents is. */
static struct nvtx3_globals nvtx3 = {
	.state = NVTX3_FRESH,
	.callbacks = { sizeof(nvtx3.callbacks), (void *)nvtx3_first },
	.version = { sizeof(nvtx3.version), 3, 0, (void *)nvtx3_first },
	.pointers = { [0 ... NVTX3_POINTERS - 1] = (void *)nvtx3_first },
	.core = { 0, NVTX3_15(0), 0 },
	.cuda = { 0, NVTX3_8(15), 0 },
	.opencl = { 0, NVTX3_14(23), 0 },
	.cudart = { 0, NVTX3_6(37), 0 },
	.core2 = { 0, NVTX3_15(43), 0 },
	.sync = { 0, NVTX3_6(58), 0 },
};

static inline void *nvtx3_pointer(unsigned number)
{
	void *pointer = __atomic_load_n(&nvtx3.pointers[number], __ATOMIC_RELAXED);

	if (pointer == (void *)nvtx3_first) {
		nvtx3_first();
		pointer = __atomic_load_n(&nvtx3.pointers[number], __ATOMIC_RELAXED);
	}
	return pointer;
}

static inline int nvtx3_push(const char *message)
{
	int (*push)(const char *) = (int (*)(const char *))nvtx3_pointer(NVTX3_PUSH);

	return push ? push(message) : NVTX3_NO_LEVELS;
}

static inline int nvtx3_pop(void)
{
	int (*pop)(void) = (int (*)(void))nvtx3_pointer(NVTX3_POP);

	return pop ? pop() : NVTX3_NO_LEVELS;
}

static inline void nvtx3_mark(const char *message)
{
	void (*mark)(const char *) = (void (*)(const char *))nvtx3_pointer(NVTX3_MARK);

	if (mark)
		mark(message);
}

static inline uint64_t nvtx3_start(const char *message)
{
	uint64_t (*start)(const char *) = (uint64_t(*)(const char *))nvtx3_pointer(NVTX3_START);

	return start ? start(message) : 0;
}

static inline void nvtx3_end(uint64_t id)
{
	void (*end)(uint64_t) = (void (*)(uint64_t))nvtx3_pointer(NVTX3_END);

	if (end)
		end(id);
}

/* How many pointers lead somewhere. */
static inline unsigned nvtx3_set(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < NVTX3_POINTERS; i++)
		count += __atomic_load_n(&nvtx3.pointers[i], __ATOMIC_RELAXED) != 0;
	return count;
}

/* What the stand-in libnvtx3interop.so exports. */
void nvtxMarkEx(const void *event);
int nvtxRangePushA(const char *message);
int nvtxRangePop(void);
