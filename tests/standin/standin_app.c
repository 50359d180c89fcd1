/*
 * STAND-IN, for tests only.  A program that uses the stand-in runtimes for ever, from several
 * threads, and checks what they answer.  After "ready" it prints the addresses of their tables and
 * a line "end of tables".  Which register library they use is a matter of LD_LIBRARY_PATH and of
 * STANDIN_REGISTER_name; see standin.h.
 */
#include "standin_hip.h"
#include "standin_hsa.h"
#include "standin_roctx.h"
#include "workload.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#define THREADS 4

static void use_hip(uint8_t byte)
{
	uint8_t there[64], back[64];
	struct dim3 one = { 1, 1, 1 }, grid, block;
	size_t shared_bytes;
	void *memory, *stream;

	memset(there, byte, sizeof(there));
	if (hipMalloc(&memory, sizeof(there))) {
		workload_fail("hipMalloc");
		return;
	}
	hipMemcpy(memory, there, sizeof(there), 1);
	__hipPushCallConfiguration(one, one, 7, NULL);
	__hipPopCallConfiguration(&grid, &block, &shared_bytes, &stream);
	if (shared_bytes != 7 || hipLaunchKernel((void *)use_hip, grid, block, NULL, 0, stream))
		workload_corrupt("hipLaunchKernel");
	hipDeviceSynchronize();
	hipMemcpy(back, memory, sizeof(back), 2);
	if (memcmp(there, back, sizeof(back)))
		workload_corrupt("hipMemcpy");
	hipFree(memory);
}

static void use_roctx(void)
{
	uint64_t id;

	roctxMarkA("mark");
	if (roctxRangePushA("outer") != 0 || roctxRangePushA("inner") != 1)
		workload_corrupt("roctxRangePushA");
	roctxRangePop();
	if (roctxRangePop() != 0)
		workload_corrupt("roctxRangePop");
	id = roctxRangeStartA("range");
	if (!id)
		workload_corrupt("roctxRangeStartA");
	roctxRangeStop(id);
}

static void use_hsa(struct hsa_signal signal, int64_t value)
{
	hsa_signal_store_relaxed(signal, value);
	if (hsa_signal_load_relaxed(signal) != value)
		workload_corrupt("hsa_signal_load_relaxed");
}

static void *work(void *argument)
{
	uint8_t byte = (uint8_t)(uintptr_t)argument;
	struct hsa_signal signal;

	if (hsa_signal_create(0, 0, NULL, &signal))
		workload_fail("hsa_signal_create");
	for (;; byte++) {
		use_hip(byte);
		use_roctx();
		use_hsa(signal, byte);
		sleep_ns(NS_PER_MS);
	}
	return NULL;
}

static void run(const void *data)
{
	(void)data;
	if (hsa_init())
		workload_skip("hsa_init");
	__hipRegisterFunction(NULL, (const void *)use_hip, NULL, "use_hip", 0, NULL, NULL, NULL,
			      NULL, NULL);
	use_hip(1);
	use_roctx();
	for (uintptr_t i = 0; i < THREADS; i++)
		thread_start(work, (void *)i, 0);
	workload_ready();
	standin_hsa_print();
	standin_hip_print();
	standin_roctx_print();
	puts("end of tables");
	fflush(stdout);
	workload_idle();
}

/* The same, but nobody without the capability may trace it or read its memory. */
static void run_private(const void *data)
{
	if (prctl(PR_SET_DUMPABLE, 0))
		workload_skip("prctl");
	run(data);
}

const struct workload workloads[] = {
	{ "gpu", run, NULL },
	{ "private", run_private, NULL },
	{ 0 },
};
