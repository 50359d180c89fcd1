/*
 * The domains to record in this session. Set on limpet's thread, read on any thread.
 */
#include "target/domains/opencl/opencl.h"

static uint32_t written; /* bits of enum trace_domain */
static uint32_t is_wanted, is_ending;

bool opencl_writes(enum trace_domain domain)
{
	return __atomic_load_n(&written, __ATOMIC_RELAXED) >> domain & 1;
}

uint32_t opencl_written(void)
{
	return __atomic_load_n(&written, __ATOMIC_RELAXED);
}

void opencl_set_written(uint32_t domains)
{
	__atomic_store_n(&written, domains, __ATOMIC_RELAXED);
}

bool shadows_are_wanted(void)
{
	return __atomic_load_n(&is_wanted, __ATOMIC_RELAXED);
}

bool shadows_are_ending(void)
{
	return __atomic_load_n(&is_ending, __ATOMIC_SEQ_CST);
}

void shadows_set_wanted(bool wanted)
{
	__atomic_store_n(&is_ending, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&is_wanted, wanted, __ATOMIC_RELEASE);
}

void shadows_set_ending(void)
{
	__atomic_store_n(&is_ending, 1, __ATOMIC_SEQ_CST);
}
