/*
 * Keeps names in memory of its own: a slot is claimed once and freed with the whole session. A
 * thread that loads an executable writes; a thread that rings a doorbell reads.
 */
#include "target/domains/amd/hsa/kernels.h"

#include "shared/arch/syscall.h"
#include "target/domains/amd/hsa/agents.h"
#include "target/domains/amd/hsa/calls.h"
#include "target/domains/work.h"
#include "target/runtime/text.h"

#include <sys/mman.h>

#define KERNELS_MAX   16384u
#define PROBES_MAX    32u
#define NAMES_BYTES   (8u << 20)
#define LOADER        0x201u
#define LOADER_LEVEL  1u
#define REMOVED       1ull
#define IS_FROZEN     1u
#define SYMBOL_KERNEL 1u
#define NAME_ROOM     48u

/* Attributes of executables and symbols. */
enum { EXECUTABLE_STATE = 2 };
enum { SYMBOL_KIND = 0, SYMBOL_NAME_LENGTH = 1, SYMBOL_NAME = 2, SYMBOL_OBJECT = 22 };

/* The runtime's extension table, version 1.3. */
struct loader {
	void *others[6];
	int (*each_executable)(hsa_each_executable *visit, void *data);
};

struct memory {
	uint64_t used; /* bytes of names */
	struct {
		uint64_t kernel; /* 0: free; REMOVED */
		uint64_t executable;
		uint64_t name; /* offset of the name plus one; 0: not stored yet */
	} kernels[KERNELS_MAX];
	char names[NAMES_BYTES];
};
static struct memory *memory;

static struct memory *map_memory(void)
{
	long r = raw6(SYS_mmap, 0, sizeof(struct memory), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return r < 0 && r > -4096 ? NULL : (struct memory *)r;
}

static uint32_t slot_of(uint64_t kernel, uint32_t probe)
{
	return (uint32_t)((kernel * 0x9e3779b97f4a7c15u >> 40) + probe) % KERNELS_MAX;
}

static char *take_room(size_t size)
{
	uint64_t at = __atomic_fetch_add(&memory->used, size, __ATOMIC_RELAXED);

	return at + size <= NAMES_BYTES ? memory->names + at : NULL;
}

/* Kernel symbols are named NAME.kd since code object version 3. */
static void cut_ending(char *name, uint32_t length)
{
	if (length > 3 && text_equal(name + length - 3, ".kd"))
		name[length - 3] = '\0';
}

static uint64_t read_name(uint64_t symbol)
{
	uint32_t length = 0;
	char *name;

	if (hsa_calls.symbol_info(symbol, SYMBOL_NAME_LENGTH, &length) || !length ||
	    length > NAME_BYTES_MAX)
		return 0;
	name = take_room(length + 1ull);
	if (!name || hsa_calls.symbol_info(symbol, SYMBOL_NAME, name))
		return 0;
	name[length] = '\0';
	cut_ending(name, length);
	return (uint64_t)(name - memory->names) + 1;
}

static void kernel_note(uint64_t kernel, uint64_t executable, uint64_t name)
{
	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		uint32_t at = slot_of(kernel, i);
		uint64_t there = __atomic_load_n(&memory->kernels[at].kernel, __ATOMIC_RELAXED);

		if (there > REMOVED && there != kernel)
			continue;
		if (!__atomic_compare_exchange_n(&memory->kernels[at].kernel, &there, kernel, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		memory->kernels[at].executable = executable;
		/* Release: pairs with find_name(); the name is written. */
		__atomic_store_n(&memory->kernels[at].name, name, __ATOMIC_RELEASE);
		return;
	}
}

static int note_symbol(uint64_t executable, uint64_t agent, uint64_t symbol, void *data)
{
	uint32_t kind = 0;
	uint64_t kernel = 0, name;

	(void)agent;
	(void)data;
	if (hsa_calls.symbol_info(symbol, SYMBOL_KIND, &kind) || kind != SYMBOL_KERNEL ||
	    hsa_calls.symbol_info(symbol, SYMBOL_OBJECT, &kernel) || kernel <= REMOVED)
		return 0;
	name = read_name(symbol);
	if (name)
		kernel_note(kernel, executable, name);
	return 0;
}

static void note_of_agent(uint64_t agent, void *data)
{
	(void)hsa_calls.each_symbol(*(uint64_t *)data, agent, note_symbol, NULL);
}

void hsa_kernels_add(uint64_t executable)
{
	uint32_t state = 0;

	if (!memory || hsa_calls.executable_info(executable, EXECUTABLE_STATE, &state) ||
	    state != IS_FROZEN)
		return;
	agents_each_device(note_of_agent, &executable);
}

static int add_loaded(uint64_t executable, void *data)
{
	(void)data;
	hsa_kernels_add(executable);
	return 0;
}

void hsa_kernels_begin(void)
{
	struct loader loader = { { NULL }, NULL };

	if (!memory)
		memory = map_memory();
	if (memory && !hsa_calls.extension(LOADER, LOADER_LEVEL, sizeof(loader), &loader) &&
	    loader.each_executable)
		(void)loader.each_executable(add_loaded, NULL);
}

/* The mapping stays: a thread may be reading it. */
void hsa_kernels_end(void)
{
	if (memory)
		raw3(SYS_madvise, memory, sizeof(*memory), MADV_DONTNEED);
}

void hsa_kernels_remove(uint64_t executable)
{
	for (uint32_t i = 0; memory && i < KERNELS_MAX; i++)
		if (memory->kernels[i].kernel > REMOVED &&
		    memory->kernels[i].executable == executable) {
			__atomic_store_n(&memory->kernels[i].name, 0, __ATOMIC_RELAXED);
			__atomic_store_n(&memory->kernels[i].kernel, REMOVED, __ATOMIC_RELEASE);
		}
}

static const char *find_name(uint64_t kernel)
{
	for (uint32_t i = 0; memory && i < PROBES_MAX; i++) {
		uint32_t at = slot_of(kernel, i);
		uint64_t there = __atomic_load_n(&memory->kernels[at].kernel, __ATOMIC_ACQUIRE);
		uint64_t name;

		if (!there)
			return NULL;
		if (there != kernel)
			continue;
		name = __atomic_load_n(&memory->kernels[at].name, __ATOMIC_ACQUIRE);
		return name ? memory->names + name - 1 : NULL;
	}
	return NULL;
}

uint64_t hsa_kernel_name(struct writer *writer, uint64_t kernel)
{
	const char *name = find_name(kernel);
	char made[NAME_ROOM] = "kernel object ";

	if (!name)
		text_add_number(made, sizeof(made), text_length(made), kernel);
	return work_kernel(writer, name ? name : made);
}
