/*
 * For loading.c and mirror.c: uses the stand-ins of CUDA, NCCL, NVTX, HIP, HSA, RCCL, ROCTx,
 * rocDecode, rocJPEG, and OpenCL's where it is preloaded, so that each trace of a device's runtime
 * has calls to see.
 */
#define _GNU_SOURCE
#include "../cuda/standin_nccl.h"
#include "../cuda/standin_nvtx3.h"
#include "../opencl/standin_cl.h"
#include "../programs/workload.h"
#include "../standin/standin_hip.h"
#include "../standin/standin_hsa.h"
#include "../standin/standin_media.h"
#include "../standin/standin_roctx.h"

#include <dlfcn.h>
#include <string.h>

#define BYTES  64
#define DEVICE 1

void devices_use(unsigned thread);
int standin_rccl_gather(void);

static const struct standin_platform *opencl[2];

static void check(bool is_right, const char *what)
{
	if (!is_right)
		workload_corrupt(what);
}

static void use_graph(void *stream)
{
	struct standin_graph *graph;
	struct standin_exec *exec;

	check(!cuGraphCreate(&graph, 0) && !standinGraphAddKernels(graph, 1), "cuGraphCreate");
	check(!cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiateWithFlags");
	check(!cuGraphDestroy(graph) && !cuGraphLaunch(exec, stream), "cuGraphLaunch");
	check(!cuStreamSynchronize(stream) && !cuGraphExecDestroy(exec), "cuGraphExecDestroy");
}

static void use_cuda(uint8_t byte, void *stream)
{
	char there[BYTES], back[BYTES] = "";
	uint64_t memory;

	memset(there, byte, sizeof(there));
	check(!cuMemAlloc_v2(&memory, BYTES) && !cuMemsetD8_v2(memory, 0, BYTES), "cuMemAlloc");
	cudaMemcpyAsync((void *)(uintptr_t)memory, there, BYTES, CUDA_TO_DEVICE, stream);
	check(!cudaLaunchKernel("_Z8kernel_aPi", 1, 64, stream), "cudaLaunchKernel");
	use_graph(stream);
	check(!cuMemcpyDtoHAsync_v2(back, memory, BYTES, stream), "cuMemcpyDtoHAsync");
	check(!cuStreamSynchronize(stream) && !memcmp(there, back, BYTES), "copies of CUDA");
	check(!cuMemFree_v2(memory), "cuMemFree");
}

static void use_nccl(float value)
{
	float to = 0;

	check(!ncclAllReduce(&value, &to, 1, NCCL_FLOAT, 0, standin_communicator(true), NULL) &&
		      to == value,
	      "ncclAllReduce");
}

static void use_markers(void)
{
	nvtx3_push("of a header");
	nvtx3_pop();
	nvtxRangePushA("of a library");
	nvtxRangePop();
	roctxRangePushA("of ROCTx");
	roctxRangePop();
}

static void use_hip(uint8_t byte)
{
	uint8_t there[BYTES], back[BYTES];
	struct dim3 one = { 1, 1, 1 }, grid, block;
	size_t shared;
	void *memory, *stream;

	memset(there, byte, sizeof(there));
	check(!hipMalloc(&memory, BYTES) && !hipMemcpy(memory, there, BYTES, 1), "hipMemcpy");
	__hipPushCallConfiguration(one, one, 7, NULL);
	__hipPopCallConfiguration(&grid, &block, &shared, &stream);
	check(!hipLaunchKernel((void *)use_hip, grid, block, NULL, shared, stream),
	      "hipLaunchKernel");
	hipDeviceSynchronize();
	check(!hipMemcpy(back, memory, BYTES, 2) && !memcmp(there, back, BYTES), "copies of HIP");
	hipFree(memory);
}

static void use_hsa(unsigned thread, int64_t value)
{
	struct hsa_signal signal;
	void *memory;

	check(!hsa_signal_create(0, 0, NULL, &signal), "hsa_signal_create");
	hsa_signal_store_relaxed(signal, value);
	check(hsa_signal_load_relaxed(signal) == value, "hsa_signal_load_relaxed");
	hsa_signal_destroy(signal);
	check(!hsa_amd_memory_pool_allocate(standin_hsa_pool(DEVICE), BYTES, 0, &memory) &&
		      !hsa_amd_memory_pool_free(memory),
	      "hsa_amd_memory_pool_allocate");
	standin_hsa_scratch(thread, BYTES);
	standin_hsa_extensions();
	check(!standin_rccl_gather(), "RCCL");
}

static void use_media(void)
{
	void *parser = NULL;

	check(!rocDecCreateVideoParser(&parser, &opencl) && parser == &opencl, "rocDecode");
	check(rocJpegStreamParse(NULL, 1, &opencl) == -1, "rocJPEG");
}

static void begin(void)
{
	typedef int get_platforms(unsigned room, const struct standin_platform **ret,
				  unsigned *count);
	typedef void *by_name(const char *name);
	by_name *ask = (by_name *)dlsym(RTLD_DEFAULT, "clGetExtensionFunctionAddress");
	get_platforms *get = ask ? (get_platforms *)ask("clIcdGetPlatformIDsKHR") : NULL;

	if (cuInit(0) || hsa_init() || (get && get(2, opencl, NULL)))
		workload_skip("the stand-ins");
	__hipRegisterFunction(NULL, (const void *)use_hip, NULL, "use_hip", 0, NULL, NULL, NULL,
			      NULL, NULL);
}

void devices_use(unsigned thread)
{
	static _Thread_local uint8_t turn;
	static bool is_begun;

	if (!is_begun) /* by the first thread, before there are others */
		begin();
	is_begun = true;
	turn++;
	use_cuda(turn, (void *)(uintptr_t)(thread + 1));
	use_nccl(turn);
	use_markers();
	use_hip(turn);
	use_hsa(thread, turn);
	use_media();
	if (opencl[1])
		check(!((int (*)(void *))opencl[1]->table[STANDIN_FINISH])(NULL), "clFinish");
}
