/*
 * The traced domains, and counts. On any thread, by atomic operations.
 */
#include "target/domains/amd/hsa/work_private.h"
#include "target/hooks/writer.h"

static bool is_on[DOMAINS];
static uint32_t lost;
static uint32_t ours; /* limpet's signals in packets */
static uint32_t lost_ours, unseen;

bool hsa_is_seen(enum trace_domain domain)
{
	return __atomic_load_n(&is_on[domain], __ATOMIC_RELAXED) && writers_are_on();
}

bool hsa_sees_packets(void)
{
	return hsa_is_seen(DOMAIN_KERNEL) || hsa_is_seen(DOMAIN_COUNTER);
}

bool hsa_is_any_seen(void)
{
	return hsa_sees_packets() || hsa_is_seen(DOMAIN_COPY);
}

void hsa_note_lost(void)
{
	__atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
}

void hsa_count_ours(void)
{
	__atomic_fetch_add(&ours, 1, __ATOMIC_RELAXED);
}

/* Stops at 0, because signals of a runtime that was shut down are not counted any more. */
void hsa_discount_ours(void)
{
	uint32_t now = __atomic_load_n(&ours, __ATOMIC_RELAXED);

	while (now && !__atomic_compare_exchange_n(&ours, &now, now - 1, false, __ATOMIC_RELAXED,
						   __ATOMIC_RELAXED))
		;
}

uint32_t hsa_ours(void)
{
	return __atomic_load_n(&ours, __ATOMIC_RELAXED);
}

void hsa_forget_ours(void)
{
	uint32_t count = __atomic_exchange_n(&ours, 0, __ATOMIC_RELAXED);

	__atomic_fetch_add(&lost_ours, count, __ATOMIC_RELAXED);
}

uint32_t hsa_lost_ours(void)
{
	return __atomic_load_n(&lost_ours, __ATOMIC_RELAXED);
}

void hsa_note_unseen(uint32_t count)
{
	__atomic_fetch_add(&unseen, count, __ATOMIC_RELAXED);
}

uint32_t hsa_unseen(void)
{
	return __atomic_load_n(&unseen, __ATOMIC_RELAXED);
}

uint32_t hsa_lost(void)
{
	return __atomic_load_n(&lost, __ATOMIC_RELAXED);
}

void hsa_counts_clear(void)
{
	lost = ours = lost_ours = unseen = 0;
}

void hsa_see(bool kernels, bool copies, bool counters)
{
	__atomic_store_n(&is_on[DOMAIN_COUNTER], counters, __ATOMIC_RELEASE);
	__atomic_store_n(&is_on[DOMAIN_KERNEL], kernels, __ATOMIC_RELEASE);
	__atomic_store_n(&is_on[DOMAIN_COPY], copies, __ATOMIC_RELEASE);
}

uint32_t hsa_seen(void)
{
	return (uint32_t)is_on[DOMAIN_COUNTER] << DOMAIN_COUNTER |
	       (uint32_t)is_on[DOMAIN_KERNEL] << DOMAIN_KERNEL |
	       (uint32_t)is_on[DOMAIN_COPY] << DOMAIN_COPY;
}
