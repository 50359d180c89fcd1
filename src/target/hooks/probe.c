/*
 * Runs inside traced calls: no libc.
 */
#include "target/hooks/probe.h"

#include "shared/wire/ring.h"
#include "target/runtime/readable.h"

#define ANSWER 3u /* bits: enum rings_probes; those above say of which session it is */

static const uint32_t *word; /* in the rings, which may go when nobody writes */
static uint32_t state;       /* what it said, for those who do not write */

void probe_use(const uint32_t *probes)
{
	uint32_t next = (__atomic_load_n(&state, __ATOMIC_RELAXED) | ANSWER) + 1;

	__atomic_store_n(&word, probes, __ATOMIC_RELAXED);
	/* Release: who finds the new session finds no word of an earlier one. */
	__atomic_store_n(&state, next, __ATOMIC_RELEASE);
}

/* A writer that was held up brings the answer of a session that is over: it is nobody's then. */
bool probe_is_decided(void)
{
	uint32_t before = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
	const uint32_t *probes = __atomic_load_n(&word, __ATOMIC_RELAXED);
	uint32_t answer;

	if (before & ANSWER || !probes)
		return before & ANSWER;
	answer = __atomic_load_n(probes, __ATOMIC_RELAXED) & ANSWER;
	if (!answer)
		return false;
	return __atomic_compare_exchange_n(&state, &before, before | answer, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
	       before & ANSWER;
}

void probe_deny(void)
{
	uint32_t before = __atomic_load_n(&state, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(&state, &before,
					    (before & ~ANSWER) | RINGS_PROBES_DENIED, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

bool probe_can_read(uint64_t address)
{
	return (__atomic_load_n(&state, __ATOMIC_RELAXED) & ANSWER) == RINGS_PROBES_ALLOWED &&
	       is_readable(address);
}
