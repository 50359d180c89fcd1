/*
 * What is traced, and counts, by atomic operations. Runs on limpet's and tools' threads, and on
 * application threads after calls that create or use queues.
 */
#include "target/amd/hsa/tracing/tracing.h"

#include "shared/arch/syscall.h"
#include "target/amd/hsa/functions.h"
#include "target/amd/hsa/queues.h"
#include "target/amd/hsa/signals.h"
#include "target/hooks/clock.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/patience.h"

#include <time.h>

#define DRAIN_STEP_NS 5000000
#define DRAIN_STEPS   400u /* two seconds */

#define LOCK_PAUSE_NS 100000
#define LOCK_LIMIT_NS 200000000ull

static uint32_t is_changing; /* lock of the next two */
static struct hsa_wanted wanted[HSA_USERS];
static uint32_t is_begun;
static bool is_on[DOMAINS];
static uint32_t lost;
static uint32_t lost_ours, unseen;

bool hsa_is_traced(enum trace_domain domain)
{
	return __atomic_load_n(&is_on[domain], __ATOMIC_RELAXED) && call_threads_are_own();
}

bool hsa_sees_packets(void)
{
	return hsa_is_traced(DOMAIN_KERNEL) || hsa_is_traced(DOMAIN_COUNTER);
}

bool hsa_sees_any(void)
{
	return hsa_sees_packets() || hsa_is_traced(DOMAIN_COPY);
}

void hsa_note_lost(void)
{
	__atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
}

/* Goes on after the limit: a thread may have left the locked part by longjmp, or was cancelled in
 * it. */
static void users_lock(void)
{
	struct patience patience = { 0, 0 };

	while (__atomic_exchange_n(&is_changing, 1, __ATOMIC_ACQUIRE))
		if (!patience_pause(&patience, LOCK_PAUSE_NS, LOCK_LIMIT_NS))
			return;
}

static void users_unlock(void)
{
	__atomic_store_n(&is_changing, 0, __ATOMIC_RELEASE);
}

static bool is_wanted_by(enum hsa_user user)
{
	return wanted[user].kernels || wanted[user].copies || wanted[user].counters;
}

static void traced_update(void)
{
	bool kernels = false, copies = false, counters = false;
	bool had_packets = is_on[DOMAIN_KERNEL] || is_on[DOMAIN_COUNTER];

	for (unsigned i = 0; i < HSA_USERS; i++) {
		kernels |= wanted[i].kernels;
		copies |= wanted[i].copies;
		counters |= wanted[i].counters;
	}
	/* Queues that were destroyed meanwhile were not seen to be. */
	if (!had_packets && (kernels || counters))
		hsa_queues_clear();
	__atomic_store_n(&is_on[DOMAIN_COUNTER], counters, __ATOMIC_RELEASE);
	__atomic_store_n(&is_on[DOMAIN_KERNEL], kernels, __ATOMIC_RELEASE);
	__atomic_store_n(&is_on[DOMAIN_COPY], copies, __ATOMIC_RELEASE);
}

/* Unused signals may be of a runtime that was shut down since they were made. */
static bool trace_begin(void)
{
	if (is_begun)
		return true;
	if (!hsa_find(NEED_TIMES | NEED_CODE) || pending_open())
		return false;
	is_begun = 1;
	hsa_copy_times_begin();
	(void)hsa_forget_ours();
	lost = lost_ours = unseen = 0;
	hsa_signals_forget();
	return true;
}

bool hsa_trace(enum hsa_user user, struct hsa_wanted (*wants)(void))
{
	struct hsa_wanted asked;
	bool may_set;

	users_lock();
	asked = wants();
	may_set = (!asked.kernels && !asked.copies && !asked.counters) || trace_begin();
	if (may_set) {
		wanted[user] = asked;
		traced_update();
	}
	users_unlock();
	return may_set;
}

static struct hsa_wanted wants_nothing(void)
{
	return (struct hsa_wanted){ 0 };
}

static uint32_t count_unseen(void)
{
	uint32_t count = pending_count(), waiting = hsa_ours();

	return count > waiting ? count - waiting : 0;
}

struct hsa_left hsa_trace_end(enum hsa_user user)
{
	struct timespec pause = { 0, DRAIN_STEP_NS };
	uint64_t now = clock_ticks();
	struct hsa_left left = { 0 };

	if (!is_begun || !is_wanted_by(user))
		return left;
	(void)hsa_trace(user, wants_nothing);
	/* Others may have signals in packets all the time. */
	for (unsigned i = 0; i < DRAIN_STEPS && hsa_ours() && pending_count_ours(now); i++)
		raw2(SYS_nanosleep, &pause, 0);
	left.cut = pending_count_ours(now) + lost_ours;
	left.unseen = unseen + count_unseen();
	left.lost = lost;
	return left;
}

static bool is_used(void)
{
	return is_wanted_by(USER_RING) || is_wanted_by(USER_TOOLS);
}

bool hsa_trace_is_left(void)
{
	return is_begun && !is_used();
}

static void trace_free(bool has_runtime)
{
	users_lock();
	if (hsa_trace_is_left()) {
		if (has_runtime) {
			hsa_copy_times_end();
			hsa_signals_free();
		} else {
			hsa_signals_forget();
		}
		pending_close();
		is_begun = 0;
	}
	users_unlock();
}

void hsa_trace_free(void)
{
	trace_free(true);
}

void hsa_trace_forget(void)
{
	trace_free(false);
}

void hsa_trace_forget_runtime(void)
{
	__atomic_fetch_add(&unseen, count_unseen(), __ATOMIC_RELAXED);
	__atomic_fetch_add(&lost_ours, hsa_forget_ours(), __ATOMIC_RELAXED);
	pending_close();
	hsa_queues_clear();
	hsa_signals_forget();
	hsa_copy_times_begin();
}

void hsa_trace_finish(void)
{
	if (!hsa_sees_any() || !hsa_gate_enter())
		return;
	hsa_finish_ours();
	hsa_gate_leave();
}

void hsa_trace_adopt(void)
{
	is_changing = 0;
	for (unsigned i = 0; i < HSA_USERS; i++)
		wanted[i] = (struct hsa_wanted){ 0 };
	traced_update();
	hsa_signals_forget();
	is_begun = 0;
}

/* (agent, size, type, callback, data, private bytes, group bytes, queue **) */
void hsa_after_queue_create(struct call_frame *frame, uint64_t end)
{
	const struct hsa_queue *const *pointer =
		(const struct hsa_queue *const *)call_argument(frame, 7);

	(void)end;
	if (hsa_sees_packets() && !call_has_failed(frame) && pointer)
		(void)hsa_queue_learn(*pointer, 0, frame->integers[0]);
}

/* (queue, ...) returns the index of the next packet, which may be the caller's. */
void hsa_after_index(struct call_frame *frame, uint64_t end)
{
	(void)end;
	if (hsa_sees_packets())
		(void)hsa_queue_learn((const struct hsa_queue *)frame->integers[0],
				      frame->results[0], 0);
}
