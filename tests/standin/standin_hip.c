/*
 * STAND-IN, for tests only, of AMD's libamdhip64.so.7: one live table for the runtime and one for
 * the compiler, registered at the first call; every exported function calls through its table, so
 * that what is stored there takes effect with the next call.  Kernels are not run.
 */
#include "standin_hip.h"

#include "standin.h"

#include <stdlib.h>
#include <string.h>

#define HIP_VERSION ROCPROFILER_REGISTER_COMPUTE_VERSION_3(7, 0, 0)

/* Table version 12 of the runtime; places as in the real struct. */
enum { HIP_SLOTS = 477, COMPILER_SLOTS = 9 };
enum hip_slot {
	SLOT_hipDeviceSynchronize = 66,
	SLOT_hipFree = 90,
	SLOT_hipGetDeviceCount = 103,
	SLOT_hipLaunchKernel = 214,
	SLOT_hipMalloc = 215,
	SLOT_hipMemcpy = 259,
};
enum compiler_slot {
	SLOT___hipPopCallConfiguration = 0,
	SLOT___hipPushCallConfiguration = 1,
};

static struct {
	size_t size;
	void *slots[HIP_SLOTS];
} hip_table;

static struct {
	size_t size;
	void *slots[COMPILER_SLOTS];
} compiler_table;

static __thread struct {
	struct dim3 grid, block;
	size_t shared_bytes;
	void *stream;
} configuration;

static int do_malloc(void **memory, size_t size)
{
	*memory = malloc(size);
	return *memory ? 0 : 2;
}

static int do_free(void *memory)
{
	free(memory);
	return 0;
}

static int do_memcpy(void *to, const void *from, size_t size, int kind)
{
	(void)kind;
	memcpy(to, from, size);
	return 0;
}

static int do_count(int *count)
{
	*count = 1;
	return 0;
}

static int do_launch(const void *function, struct dim3 grid, struct dim3 block, void **arguments,
		     size_t shared_bytes, void *stream)
{
	(void)block, (void)arguments, (void)shared_bytes, (void)stream;
	return function && grid.x ? 0 : 1;
}

static int do_push(struct dim3 grid, struct dim3 block, size_t shared_bytes, void *stream)
{
	configuration.grid = grid;
	configuration.block = block;
	configuration.shared_bytes = shared_bytes;
	configuration.stream = stream;
	return 0;
}

static int do_pop(struct dim3 *grid, struct dim3 *block, size_t *shared_bytes, void **stream)
{
	*grid = configuration.grid;
	*block = configuration.block;
	*shared_bytes = configuration.shared_bytes;
	*stream = configuration.stream;
	return 0;
}

ROCPROFILER_REGISTER_DEFINE_IMPORT(hip, HIP_VERSION)
ROCPROFILER_REGISTER_DEFINE_IMPORT(hip_compiler, HIP_VERSION)

static struct standin_registration hip = {
	.name = "hip",
	.version = HIP_VERSION,
	.import = ROCPROFILER_REGISTER_IMPORT_FUNC(hip),
	.part_count = 1,
	.parts = { &hip_table },
	.slots = { HIP_SLOTS },
	.code = -1,
};
static struct standin_registration compiler = {
	.name = "hip_compiler",
	.version = HIP_VERSION,
	.import = ROCPROFILER_REGISTER_IMPORT_FUNC(hip_compiler),
	.part_count = 1,
	.parts = { &compiler_table },
	.slots = { COMPILER_SLOTS },
	.code = -1,
};

__attribute__((constructor)) static void fill_tables(void)
{
	for (unsigned i = 0; i < HIP_SLOTS; i++)
		hip_table.slots[i] = (void *)standin_nothing;
	for (unsigned i = 0; i < COMPILER_SLOTS; i++)
		compiler_table.slots[i] = (void *)standin_nothing;
	hip_table.slots[SLOT_hipFree] = (void *)do_free;
	hip_table.slots[SLOT_hipGetDeviceCount] = (void *)do_count;
	hip_table.slots[SLOT_hipLaunchKernel] = (void *)do_launch;
	hip_table.slots[SLOT_hipMalloc] = (void *)do_malloc;
	hip_table.slots[SLOT_hipMemcpy] = (void *)do_memcpy;
	compiler_table.slots[SLOT___hipPopCallConfiguration] = (void *)do_pop;
	compiler_table.slots[SLOT___hipPushCallConfiguration] = (void *)do_push;
	hip_table.size = sizeof(hip_table);
	compiler_table.size = sizeof(compiler_table);
}

/* The first call registers; the others do not wait for it. */
static void **hip_slots(void)
{
	static int is_registered;

	if (!__atomic_exchange_n(&is_registered, 1, __ATOMIC_ACQ_REL)) {
		standin_register(&compiler);
		standin_register(&hip);
	}
	return hip_table.slots;
}

/* The compiler's functions are called first of all, before main: they register too. */
static void **compiler_slots(void)
{
	hip_slots();
	return compiler_table.slots;
}

/* The function that is in the slot at this moment. */
#define NOW(slots, name) \
	((__typeof__(&name))__atomic_load_n(&slots()[SLOT_##name], __ATOMIC_RELAXED))

STANDIN_EXPORT int hipMalloc(void **memory, size_t size)
{
	return NOW(hip_slots, hipMalloc)(memory, size);
}

STANDIN_EXPORT int hipFree(void *memory)
{
	return NOW(hip_slots, hipFree)(memory);
}

STANDIN_EXPORT int hipMemcpy(void *to, const void *from, size_t size, int kind)
{
	return NOW(hip_slots, hipMemcpy)(to, from, size, kind);
}

STANDIN_EXPORT int hipGetDeviceCount(int *count)
{
	return NOW(hip_slots, hipGetDeviceCount)(count);
}

STANDIN_EXPORT int hipDeviceSynchronize(void)
{
	return NOW(hip_slots, hipDeviceSynchronize)();
}

STANDIN_EXPORT int hipLaunchKernel(const void *function, struct dim3 grid, struct dim3 block,
				   void **arguments, size_t shared_bytes, void *stream)
{
	return NOW(hip_slots, hipLaunchKernel)(function, grid, block, arguments, shared_bytes,
					       stream);
}

STANDIN_EXPORT int __hipPushCallConfiguration(struct dim3 grid, struct dim3 block,
					      size_t shared_bytes, void *stream)
{
	return NOW(compiler_slots, __hipPushCallConfiguration)(grid, block, shared_bytes, stream);
}

STANDIN_EXPORT int __hipPopCallConfiguration(struct dim3 *grid, struct dim3 *block,
					     size_t *shared_bytes, void **stream)
{
	return NOW(compiler_slots, __hipPopCallConfiguration)(grid, block, shared_bytes, stream);
}

STANDIN_EXPORT void standin_hip_print(void)
{
	standin_print(&compiler);
	standin_print(&hip);
}
