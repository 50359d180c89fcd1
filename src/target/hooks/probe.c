/*
 * Runs inside hooked calls: no libc.
 */
#include "target/hooks/probe.h"

#include "shared/wire/ring.h"
#include "target/runtime/readable.h"

#define ANSWER 3u /* bits: enum rings_probes; higher bits count sessions */

static const uint32_t *word; /* in the rings, which are mapped only while a thread writes */
static uint32_t state;       /* a copy of the word's answer that can always be read */

void probe_use(const uint32_t *probes)
{
	uint32_t next = (__atomic_load_n(&state, __ATOMIC_RELAXED) | ANSWER) + 1;

	__atomic_store_n(&word, probes, __ATOMIC_RELAXED);
	/* Release: pairs with the acquire in probe_is_decided(); a new session has no old word. */
	__atomic_store_n(&state, next, __ATOMIC_RELEASE);
}

/* The compare-and-swap fails if a delayed writer brings the answer of an earlier session. */
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
