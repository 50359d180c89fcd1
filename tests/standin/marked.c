/*
 * STAND-IN, for tests only.  A program that marks what it does, with the stand-ins of roctx and
 * NVTX.  One range is open when it is ready; SIGUSR1 ends it and begins one that never ends.
 */
#include "standin_nvtx.h"
#include "standin_roctx.h"
#include "workload.h"

#include <signal.h>
#include <stddef.h>

#define INNER_NS 1000000u

static volatile sig_atomic_t is_asked;
static _Atomic uint64_t handed_over;

static void on_ask(int number)
{
	(void)number;
	is_asked = 1;
}

/* Ends ranges that another thread began. */
static void *stop_ranges(void *unused)
{
	(void)unused;
	for (;;) {
		uint64_t id = atomic_exchange(&handed_over, 0);

		if (id)
			roctxRangeStop(id);
		sleep_ns(NS_PER_MS / 10);
	}
	return NULL;
}

static void use_roctx(void)
{
	uint64_t id = roctxRangeStartA("span");

	roctxMarkA("mark");
	roctxRangePushA("outer");
	if (roctxRangePushA("inner") != 2)
		workload_corrupt("roctxRangePushA");
	sleep_ns(INNER_NS);
	if (roctxRangePop() != 2 || roctxRangePop() != 1)
		workload_corrupt("roctxRangePop");
	handed_over = id;
	while (handed_over)
		sleep_ns(NS_PER_MS / 10);
}

/* What is pushed in a domain does not nest with the rest. */
static void use_nvtx(nvtxDomainHandle_t domain)
{
	struct nvtx_attributes event = {
		.version = 3, .size = sizeof(event), .message_type = 1, .message = "nv domain"
	};
	uint64_t id = nvtxRangeStartA("nv span");

	nvtxMarkEx(&(struct nvtx_attributes){
		.size = sizeof(event), .message_type = 2, .message = L"nv mark \u20ac" });
	nvtxRangePushA("nv outer");
	nvtxDomainRangePushEx(domain, &event);
	nvtxRangePushW(L"nv w\u00efde");
	nvtxRangePop();
	nvtxRangePop();
	sleep_ns(INNER_NS);
	nvtxDomainRangePop(domain);
	nvtxRangeEnd(id);
}

static void run(const void *data)
{
	struct sigaction action = { .sa_handler = on_ask, .sa_flags = SA_RESTART };
	nvtxDomainHandle_t domain = nvtxDomainCreateA("domain");
	bool is_done = false;

	(void)data;
	sigaction(SIGUSR1, &action, NULL);
	thread_start(stop_ranges, NULL, 0);
	roctxRangePushA("before");
	workload_ready();
	for (;;) {
		use_roctx();
		use_nvtx(domain);
		if (is_asked && !is_done) {
			is_done = true;
			if (roctxRangePop() != 0 || roctxRangePop() != -1)
				workload_corrupt("the range from before");
			roctxRangePushA("after");
			stats->signals_received = 1; /* a place for the driver to see it */
		}
		workload_turn();
	}
}

const struct workload workloads[] = {
	{ "markers", run, NULL },
	{ 0 },
};
