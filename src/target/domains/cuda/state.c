/*
 * The domains to record: written before a session begins, read by every callback.
 */
#include "target/domains/cuda/cuda.h"

static uint32_t written;
static bool has_all_calls, has_stacks;

void cuda_set_written(uint32_t domains)
{
	__atomic_store_n(&written, domains, __ATOMIC_RELAXED);
}

uint32_t cuda_written(void)
{
	return __atomic_load_n(&written, __ATOMIC_RELAXED);
}

bool cuda_writes(enum trace_domain domain)
{
	return cuda_written() >> domain & 1;
}

void cuda_set_all_calls(bool is_on)
{
	__atomic_store_n(&has_all_calls, is_on, __ATOMIC_RELAXED);
}

bool cuda_writes_all_calls(void)
{
	return __atomic_load_n(&has_all_calls, __ATOMIC_RELAXED);
}

void cuda_set_stacks(bool is_on)
{
	__atomic_store_n(&has_stacks, is_on, __ATOMIC_RELAXED);
}

bool cuda_writes_stacks(void)
{
	return __atomic_load_n(&has_stacks, __ATOMIC_RELAXED);
}
