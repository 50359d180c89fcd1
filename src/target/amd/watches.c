/*
 * A function has the handlers of its first match.
 */
#include "target/amd/watches.h"

#include "target/amd/hip/ring.h"
#include "target/amd/hsa/memory.h"
#include "target/amd/hsa/tracing/reserving.h"
#include "target/amd/hsa/tracing/tracing.h"
#include "target/amd/life.h"
#include "target/amd/sinks/sdk/calls/ranges.h"
#include "target/amd/sinks/sdk/counters/dispatch/packets.h"
#include "target/amd/sinks/sdk/devices/code.h"
#include "target/amd/sinks/sdk/devices/work_records.h"
#include "target/amd/tables/watch.h"

static void before_add(struct call_frame *frame)
{
	packets_before_add(frame);
	ring_before_add(frame);
}

static void after_add(struct call_frame *frame, uint64_t end)
{
	packets_after_add(frame, end);
	ring_after_add(frame);
}

static void after_cas(struct call_frame *frame, uint64_t end)
{
	packets_after_cas(frame, end);
	ring_after_cas(frame);
}

static void before_store_index(struct call_frame *frame)
{
	packets_before_store(frame);
	ring_before_store_index(frame);
}

static void before_destroy(struct call_frame *frame)
{
	packets_before_destroy(frame);
	ring_before_queue_destroy(frame);
}

static void after_destroy(struct call_frame *frame, uint64_t end)
{
	packets_after_destroy(frame, end);
	ring_after_queue_destroy(frame);
}

static void before_ring(struct call_frame *frame)
{
	packets_before_ring(frame);
	hsa_before_doorbell(frame);
}

static const struct slot_watch watches[] = {
	{ "hsa_init", FEATURE_RESTARTS, life_before_init, life_after_init, true, NULL },
	{ "hsa_shut_down", FEATURE_RESTARTS, life_before_shut_down, life_after_shut_down, true,
	  NULL },
	{ "hsa_executable_freeze", FEATURE_CODE, NULL, code_after_freeze, false, NULL },
	{ "hsa_executable_destroy", FEATURE_CODE, code_before_destroy, NULL, false, NULL },
	{ "hsa_memory_allocate", FEATURE_MEMORY, NULL, memory_after_region_allocate, false, NULL },
	{ "hsa_memory_free", FEATURE_MEMORY, NULL, memory_after_free, false, NULL },
	{ "hsa_amd_memory_pool_allocate", FEATURE_MEMORY, NULL, memory_after_pool_allocate, false,
	  NULL },
	{ "hsa_amd_memory_pool_free", FEATURE_MEMORY, NULL, memory_after_free, false, NULL },
	{ "hsa_amd_vmem_handle_create", FEATURE_MEMORY, NULL, memory_after_handle_create, false,
	  NULL },
	{ "hsa_amd_vmem_handle_release", FEATURE_MEMORY, NULL, memory_after_handle_release, false,
	  NULL },
	{ "hsa_queue_create", FEATURE_SIGNALS, NULL, hsa_after_queue_create, true, NULL },
	{ "hsa_queue_load_write_index_*", FEATURE_SIGNALS, NULL, hsa_after_index, true, NULL },
	{ "hsa_queue_add_write_index_*", FEATURE_PACKETS, before_add, after_add, true,
	  packets_missed },
	{ "hsa_queue_cas_write_index_*", FEATURE_PACKETS, NULL, after_cas, true, packets_missed },
	{ "hsa_queue_store_write_index_*", FEATURE_PACKETS, before_store_index, NULL, true,
	  packets_missed },
	{ "hsa_queue_destroy", FEATURE_PACKETS, before_destroy, after_destroy, true,
	  packets_missed_destroy },
	{ "hsa_signal_store_*", FEATURE_PACKETS | FEATURE_SIGNALS, before_ring, NULL, true,
	  packets_missed },
	{ "hsa_signal_load_*", FEATURE_SIGNALS, NULL, hsa_after_load, false, NULL },
	{ "hsa_signal_wait_*", FEATURE_SIGNALS, NULL, hsa_after_load, false, NULL },
	{ "hsa_signal_exchange_*", FEATURE_SIGNALS, hsa_before_signal, NULL, false, NULL },
	{ "hsa_signal_silent_store_*", FEATURE_SIGNALS, hsa_before_signal, NULL, false, NULL },
	{ "hsa_signal_destroy", FEATURE_SIGNALS, hsa_before_signal_destroy, NULL, false, NULL },
	{ "hsa_amd_signal_wait_any", FEATURE_SIGNALS, NULL, hsa_after_wait_any, false, NULL },
	{ "hsa_amd_signal_wait_all", FEATURE_SIGNALS, NULL, hsa_after_wait_all, false, NULL },
	{ "hsa_amd_memory_async_copy_rect", FEATURE_COPIES, hsa_before_rect, hsa_after_copy, false,
	  NULL },
	{ "hsa_amd_memory_async_copy*", FEATURE_COPIES, hsa_before_copy, hsa_after_copy, false,
	  NULL },
#define RANGES(name)                                                 \
	{                                                            \
		name, FEATURE_RANGES, NULL, range_after, false, NULL \
	}
	RANGES("roctxMarkA"),
	RANGES("roctxRange*"),
	RANGES("roctxGetThreadId"),
#define LAUNCHES(name, before)                                                           \
	{                                                                                \
		name, FEATURE_LAUNCHES | FEATURE_HIP, before, hip_after_call, true, NULL \
	}
	LAUNCHES("hipLaunch*", dispatch_before),
	LAUNCHES("hipModuleLaunch*", dispatch_before),
	LAUNCHES("hipExt*", dispatch_before),
	LAUNCHES("hipDrv*", dispatch_before),
	LAUNCHES("hipGraphLaunch*", dispatch_before),
	LAUNCHES("hipMemcpy*", NULL),
	LAUNCHES("hipMemset*", NULL),
	LAUNCHES("hipStreamDestroy", NULL),
	LAUNCHES("hipModuleUnload", NULL),
	{ "hip*", FEATURE_HIP, NULL, hip_after_call, true, NULL },
};

void watches_start(void)
{
	watch_use(watches, ARRAY_SIZE(watches));
}
