/*
 * API tables are variables of their runtime's library: read and written while the loader is held,
 * so that the library stays mapped. Where a library was unmapped, another mapping may be by now.
 */
#include "target/amd/tables/intercept.h"

#include "target/amd/counters/device_queue.h"
#include "target/amd/counters/engine.h"
#include "target/amd/hsa/scratch.h"
#include "target/amd/sinks/sdk/contexts.h"
#include "target/amd/sinks/sdk/devices/streams.h"
#include "target/amd/sinks/sdk/service.h"
#include "target/amd/tables/watch.h"
#include "target/hooks/patches.h"
#include "target/hooks/protection.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"
#include "target/runtime/patience.h"
#include "target/runtime/text.h"

#define SLOTS_MAX      2048u
#define HSA_HEAD_WORDS 2u
#define HSA_TOOLS_PART 4u
#define RESTART_SLOTS  2u /* the first of HSA's core table: hsa_init, hsa_shut_down */
#define LOCK_LIMIT_NS  2000000000ull
#define LOCK_PAUSE_NS  1000000

struct call_layout service_layouts[SERVICE_SLOTS];
static uint32_t wanted_tools; /* bits */
static uint32_t is_changing;
static uint32_t restart_puts; /* stubs stored in the entries of hsa_init() and hsa_shut_down() */
static uint32_t is_updating, is_outdated;

/* Lock for changing tables, which takes microseconds. Taken only inside forks_hold(), so that a
 * forked child never inherits it locked. */
static bool tables_lock(void)
{
	struct patience patience = { 0, 0 };

	do {
		if (!__atomic_exchange_n(&is_changing, 1, __ATOMIC_ACQUIRE))
			return true;
	} while (patience_pause(&patience, LOCK_PAUSE_NS, LOCK_LIMIT_NS));
	return false;
}

static void tables_unlock(void)
{
	__atomic_store_n(&is_changing, 0, __ATOMIC_RELEASE);
}

static bool wants_callback(const struct sdk_context *context, int kind, unsigned operation)
{
	return callback_wants(&context->callbacks[kind], operation);
}

static bool wants_buffer(const struct sdk_context *context, int kind, unsigned operation)
{
	return kind && buffer_wants(&context->buffers[kind], operation);
}

/* True while queues of the agent, or limpet's packets in application queues, exist: the stub then
 * stays, whatever contexts want. */
static bool is_held(const struct sdk_slot *slot)
{
	const struct slot_watch *watch = slot->watch ? watch_at(slot->watch) : NULL;

	return watch && ((watch->is_for_all && device_queues_are_claimed()) ||
			 (watch->is_for_packets && dispatch_engine_is_begun()));
}

/* Calls that write packets, and calls that load code objects, which identify a packet's kernel. */
static bool is_for_kernels(const struct slot_watch *watch)
{
	return watch->is_for_packets || watch->callback_kinds[0] == CALLBACK_CODE_OBJECT;
}

/* The bits of watch.h that a context needs. */
static uint8_t wants_watch(const struct sdk_context *context, const struct sdk_slot *slot)
{
	const struct slot_watch *watch = slot->watch ? watch_at(slot->watch) : NULL;
	uint8_t wanted = 0;

	if (slot->stream_use && context->callbacks[CALLBACK_STREAM].callback)
		wanted |= WATCHING_STREAM;
	if (watch && (watch->is_for_all || (context->counts_kernels && is_for_kernels(watch))))
		wanted |= WATCHING_CALL;
	for (unsigned i = 0; watch && i < WATCH_KINDS; i++)
		if (context->callbacks[watch->callback_kinds[i]].callback ||
		    context->buffers[watch->buffer_kinds[i]].buffer.handle)
			wanted |= WATCHING_CALL;
	return wanted;
}

static bool wants_slot(const struct sdk_context *context, const struct sdk_slot *slot)
{
	const struct api_table *table = slot->table;

	return wants_watch(context, slot) ||
	       wants_callback(context, table->callback_kind, slot->operation) ||
	       wants_buffer(context, table->buffer_kind, slot->operation) ||
	       wants_buffer(context, table->extended_kind, slot->operation);
}

static void update_slot(struct sdk_slot *slot, uint64_t active)
{
	const struct api_table *table = slot->table;
	uint64_t callbacks = 0, records = 0, extended = 0;
	uint8_t watching = is_held(slot) ? WATCHING_CALL : 0;

	for (; active; active &= active - 1) {
		unsigned i = (unsigned)__builtin_ctzll(active);
		uint64_t bit = 1ull << i;

		watching |= wants_watch(&sdk_contexts[i], slot);
		callbacks |=
			wants_callback(&sdk_contexts[i], table->callback_kind, slot->operation) *
			bit;
		records |=
			wants_buffer(&sdk_contexts[i], table->buffer_kind, slot->operation) * bit;
		extended |=
			wants_buffer(&sdk_contexts[i], table->extended_kind, slot->operation) * bit;
	}
	__atomic_store_n(&slot->watching, watching, __ATOMIC_RELAXED);
	/* Release: pairs with collect_contexts(); publishes each context's services. */
	__atomic_store_n(&slot->callbacks, callbacks, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->buffers, records, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->extended, extended, __ATOMIC_RELEASE);
	/* Release: stored last; a call that still sees old words above is not shown. */
	__atomic_store_n(&slot->is_on, watching || (callbacks | records | extended) != 0,
			 __ATOMIC_RELEASE);
}

static void update_all(void)
{
	uint64_t active = 0, retirements = 0;

	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (context_state(&sdk_contexts[i]) == CONTEXT_ACTIVE)
			active |= 1ull << i;
	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (active >> i & 1 && sdk_contexts[i].buffers[BUFFER_RETIREMENT].buffer.handle)
			retirements |= 1ull << i;
	__atomic_store_n(&service_retirements, retirements, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < SERVICE_SLOTS; i++)
		if (service_slots[i].table)
			update_slot(&service_slots[i], active);
}

/* A thread that finds an update under way leaves the rest to the updating thread. */
void intercept_update(void)
{
	__atomic_store_n(&is_outdated, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&is_outdated, __ATOMIC_SEQ_CST) &&
	       !__atomic_exchange_n(&is_updating, 1, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&is_outdated, 0, __ATOMIC_SEQ_CST);
		update_all();
		__atomic_store_n(&is_updating, 0, __ATOMIC_SEQ_CST);
	}
}

struct question {
	uint64_t start, end;
	bool is_there;
};

static int ask_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct question *question = data;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_LOAD && part->p_flags & PF_W && question->start >= start &&
		    question->end <= start + part->p_memsz)
			question->is_there = true;
	}
	return question->is_there;
}

static bool is_there(uint64_t address, uint64_t size)
{
	struct question question = { address, address + size, false };

	if (address % sizeof(uint64_t))
		return false;
	libc_iterate(ask_module, &question);
	return question.is_there;
}

static unsigned table_whole(uint64_t address, uint64_t words, uint64_t **ret)
{
	if (!words || words > SLOTS_MAX || !is_there(address, words * sizeof(uint64_t)))
		return 0;
	*ret = (uint64_t *)address;
	return (unsigned)words;
}

/* {size in bytes, slots} */
static unsigned read_sized(uint64_t address, uint64_t **ret)
{
	uint64_t words;

	if (!is_there(address, sizeof(uint64_t)))
		return 0;
	words = *(const uint64_t *)address / sizeof(uint64_t);
	return words < 2 ? 0 : table_whole(address + sizeof(uint64_t), words - 1, ret);
}

/* {u32 major, u32 size in bytes, u32 step, u32 reserved, slots} */
static unsigned read_versioned(uint64_t address, uint64_t **ret)
{
	uint64_t words;

	if (!is_there(address, sizeof(uint64_t)))
		return 0;
	words = (*(const uint64_t *)address >> 32) / sizeof(uint64_t);
	return words <= HSA_HEAD_WORDS ? 0
				       : table_whole(address + HSA_HEAD_WORDS * sizeof(uint64_t),
						     words - HSA_HEAD_WORDS, ret);
}

unsigned intercept_read(const struct agent_table *known, const struct api_table *table,
			uint64_t **ret)
{
	uint64_t *root;
	unsigned count;

	if (!text_equal(table->registered, known->name))
		return 0;
	if (!table->is_of_hsa)
		return table->part < known->part_count ? read_sized(known->parts[table->part], ret)
						       : 0;
	count = read_versioned(known->parts[0], &root);
	return table->part < count && root[table->part] ? read_versioned(root[table->part], ret)
							: 0;
}

static uint64_t stub_of(const struct sdk_slot *slot)
{
	return (uint64_t)service_stubs + (uint64_t)(slot - service_slots) * SERVICE_STUB_SIZE;
}

bool intercept_is_in(const struct sdk_slot *slot)
{
	return slot->entry && __atomic_load_n(slot->entry, __ATOMIC_RELAXED) == stub_of(slot);
}

bool intercept_is_hidden(const struct sdk_slot *slot)
{
	uint64_t value = slot->entry ? __atomic_load_n(slot->entry, __ATOMIC_RELAXED) : 0;

	return value != stub_of(slot) && value != slot->original;
}

/* For one of the two restart slots: does its stub belong to this table's entry? */
static bool restart_is_ours(const struct sdk_slot *slot, const uint64_t *entry)
{
	return slot->is_ours && slot->entry == entry;
}

bool intercept_sees_restarts(const uint64_t *entries, uint32_t *ret_puts)
{
	const struct sdk_slot *slots = &service_slots[api_tables[0].first];

	*ret_puts = __atomic_load_n(&restart_puts, __ATOMIC_ACQUIRE);
	for (unsigned i = 0; i < RESTART_SLOTS; i++)
		if (!restart_is_ours(&slots[i], &entries[i]) || !intercept_is_in(&slots[i]) ||
		    !(__atomic_load_n(&slots[i].watching, __ATOMIC_RELAXED) & WATCHING_CALL))
			return false;
	return true;
}

bool intercept_hides_restarts(const uint64_t *entries)
{
	const struct sdk_slot *slots = &service_slots[api_tables[0].first];

	for (unsigned i = 0; i < RESTART_SLOTS; i++)
		if (restart_is_ours(&slots[i], &entries[i]) && intercept_is_hidden(&slots[i]))
			return true;
	return false;
}

static bool slot_sees_queues(const struct sdk_slot *slot, const uint64_t *entry)
{
	return !slot->table || !slot->watch || !watch_at(slot->watch)->is_for_packets ||
	       !__atomic_load_n(entry, __ATOMIC_RELAXED) ||
	       (restart_is_ours(slot, entry) && intercept_is_in(slot) &&
		__atomic_load_n(&slot->watching, __ATOMIC_RELAXED) & WATCHING_CALL);
}

bool intercept_sees_queues(const uint64_t *entries)
{
	const struct api_table *core = &api_tables[0];

	for (unsigned i = 0; i < core->count; i++)
		if (!slot_sees_queues(&service_slots[core->first + i], &entries[i]))
			return false;
	return true;
}

static bool entry_store(uint64_t *entry, uint64_t from, uint64_t to)
{
	struct protection opened;
	bool is_done;

	if (protection_open(entry, &opened))
		return false;
	/* Release: a call that reaches the stub sees a complete slot. */
	is_done = __atomic_compare_exchange_n(entry, &from, to, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED);
	protection_close(&opened);
	return is_done;
}

static bool is_wanted(const struct sdk_slot *slot)
{
	if (is_held(slot))
		return true;
	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (context_state(&sdk_contexts[i]) >= CONTEXT_STOPPED &&
		    wanted_tools >> sdk_contexts[i].tool & 1 && wants_slot(&sdk_contexts[i], slot))
			return true;
	return false;
}

/* Another tool's function in the entry may lead to limpet's stub: then the stub is in place
 * already. It is not if the runtime has reset the entry to the original. */
static void put_in(struct sdk_slot *slot, uint64_t *entry)
{
	uint64_t value = __atomic_load_n(entry, __ATOMIC_RELAXED);

	if (!value || value == stub_of(slot) ||
	    (slot->is_ours && slot->entry == entry && value != slot->original))
		return;
	if (slot->watch && watch_at(slot->watch)->is_for_all)
		__atomic_fetch_add(&restart_puts, 1, __ATOMIC_RELEASE);
	slot->original = value;
	slot->entry = entry;
	slot->is_ours = entry_store(entry, value, stub_of(slot));
	agent_page.has_hooked |= slot->is_ours;
}

/* The runtime may have restored the original itself when it was shut down. */
static bool entry_is_original(const struct sdk_slot *slot)
{
	return __atomic_load_n(slot->entry, __ATOMIC_RELAXED) == slot->original;
}

static void take_out(struct sdk_slot *slot)
{
	if (!is_there((uint64_t)slot->entry, sizeof(uint64_t)) || entry_is_original(slot) ||
	    entry_store(slot->entry, stub_of(slot), slot->original))
		slot->is_ours = false;
}

static void change_table(const struct api_table *table, uint64_t *slots, unsigned count)
{
	if (table->may_differ && count > table->count)
		return;
	for (unsigned i = 0; i < MIN(count, table->count); i++) {
		struct sdk_slot *slot = &service_slots[table->first + i];
		struct call_layout *layout = &service_layouts[table->first + i];

		if (!slot->table) {
			signature_lay_out(&table->signatures[i], layout);
			slot->stack_bytes = layout->stack_words * 8u;
			slot->has_vectors = layout->has_vectors;
			slot->operation = (uint16_t)i;
			slot->watch = watch_find(table->signatures[i].name);
			stream_find(&table->signatures[i], table, slot);
			slot->table = table;
		}
		if (is_wanted(slot))
			put_in(slot, &slots[i]);
	}
}

static bool wants_scratch(void)
{
	for (unsigned i = 0; i < CONTEXTS_MAX; i++)
		if (context_state(&sdk_contexts[i]) >= CONTEXT_STOPPED &&
		    wanted_tools >> sdk_contexts[i].tool & 1 &&
		    sdk_contexts[i].buffers[BUFFER_SCRATCH].buffer.handle)
			return true;
	return false;
}

/* HSA's table for tools is no API table, but is found like one. */
static void change_scratch(const struct agent_table *known)
{
	static const struct api_table tools = { .registered = "hsa",
						.part = HSA_TOOLS_PART,
						.is_of_hsa = true };
	uint64_t *slots;
	unsigned count = intercept_read(known, &tools, &slots);

	if (count && word_is_writable(slots))
		scratch_change(slots, count, wants_scratch());
}

/* If one name is registered several times, only the first registration has stubs. */
static void change_known(const struct agent_table *known)
{
	change_scratch(known);
	for (unsigned i = 0; i < API_TABLES; i++) {
		uint64_t *slots;
		unsigned count =
			known->instance ? 0 : intercept_read(known, &api_tables[i], &slots);

		if (count)
			change_table(&api_tables[i], slots, count);
	}
}

static void take_out_unwanted(void)
{
	for (unsigned i = 0; i < SERVICE_SLOTS; i++)
		if (service_slots[i].is_ours && !is_wanted(&service_slots[i]))
			take_out(&service_slots[i]);
}

/* Called for the first module only; the loader is held meanwhile. */
static int change_all(struct dl_phdr_info *info, size_t size, void *data)
{
	uint32_t count = __atomic_load_n(&agent_page.table_count, __ATOMIC_ACQUIRE);

	(void)info, (void)size, (void)data;
	take_out_unwanted();
	for (uint32_t i = 0; i < count; i++)
		change_known(&agent_page.tables[i]);
	return 1;
}

static void tools_install(uint32_t tools)
{
	if (!tables_lock())
		return;
	wanted_tools = tools;
	if (__atomic_load_n(&agent_page.table_count, __ATOMIC_ACQUIRE) || intercept_left())
		libc_iterate(change_all, NULL);
	tables_unlock();
	intercept_update();
}

void intercept_install(uint32_t tools)
{
	struct fork_work work = forks_hold();

	if (libc_can_iterate())
		tools_install(tools);
	forks_release(work);
}

static void table_add(const struct agent_table *table)
{
	if (!tables_lock())
		return;
	change_known(table);
	tables_unlock();
	intercept_update();
}

void intercept_add(const struct agent_table *table)
{
	struct fork_work work = forks_hold();

	if (wanted_tools)
		table_add(table);
	forks_release(work);
}

void intercept_adopt(void)
{
	wanted_tools = is_changing = is_updating = is_outdated = 0;
}

unsigned intercept_left(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < SERVICE_SLOTS; i++)
		count += service_slots[i].is_ours;
	return count;
}

uint64_t intercept_original(const struct api_table *table, unsigned operation,
			    const uint64_t *slots)
{
	const struct sdk_slot *slot = &service_slots[table->first + operation];
	uint64_t value = __atomic_load_n(&slots[operation], __ATOMIC_RELAXED);

	return value == stub_of(slot) ? slot->original : value;
}
