/*
 * STAND-IN, for tests only, of AMD's libamdhip64.so.7: one live table for the runtime and one for
 * the compiler, registered at the first call; every exported function calls through its table, so
 * that what is stored there takes effect with the next call.  Memory is the host's, but taken
 * through HSA as the real one does; what devices do, they do in standin_device.c.
 */
#include "standin_hip.h"

#include "standin.h"
#include "standin_device.h"
#include "standin_hsa.h"

#include <stdlib.h>

#define HIP_VERSION ROCPROFILER_REGISTER_COMPUTE_VERSION_3(7, 0, 0)

/* Table version 12 of the runtime; indexes as in the real struct. */
enum { HIP_SLOTS = 477, NEWER_SLOTS = 480, COMPILER_SLOTS = 9 };
enum hip_slot {
	SLOT_hipDeviceSynchronize = 66,
	SLOT_hipFree = 90,
	SLOT_hipGetDevice = 102,
	SLOT_hipGetDeviceCount = 103,
	SLOT_hipGraphLaunch = 166,
	SLOT_hipKernelNameRefByPtr = 209,
	SLOT_hipLaunchKernel = 214,
	SLOT_hipMalloc = 215,
	SLOT_hipMemcpy = 259,
	SLOT_hipMemcpyAsync = 268,
	SLOT_hipSetDevice = 327,
	SLOT_hipStreamCreate = 334,
	SLOT_hipStreamDestroy = 337,
	SLOT_hipStreamSynchronize = 346,
	SLOT_hipTexRefSetMipmapLevelClamp = 379,
};
enum compiler_slot {
	SLOT___hipPopCallConfiguration = 0,
	SLOT___hipPushCallConfiguration = 1,
	SLOT___hipRegisterFunction = 3,
};
/* A few of the numbers by which calls are known to a tracer; any will do here. */
enum hip_call { CALL_MALLOC = 1, CALL_FREE, CALL_COPY, CALL_LAUNCH, CALL_OTHER };

static struct {
	size_t size;
	void *slots[NEWER_SLOTS];
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
	device_call(CALL_MALLOC);
	return hsa_amd_memory_pool_allocate(standin_hsa_pool((uint32_t)device_now() + 1), size, 0,
					    memory)
		       ? 2
		       : 0;
}

static int do_free(void *memory)
{
	device_call(CALL_FREE);
	return hsa_amd_memory_pool_free(memory) ? 1 : 0;
}

static int copy(void *to, const void *from, size_t size, int kind, void *stream)
{
	if (kind < 1 || kind > 3)
		return 1;
	device_copy(stream, to, from, size, (enum device_copy_kind)kind);
	return 0;
}

static int do_memcpy(void *to, const void *from, size_t size, int kind)
{
	int r;

	device_call(CALL_COPY);
	r = copy(to, from, size, kind, NULL);
	device_wait(NULL);
	return r;
}

static int do_memcpy_async(void *to, const void *from, size_t size, int kind, void *stream)
{
	device_call(CALL_COPY);
	return copy(to, from, size, kind, stream);
}

static int do_graph(void *graph, void *stream)
{
	device_call(CALL_OTHER);
	device_graph(stream, graph, STANDIN_GRAPH_KERNELS);
	return 0;
}

static int do_count(int *count)
{
	device_call(CALL_OTHER);
	*count = STANDIN_DEVICES;
	return 0;
}

static int do_set_device(int device)
{
	device_call(CALL_OTHER);
	return device_select(device) ? 0 : 101;
}

static int do_clamp(float *texture, float least, float most)
{
	texture[0] = least;
	texture[1] = most;
	return 0;
}

static int do_get_device(int *device)
{
	device_call(CALL_OTHER);
	*device = device_now();
	return 0;
}

static int do_stream_create(void **stream)
{
	device_call(CALL_OTHER);
	*stream = device_queue_new();
	return *stream ? 0 : 2;
}

static int do_stream_destroy(void *stream)
{
	device_call(CALL_OTHER);
	device_queue_free(stream);
	return 0;
}

static int do_stream_wait(void *stream)
{
	device_call(CALL_OTHER);
	device_wait(stream);
	return 0;
}

static int do_device_wait(void)
{
	device_call(CALL_OTHER);
	device_wait_all();
	return 0;
}

/* A kernel that nobody knows is found out after the command was made, as in the real one. */
static int do_launch(const void *function, struct dim3 grid, struct dim3 block, void **arguments,
		     size_t shared_bytes, void *stream)
{
	(void)arguments, (void)shared_bytes;
	device_call(CALL_LAUNCH);
	if (!grid.x || !block.x)
		return 1;
	return device_launch(stream, device_kernel_name(function)) ? 0 : 98;
}

static const char *do_name(const void *function, void *stream)
{
	(void)stream;
	return device_kernel_name(function);
}

static void do_register_function(void **modules, const void *host, char *device, const char *name,
				 unsigned limit, void *tid, void *bid, struct dim3 *block,
				 struct dim3 *grid, int *size)
{
	(void)modules, (void)device, (void)limit, (void)tid, (void)bid;
	(void)block, (void)grid, (void)size;
	device_kernel_register(host, name);
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
	if (getenv("STANDIN_NEWER"))
		hip.slots[0] = NEWER_SLOTS;
	for (unsigned i = 0; i < hip.slots[0]; i++)
		hip_table.slots[i] = (void *)standin_nothing;
	for (unsigned i = 0; i < COMPILER_SLOTS; i++)
		compiler_table.slots[i] = (void *)standin_nothing;
	hip_table.slots[SLOT_hipFree] = (void *)do_free;
	hip_table.slots[SLOT_hipGetDeviceCount] = (void *)do_count;
	hip_table.slots[SLOT_hipGraphLaunch] = (void *)do_graph;
	hip_table.slots[SLOT_hipKernelNameRefByPtr] = (void *)do_name;
	hip_table.slots[SLOT_hipLaunchKernel] = (void *)do_launch;
	hip_table.slots[SLOT_hipMalloc] = (void *)do_malloc;
	hip_table.slots[SLOT_hipMemcpy] = (void *)do_memcpy;
	hip_table.slots[SLOT_hipMemcpyAsync] = (void *)do_memcpy_async;
	hip_table.slots[SLOT_hipSetDevice] = (void *)do_set_device;
	hip_table.slots[SLOT_hipGetDevice] = (void *)do_get_device;
	hip_table.slots[SLOT_hipStreamCreate] = (void *)do_stream_create;
	hip_table.slots[SLOT_hipStreamDestroy] = (void *)do_stream_destroy;
	hip_table.slots[SLOT_hipStreamSynchronize] = (void *)do_stream_wait;
	hip_table.slots[SLOT_hipDeviceSynchronize] = (void *)do_device_wait;
	hip_table.slots[SLOT_hipTexRefSetMipmapLevelClamp] = (void *)do_clamp;
	compiler_table.slots[SLOT___hipPopCallConfiguration] = (void *)do_pop;
	compiler_table.slots[SLOT___hipPushCallConfiguration] = (void *)do_push;
	compiler_table.slots[SLOT___hipRegisterFunction] = (void *)do_register_function;
	hip_table.size = sizeof(size_t) + hip.slots[0] * sizeof(void *);
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

STANDIN_EXPORT int hipSetDevice(int device)
{
	return NOW(hip_slots, hipSetDevice)(device);
}

STANDIN_EXPORT int hipGetDevice(int *device)
{
	return NOW(hip_slots, hipGetDevice)(device);
}

STANDIN_EXPORT int hipTexRefSetMipmapLevelClamp(float *texture, float least, float most)
{
	return NOW(hip_slots, hipTexRefSetMipmapLevelClamp)(texture, least, most);
}

STANDIN_EXPORT int hipStreamCreate(void **stream)
{
	return NOW(hip_slots, hipStreamCreate)(stream);
}

STANDIN_EXPORT int hipStreamDestroy(void *stream)
{
	return NOW(hip_slots, hipStreamDestroy)(stream);
}

STANDIN_EXPORT int hipStreamSynchronize(void *stream)
{
	return NOW(hip_slots, hipStreamSynchronize)(stream);
}

STANDIN_EXPORT int hipMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
	return NOW(hip_slots, hipMemcpyAsync)(to, from, size, kind, stream);
}

STANDIN_EXPORT void hipRegisterTracerCallback(int (*function)(uint32_t, uint32_t, void *))
{
	device_report_to(function);
}

STANDIN_EXPORT int hipLaunchKernel(const void *function, struct dim3 grid, struct dim3 block,
				   void **arguments, size_t shared_bytes, void *stream)
{
	return NOW(hip_slots, hipLaunchKernel)(function, grid, block, arguments, shared_bytes,
					       stream);
}

STANDIN_EXPORT int hipGraphLaunch(void *graph, void *stream)
{
	return NOW(hip_slots, hipGraphLaunch)(graph, stream);
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

STANDIN_EXPORT void __hipRegisterFunction(void **modules, const void *host, char *device,
					  const char *name, unsigned limit, void *tid, void *bid,
					  struct dim3 *block, struct dim3 *grid, int *size)
{
	NOW(compiler_slots, __hipRegisterFunction)
	(modules, host, device, name, limit, tid, bid, block, grid, size);
}

STANDIN_EXPORT int standin_hip_newest(void)
{
	return ((int (*)(void))hip_slots()[NEWER_SLOTS - 1])();
}

STANDIN_EXPORT void standin_hip_release(void)
{
	device_release();
}

STANDIN_EXPORT void standin_hip_print(void)
{
	standin_print(&compiler);
	standin_print(&hip);
}
