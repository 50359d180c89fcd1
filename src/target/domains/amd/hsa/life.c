/*
 * Runs on application threads, around their calls of hsa_init() and hsa_shut_down().
 */
#include "target/domains/amd/hsa/life.h"

#include "target/domains/amd/counters/counters.h"
#include "target/domains/amd/counters/leaving.h"
#include "target/domains/amd/counters/windows.h"
#include "target/domains/amd/hsa/agents.h"
#include "target/domains/amd/hsa/kernels.h"
#include "target/domains/amd/hsa/queues.h"
#include "target/domains/amd/hsa/signals.h"
#include "target/domains/amd/hsa/work_private.h"
#include "target/domains/amd/wants.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/readable.h"

#define NOT_INITIALIZED 0x100b

/* Indices of hook_around.kept. */
enum { IS_SEEN, LIFE, SESSION, STUB };

typedef int system_info(uint32_t what, void *ret);

static void (*consult_watch)(void);
static uint64_t known_root;
static const uint64_t *known_core;
static system_info *ask_system;
static const uint64_t *shut_down_slot;

void hsa_life_use(void (*consult)(void))
{
	consult_watch = consult;
}

void hsa_life_start(void)
{
	known_core = shut_down_slot = NULL;
	ask_system = NULL;
	hsa_gate_clear();
	hsa_life_begin();
}

void hsa_life_learn(uint64_t root, const struct hsa_slots *core)
{
	if (known_core == core->slots)
		return;
	ask_system = (system_info *)hsa_slots_find(core, "hsa_system_get_info");
	shut_down_slot = hsa_slots_at(core, "hsa_shut_down");
	known_core = core->slots;
	/* Release: pairs with hsa_life_registered(). */
	__atomic_store_n(&known_root, root, __ATOMIC_RELEASE);
}

static void runtime_forget(void)
{
	uint32_t waiting = pending_count();

	leaving_give_up();
	hsa_note_unseen(waiting > hsa_ours() ? waiting - hsa_ours() : 0);
	hsa_forget_ours();
	pending_close();
	agents_forget();
	hsa_queues_clear();
	counters_forget();
	hsa_signals_forget();
	hsa_kernels_end();
	hsa_copy_times_begin();
}

void hsa_life_registered(uint64_t root)
{
	if (__atomic_load_n(&known_root, __ATOMIC_ACQUIRE) != root)
		return;
	runtime_forget();
	hsa_life_begin();
}

bool hsa_life_needs(const struct traced *traced)
{
	return traced->before == hsa_before_init || traced->before == hsa_before_shut_down;
}

/* Not in a forked child, which has no threads of limpet's. */
void hsa_before_init(struct hook_around *around, uint64_t *window)
{
	(void)window;
	if (!writers_are_on())
		return;
	around->kept[IS_SEEN] = true;
	around->kept[SESSION] = writers_session();
	around->kept[LIFE] = hsa_gate_shut();
}

/* Returns limpet's stub until the runtime resets its tables; 0: unknown. */
static uint64_t stub_in_slot(void)
{
	const uint64_t *slot = __atomic_load_n(&shut_down_slot, __ATOMIC_RELAXED);
	uint64_t value =
		slot && is_readable((uint64_t)slot) ? __atomic_load_n(slot, __ATOMIC_RELAXED) : 0;

	return hook_is_stub(value) ? value : 0;
}

/* Handlers of signals may not be called any more after this. */
void hsa_before_shut_down(struct hook_around *around, uint64_t *window)
{
	around->kept[STUB] = stub_in_slot();
	if (hsa_is_any_seen() && hsa_gate_enter()) {
		hsa_finish_ours();
		hsa_gate_leave();
	}
	if (writers_are_on())
		leaving_all();
	hsa_before_init(around, window);
	/* Destroys limpet's queues first: it is unknown whether this is the last call. */
	if (windows_are_on() && hsa_gate_enter_alone()) {
		windows_end();
		hsa_gate_leave();
	}
}

/* The gate of an earlier session was cleared when the next began. */
static void gate_open(const struct hook_around *around)
{
	if (around->kept[SESSION] == writers_session())
		hsa_gate_open();
}

static bool has_succeeded(const struct hook_around *around)
{
	return !(int32_t)around->frame.results[0];
}

/* A runtime that registers its tables has already begun again. Executables loaded from now on get
 * names only if their agents are known, which are queried only if device work is traced. The
 * watching thread queries devices after answering waiters for tables: so consult twice. */
void hsa_after_init(struct hook_around *around, uint64_t end)
{
	(void)end;
	if (!around->kept[IS_SEEN])
		return;
	if (has_succeeded(around) && hsa_life_begin_again())
		runtime_forget();
	gate_open(around);
	if (!has_succeeded(around) || !amd_wants_work())
		return;
	for (unsigned i = 0; i < 2 && !agents_are_known(); i++)
		consult_watch();
}

static bool runtime_says_over(void)
{
	system_info *ask = __atomic_load_n(&ask_system, __ATOMIC_RELAXED);
	uint16_t version;
	bool is_over;

	if (!ask || !hsa_gate_enter_alone())
		return false;
	is_over = ask(0, &version) == NOT_INITIALIZED;
	hsa_gate_leave();
	return is_over;
}

/* Only the last of several calls shuts the runtime down, and resets its tables first. Another
 * thread may have started it again since, unseen: then it reports that it is running. It cannot be
 * queried while another thread may be shutting it down. */
static bool was_last(const struct hook_around *around)
{
	bool is_reset = around->kept[STUB] && !stub_in_slot();

	return has_succeeded(around) && (is_reset || runtime_says_over());
}

void hsa_after_shut_down(struct hook_around *around, uint64_t end)
{
	bool is_last;

	(void)end;
	if (!around->kept[IS_SEEN])
		return;
	is_last = was_last(around) && hsa_life_end((uint32_t)around->kept[LIFE]);
	if (is_last)
		runtime_forget();
	gate_open(around);
	/* The runtime has reset its tables. */
	if (is_last)
		consult_watch();
}
