/*
 * A lock-free table of addresses behind a small counting filter. Runs inside traced calls.
 */
#include "target/domains/cpu/alloc_addresses.h"

#include "target/runtime/mapping.h"

#include <string.h>

#define BUCKET_SLOTS  8u /* a cache line */
#define BUCKETS       8192u
#define ADDRESS_BYTES (BUCKETS * BUCKET_SLOTS * sizeof(uint64_t))
#define FILTER_FULL   255u

static uint64_t *addresses; /* of live samples, in buckets */
/* Number of live samples by address hash. Nearly every freed address hits a zero, and this array
 * stays in the processor's cache, which the table does not. */
uint8_t alloc_filter[ALLOC_FILTER_BYTES] __attribute__((aligned(64)));

bool alloc_addresses_start(void)
{
	if (addresses) {
		memset(addresses, 0, ADDRESS_BYTES); /* addresses of an earlier session */
		memset(alloc_filter, 0, sizeof(alloc_filter));
		return true;
	}
	/* Stays mapped: a call may still run a hook long after detach. */
	addresses = memory_map(ADDRESS_BYTES, MAP_NORESERVE);
	return addresses;
}

void alloc_addresses_free(void)
{
	memory_unmap(addresses, ADDRESS_BYTES);
	addresses = NULL;
}

static uint64_t *bucket_of(uint64_t address)
{
	return addresses + (ALLOC_SPREAD(address) >> 51) % BUCKETS * BUCKET_SLOTS;
}

/* Addresses within one kilobyte share a cache line: addresses freed together lie close together. */
static uint8_t *filter_of(uint64_t address)
{
	return alloc_filter +
	       (address >> ALLOC_FILTER_LOW ^ address >> ALLOC_FILTER_HIGH) % ALLOC_FILTER_BYTES;
}

/* A full count stays full: it may have missed additions. */
static void filter_add(uint64_t address, int change)
{
	uint8_t *count = filter_of(address), now = __atomic_load_n(count, __ATOMIC_RELAXED);

	while (now != FILTER_FULL && (now || change > 0) &&
	       !__atomic_compare_exchange_n(count, &now, (uint8_t)(now + change), true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Relaxed: only the address itself is passed on. The application's own hand-over of the pointer
 * from the allocating to the freeing thread orders the two. */
bool alloc_may_be_out(uint64_t address)
{
	return address && __atomic_load_n(filter_of(address), __ATOMIC_RELAXED);
}

static bool slot_swap(uint64_t address, uint64_t from, uint64_t to)
{
	uint64_t *bucket = bucket_of(address);

	for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
		uint64_t expected = from;

		if (__atomic_load_n(&bucket[i], __ATOMIC_RELAXED) == from &&
		    __atomic_compare_exchange_n(&bucket[i], &expected, to, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

/* If the bucket is full, the free of this sample is not recorded. */
void alloc_remember(uint64_t address)
{
	if (slot_swap(address, 0, address))
		filter_add(address, 1);
}

bool alloc_forget(uint64_t address)
{
	if (!alloc_may_be_out(address) || !slot_swap(address, address, 0))
		return false;
	filter_add(address, -1);
	return true;
}
