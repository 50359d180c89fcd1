/*
 * Begins and ends sessions, and notes queues and executables of the runtime. Runs on limpet's
 * threads, and on application threads after calls that create or destroy these.
 */
#include "shared/arch/syscall.h"
#include "target/domains/amd/counters/leaving.h"
#include "target/domains/amd/counters/sets.h"
#include "target/domains/amd/counters/windows.h"
#include "target/domains/amd/hsa/kernels.h"
#include "target/domains/amd/hsa/queues.h"
#include "target/domains/amd/hsa/signals.h"
#include "target/domains/amd/hsa/work_private.h"
#include "target/hooks/got/got.h"
#include "target/runtime/hsa_gate.h"

#include <time.h>

#define DRAIN_STEP_NS 5000000
#define DRAIN_STEPS   400u /* two seconds */

/* Indices of hook_around.kept. */
enum { IS_RESERVED, INDEX, DOORBELL, LAST_USE };

static bool is_begun;
static uint64_t begun_beside; /* an address in the same library */
static uint32_t begun_in;     /* the runtime's life whose executables were queried */

/* (agent, size, type, callback, data, private bytes, group bytes, queue **) */
void hsa_after_queue_create(struct hook_around *around, uint64_t end)
{
	const struct hsa_queue *const *pointer =
		(const struct hsa_queue *const *)hook_argument(&around->frame, 7);

	(void)end;
	if (hsa_sees_packets() && !(int32_t)around->frame.results[0] && pointer)
		(void)hsa_queue_learn(*pointer, 0, around->frame.arguments[0]);
}

static const struct hsa_queue *queue_in(const struct hook_around *around)
{
	return (const struct hsa_queue *)around->frame.arguments[0];
}

/* (queue, ...) returns the index of the next packet, which may be the caller's. */
void hsa_after_index(struct hook_around *around, uint64_t end)
{
	(void)end;
	if (hsa_sees_packets())
		(void)hsa_queue_learn(queue_in(around), around->frame.results[0], 0);
}

/* (queue, count): reserves a single packet's slot together with limpet's around it, if possible. */
void hsa_before_add(struct hook_around *around, uint64_t *window)
{
	const struct hsa_queue *queue = queue_in(around);
	uint64_t next;

	if (!queue || !counters_are_on())
		return;
	next = hsa_calls.load_write(queue);
	if (hsa_queue_learn(queue, next, 0))
		counters_queue_came(queue, next);
	if (around->frame.arguments[1] != 1 || !counters_reserve(queue, &around->kept[INDEX]))
		return;
	around->kept[IS_RESERVED] = true;
	/* The original function then reserves nothing, and returns the present index. */
	hook_set_argument(around, window, 1, 0);
}

void hsa_after_add(struct hook_around *around, uint64_t end)
{
	const struct hsa_queue *queue = queue_in(around);
	uint64_t count = around->frame.arguments[1];

	if (around->kept[IS_RESERVED])
		around->frame.results[0] = around->kept[INDEX];
	hsa_after_index(around, end);
	if (queue && !around->kept[IS_RESERVED] && counters_are_on() && count)
		counters_skip(queue, around->frame.results[0] + count - 1,
			      queue->type ? SKIP_SINGLE
			      : count > 1 ? SKIP_GROUP
					  : SKIP_FULL);
	if (queue && !around->kept[IS_RESERVED] && count)
		counters_await_room(queue, around->frame.results[0] + count - 1);
}

/* (queue, expected, value): the application reserves slots itself. */
void hsa_after_cas(struct hook_around *around, uint64_t end)
{
	uint64_t last = around->frame.arguments[2] - 1;

	hsa_after_index(around, end);
	if (!queue_in(around) || around->frame.results[0] != around->frame.arguments[1])
		return;
	if (counters_are_on())
		counters_skip(queue_in(around), last, SKIP_SINGLE);
	counters_await_room(queue_in(around), last);
}

/* (queue, value): the application reserves slots itself. */
void hsa_before_store_index(struct hook_around *around, uint64_t *window)
{
	(void)window;
	if (!queue_in(around))
		return;
	if (counters_are_on())
		counters_skip(queue_in(around), around->frame.arguments[1] - 1, SKIP_SINGLE);
	counters_await_room(queue_in(around), around->frame.arguments[1] - 1);
}

void hsa_before_queue_destroy(struct hook_around *around, uint64_t *window)
{
	(void)window;
	/* Also at the end of a session, for limpet's packets in flight. */
	if (!queue_in(around) || !writers_are_on() ||
	    (!hsa_sees_packets() && !leaving_concerns(queue_in(around))))
		return;
	around->kept[DOORBELL] = queue_in(around)->doorbell;
	around->kept[LAST_USE] = sets_last_use();
	counters_queue_leaves(queue_in(around));
}

void hsa_after_queue_destroy(struct hook_around *around, uint64_t end)
{
	(void)end;
	if (around->kept[DOORBELL] && !(int32_t)around->frame.results[0])
		leaving_queue_is_gone(
			&(struct queue_gone){ around->kept[DOORBELL], around->kept[LAST_USE] });
}

void hsa_after_freeze(struct hook_around *around, uint64_t end)
{
	(void)end;
	if (hsa_sees_packets() && !(int32_t)around->frame.results[0])
		hsa_kernels_add(around->frame.arguments[0]);
}

void hsa_before_executable_destroy(struct hook_around *around, uint64_t *window)
{
	(void)window;
	if (hsa_sees_packets())
		hsa_kernels_remove(around->frame.arguments[0]);
}

static void executables_ask(bool kernels)
{
	if (begun_in == hsa_life())
		return;
	begun_in = hsa_life();
	if (kernels)
		hsa_kernels_begin();
}

uint32_t hsa_work_begin(const struct hsa_slots *core, const struct hsa_slots *amd_ext,
			const struct hsa_wanted *wanted)
{
	uint32_t windows = (uint32_t)wanted->windows << DOMAIN_WINDOW;

	if (is_begun) {
		executables_ask(wanted->kernels || wanted->counters);
		return hsa_seen() | windows;
	}
	if (!hsa_calls_find(core, amd_ext) || pending_open())
		return 0;
	is_begun = true;
	begun_beside = (uint64_t)core->slots;
	hsa_copy_times_begin();
	hsa_counts_clear();
	hsa_queues_clear();
	/* Unused signals of the last session may be of a runtime that was shut down since. */
	hsa_signals_forget();
	begun_in = hsa_life() - 1;
	executables_ask(wanted->kernels || wanted->counters);
	hsa_see(wanted->kernels, wanted->copies, wanted->counters);
	return hsa_seen() | windows;
}

void hsa_work_leave_to_hip(void)
{
	hsa_see(false, false, hsa_is_seen(DOMAIN_COUNTER));
}

/* False: the runtime was shut down, or its start takes too long. */
static bool runtime_enter(void)
{
	struct timespec pause = { 0, DRAIN_STEP_NS };

	for (unsigned i = 0; i < DRAIN_STEPS && !hsa_life_is_over(); i++) {
		if (hsa_gate_enter())
			return true;
		raw2(SYS_nanosleep, &pause, 0);
	}
	return false;
}

/* The library may have been unloaded, or the runtime shut down: then all is dropped. */
static void give_back(void)
{
	void *library = got_hold(begun_beside);

	if (library && got_symbol_beside(begun_beside, "hsa_signal_destroy") && runtime_enter()) {
		hsa_copy_times_end();
		windows_end();
		if (counters_give_back())
			hsa_signals_free();
		hsa_gate_leave();
	} else {
		counters_forget();
		hsa_signals_forget();
	}
	got_release(library);
}

struct hsa_left hsa_work_end(void)
{
	struct timespec pause = { 0, DRAIN_STEP_NS };
	struct hsa_left left = { 0 };

	if (!is_begun)
		return left;
	counters_stop();
	hsa_see(false, false, false);
	for (unsigned i = 0; i < DRAIN_STEPS && (hsa_ours() || counters_under_way()); i++)
		raw2(SYS_nanosleep, &pause, 0);
	left.counters = counters_end();
	hsa_note_unseen(pending_count() > hsa_ours() ? pending_count() - hsa_ours() : 0);
	left.cut = hsa_ours() + hsa_lost_ours();
	left.unseen = hsa_unseen();
	left.lost = hsa_lost();
	give_back();
	hsa_kernels_end();
	pending_close();
	is_begun = false;
	return left;
}

void hsa_work_leave(void)
{
	if (!hsa_is_any_seen() || !hsa_gate_enter())
		return;
	hsa_finish_ours();
	hsa_gate_leave();
	leaving_all();
}

void hsa_work_forget(void)
{
	hsa_gate_forget();
	hsa_see(false, false, false);
	counters_forget_parent();
	hsa_signals_forget();
	is_begun = false;
}
