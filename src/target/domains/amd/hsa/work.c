/*
 * Sessions, and what is known of the runtime.  Runs on threads of ours, and on the program's after
 * calls that change what is known.
 */
#include "shared/arch/syscall.h"
#include "target/domains/amd/hsa/kernels.h"
#include "target/domains/amd/hsa/queues.h"
#include "target/domains/amd/hsa/signals.h"
#include "target/domains/amd/hsa/work_private.h"
#include "target/hooks/got.h"

#include <time.h>

#define DRAIN_STEP_NS   5000000
#define DRAIN_STEPS     400u /* two seconds */
#define NOT_INITIALIZED 0x100b

static bool is_on[DOMAINS];
static bool is_begun;
static uint64_t begun_beside; /* data of the same library */
static uint32_t lost;
static uint32_t ours; /* signals of ours that are awaited */

bool hsa_is_seen(enum trace_domain domain)
{
	return __atomic_load_n(&is_on[domain], __ATOMIC_RELAXED) && writers_are_on();
}

bool hsa_is_any_seen(void)
{
	return hsa_is_seen(DOMAIN_KERNEL) || hsa_is_seen(DOMAIN_COPY);
}

void hsa_note_lost(void)
{
	__atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
}

void hsa_count_ours(void)
{
	__atomic_fetch_add(&ours, 1, __ATOMIC_RELAXED);
}

/* Those of a runtime that was shut down are not counted any more. */
void hsa_discount_ours(void)
{
	uint32_t now = __atomic_load_n(&ours, __ATOMIC_RELAXED);

	while (now && !__atomic_compare_exchange_n(&ours, &now, now - 1, false, __ATOMIC_RELAXED,
						   __ATOMIC_RELAXED))
		;
}

/* (agent, size, type, callback, data, private bytes, group bytes, queue **) */
void hsa_after_queue_create(struct hook_around *around, uint64_t end)
{
	const struct hsa_queue *const *place =
		(const struct hsa_queue *const *)hook_argument(&around->frame, 7);

	(void)end;
	if (hsa_is_seen(DOMAIN_KERNEL) && !(int32_t)around->frame.results[0] && place)
		hsa_queue_learn(*place, 0, around->frame.arguments[0]);
}

static const struct hsa_queue *queue_in(const struct hook_around *around)
{
	return (const struct hsa_queue *)around->frame.arguments[0];
}

/* (queue, ...) gives the index of the next packet, which may be the caller's now. */
void hsa_after_index(struct hook_around *around, uint64_t end)
{
	(void)end;
	if (hsa_is_seen(DOMAIN_KERNEL))
		hsa_queue_learn(queue_in(around), around->frame.results[0], 0);
}

void hsa_before_queue_destroy(struct hook_around *around, uint64_t *window)
{
	(void)window;
	if (hsa_is_seen(DOMAIN_KERNEL))
		hsa_queue_forget(queue_in(around));
}

/* Only the last of several takes the runtime down, and all signals and queues with it. */
void hsa_after_shut_down(struct hook_around *around, uint64_t end)
{
	uint16_t version;

	(void)around;
	(void)end;
	if (!hsa_is_any_seen() || hsa_calls.system_info(0, &version) != NOT_INITIALIZED)
		return;
	hsa_queues_clear();
	hsa_signals_forget();
	pending_close();
	__atomic_store_n(&ours, 0, __ATOMIC_RELAXED);
}

void hsa_after_freeze(struct hook_around *around, uint64_t end)
{
	(void)end;
	if (hsa_is_seen(DOMAIN_KERNEL) && !(int32_t)around->frame.results[0])
		hsa_kernels_add(around->frame.arguments[0]);
}

void hsa_before_executable_destroy(struct hook_around *around, uint64_t *window)
{
	(void)window;
	if (hsa_is_seen(DOMAIN_KERNEL))
		hsa_kernels_remove(around->frame.arguments[0]);
}

static void set_on(enum trace_domain domain, bool value)
{
	__atomic_store_n(&is_on[domain], value, __ATOMIC_RELEASE);
}

static uint32_t seen(void)
{
	return (uint32_t)is_on[DOMAIN_KERNEL] << DOMAIN_KERNEL | (uint32_t)is_on[DOMAIN_COPY]
									 << DOMAIN_COPY;
}

uint32_t hsa_work_begin(const struct hsa_slots *core, const struct hsa_slots *amd_ext, bool kernels,
			bool copies)
{
	if (is_begun)
		return seen();
	if (!hsa_calls_find(core, amd_ext) || pending_open())
		return 0;
	is_begun = true;
	begun_beside = (uint64_t)core->slots;
	hsa_copy_times_begin();
	lost = ours = 0;
	hsa_queues_clear();
	/* What came back after the last session may be of a runtime that was shut down since. */
	hsa_signals_forget();
	if (kernels)
		hsa_kernels_begin();
	set_on(DOMAIN_KERNEL, kernels);
	set_on(DOMAIN_COPY, copies);
	return seen();
}

void hsa_work_leave_to_hip(void)
{
	set_on(DOMAIN_KERNEL, false);
	set_on(DOMAIN_COPY, false);
}

/* The runtime may be gone meanwhile, and what we have of it with it. */
static void give_back(void)
{
	void *library = got_hold(begun_beside);

	if (library && got_symbol_beside(begun_beside, "hsa_signal_destroy")) {
		hsa_copy_times_end();
		hsa_signals_free();
	} else {
		hsa_signals_forget();
	}
	got_release(library);
}

struct hsa_left hsa_work_end(void)
{
	struct timespec pause = { 0, DRAIN_STEP_NS };
	struct hsa_left left = { 0, 0, 0 };

	if (!is_begun)
		return left;
	hsa_work_leave_to_hip();
	for (unsigned i = 0; i < DRAIN_STEPS && __atomic_load_n(&ours, __ATOMIC_RELAXED); i++)
		raw2(SYS_nanosleep, &pause, 0);
	left.cut = __atomic_load_n(&ours, __ATOMIC_RELAXED);
	left.unseen = pending_count() > left.cut ? pending_count() - left.cut : 0;
	left.lost = lost;
	give_back();
	hsa_kernels_end();
	pending_close();
	is_begun = false;
	return left;
}

void hsa_work_forget(void)
{
	hsa_work_leave_to_hip();
	hsa_signals_forget();
	is_begun = false;
}
