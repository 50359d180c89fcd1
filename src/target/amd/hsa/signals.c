/*
 * Runs on application threads, outside of the runtime, and on the runtime's thread that calls
 * signal handlers. No lock: a slot holds an unused signal, or nothing.
 */
#include "target/amd/hsa/signals.h"

#define SIGNALS_MAX 16384u
#define PROBES_MAX  64u
#define LESS_THAN   2u

static uint64_t spare[SIGNALS_MAX]; /* has room for every signal */
static uint32_t spare_hint, made, out;
static uint32_t handlers; /* that HSA may call yet; of any runtime, even one that was shut down */

/* Searches all slots only if no more signals may be made. */
static uint64_t take_spare(void)
{
	uint32_t hint = __atomic_load_n(&spare_hint, __ATOMIC_RELAXED);
	bool is_full = __atomic_load_n(&made, __ATOMIC_RELAXED) >= SIGNALS_MAX;

	for (uint32_t i = 0; i < (is_full ? SIGNALS_MAX : PROBES_MAX); i++) {
		uint64_t *slot = &spare[(hint - i) % SIGNALS_MAX];
		uint64_t found = __atomic_load_n(slot, __ATOMIC_RELAXED)
					 ? __atomic_exchange_n(slot, 0, __ATOMIC_ACQUIRE)
					 : 0;

		if (found) {
			__atomic_store_n(&spare_hint, hint - i - 1, __ATOMIC_RELAXED);
			return found;
		}
	}
	return 0;
}

/* False: the maximum is reached. */
static bool count_up(uint32_t *count)
{
	uint32_t now = __atomic_load_n(count, __ATOMIC_RELAXED);

	while (now < SIGNALS_MAX &&
	       !__atomic_compare_exchange_n(count, &now, now + 1, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
	return now < SIGNALS_MAX;
}

/* Stops at 0, because signals from before hsa_signals_forget() are given back, too. */
static void count_down(uint32_t *count)
{
	uint32_t now = __atomic_load_n(count, __ATOMIC_RELAXED);

	while (now && !__atomic_compare_exchange_n(count, &now, now - 1, false, __ATOMIC_RELAXED,
						   __ATOMIC_RELAXED))
		;
}

static uint64_t signal_make(void)
{
	uint64_t signal = 0;

	if (!count_up(&made))
		return 0;
	if (!hsa_calls.signal_create(1, 0, NULL, &signal))
		return signal;
	count_down(&made);
	return 0;
}

static void signal_destroy(uint64_t signal)
{
	(void)hsa_calls.signal_destroy(signal);
	count_down(&made);
}

uint64_t hsa_signal_acquire(hsa_on_signal *call, void *data)
{
	uint64_t signal;

	if (!count_up(&out))
		return 0;
	signal = take_spare();
	if (signal)
		hsa_calls.signal_store(signal, 1);
	else
		signal = signal_make();
	__atomic_fetch_add(&handlers, 1, __ATOMIC_SEQ_CST);
	if (signal &&
	    !hsa_calls.on_signal(signal, LESS_THAN, 1, call, data ? data : (void *)signal))
		return signal;
	__atomic_fetch_sub(&handlers, 1, __ATOMIC_SEQ_CST);
	count_down(&out);
	if (signal)
		signal_destroy(signal);
	return 0;
}

/* Without room, the signal stays unused until the runtime is shut down. */
void hsa_signal_give_back(uint64_t signal)
{
	uint32_t hint = __atomic_load_n(&spare_hint, __ATOMIC_RELAXED);

	for (uint32_t i = 1; i <= SIGNALS_MAX; i++) {
		uint64_t nothing = 0;

		if (__atomic_load_n(&spare[(hint + i) % SIGNALS_MAX], __ATOMIC_RELAXED) ||
		    !__atomic_compare_exchange_n(&spare[(hint + i) % SIGNALS_MAX], &nothing, signal,
						 false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&spare_hint, hint + i, __ATOMIC_RELAXED);
		break;
	}
	count_down(&out);
	/* Last: the caller may be unmapped once its thread is outside. */
	__atomic_fetch_sub(&handlers, 1, __ATOMIC_SEQ_CST);
}

bool hsa_signals_have_handlers(void)
{
	return __atomic_load_n(&handlers, __ATOMIC_SEQ_CST);
}

void hsa_signals_free(void)
{
	for (uint32_t i = 0; i < SIGNALS_MAX; i++) {
		uint64_t signal = __atomic_exchange_n(&spare[i], 0, __ATOMIC_ACQUIRE);

		if (signal)
			signal_destroy(signal);
	}
}

void hsa_signals_forget(void)
{
	for (uint32_t i = 0; i < SIGNALS_MAX; i++)
		__atomic_store_n(&spare[i], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&made, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&out, 0, __ATOMIC_RELAXED);
}
