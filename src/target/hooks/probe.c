/*
 * Runs inside traced calls: no libc.
 */
#include "target/hooks/probe.h"

#include "shared/wire/ring.h"
#include "target/runtime/readable.h"

static const uint32_t *word; /* in the rings, which may go when nobody writes */
static uint32_t state;       /* what it said, for those who do not write */

void probe_use(const uint32_t *probes)
{
	__atomic_store_n(&word, probes, __ATOMIC_RELAXED);
	__atomic_store_n(&state, RINGS_PROBES_UNKNOWN, __ATOMIC_RELAXED);
}

bool probe_is_decided(void)
{
	const uint32_t *probes;

	if (__atomic_load_n(&state, __ATOMIC_RELAXED) != RINGS_PROBES_UNKNOWN)
		return true;
	probes = __atomic_load_n(&word, __ATOMIC_RELAXED);
	if (probes)
		__atomic_store_n(&state, __atomic_load_n(probes, __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
	return __atomic_load_n(&state, __ATOMIC_RELAXED) != RINGS_PROBES_UNKNOWN;
}

bool probe_can_read(uint64_t address)
{
	return __atomic_load_n(&state, __ATOMIC_RELAXED) == RINGS_PROBES_ALLOWED &&
	       is_readable(address);
}
