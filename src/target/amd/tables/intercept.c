/*
 * Tables are read and written while the loader is held, so that their libraries stay mapped. A live
 * table gets a block of slots the first time that a function of it is wanted, and keeps it: the
 * application may have kept the address of a stub.
 */
#include "target/amd/tables/intercept.h"

#include "target/amd/tables/read.h"
#include "target/amd/tables/watch.h"
#include "target/hooks/protection.h"
#include "target/runtime/libc_calls.h"
#include "target/runtime/page.h"
#include "target/runtime/patience.h"
#include "target/runtime/text.h"

#include <errno.h>

#define BLOCKS_MAX     64u
#define HSA_TOOLS_PART 4u
#define RESTART_SLOTS  2u /* the first of HSA's core table: hsa_init, hsa_shut_down */
#define UNKNOWN_BYTES  (STACK_WINDOW_WORDS * 8u)
#define LOCK_LIMIT_NS  2000000000ull
#define LOCK_PAUSE_NS  1000000

/* Slots of a live table, or of the end that it has grown by. */
struct slot_block {
	const uint64_t *entries; /* of the table */
	uint16_t from, count;    /* indices in the table */
	uint16_t first;          /* the first slot */
	uint8_t table;           /* enum api_table_number */
};

static struct slot_block blocks[BLOCKS_MAX];
static uint32_t block_count, slot_count;
static const struct intercept_policy *policy;
static uint32_t is_changing;
static uint32_t restart_puts;
static uint32_t is_updating, is_outdated;

void intercept_use(const struct intercept_policy *used)
{
	__atomic_store_n(&policy, used, __ATOMIC_RELEASE);
}

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

void intercept_each(void (*visit)(struct call_slot *slot, void *data), void *data)
{
	/* Acquire: pairs with block_make(). */
	uint32_t count = __atomic_load_n(&slot_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		visit(&call_slots[i], data);
}

static void slot_update(struct call_slot *slot, void *data)
{
	(void)data;
	if (slot->is_prepared)
		policy->update(slot);
}

/* A thread that finds an update under way leaves the rest to the updating thread. */
void intercept_update(void)
{
	__atomic_store_n(&is_outdated, 1, __ATOMIC_SEQ_CST);
	while (policy && __atomic_load_n(&is_outdated, __ATOMIC_SEQ_CST) &&
	       !__atomic_exchange_n(&is_updating, 1, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&is_outdated, 0, __ATOMIC_SEQ_CST);
		policy->begin();
		intercept_each(slot_update, NULL);
		__atomic_store_n(&is_updating, 0, __ATOMIC_SEQ_CST);
	}
}

struct call_slot *intercept_find(const uint64_t *entries, enum api_table_number number,
				 unsigned operation)
{
	uint32_t count = __atomic_load_n(&block_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (blocks[i].entries == entries && blocks[i].table == number &&
		    operation - blocks[i].from < blocks[i].count)
			return &call_slots[blocks[i].first + operation - blocks[i].from];
	return NULL;
}

static bool has_block(enum api_table_number number)
{
	for (uint32_t i = 0; i < block_count; i++)
		if (blocks[i].table == number)
			return true;
	return false;
}

/* Makes slots for the function and those behind it. False: there are too many. */
static bool block_make(const uint64_t *entries, enum api_table_number number, unsigned operation,
		       unsigned count)
{
	unsigned room = MAX(count, (unsigned)api_tables[number].named) - operation;
	bool is_first = !operation && !has_block(number);

	if (block_count == BLOCKS_MAX || room > CALL_SLOTS - slot_count)
		return false;
	for (unsigned i = 0; i < room; i++)
		call_slots[slot_count + i] =
			(struct call_slot){ .table = (uint8_t)number,
					    .operation = (uint16_t)(operation + i),
					    .is_first = is_first };
	blocks[block_count] = (struct slot_block){ entries, (uint16_t)operation, (uint16_t)room,
						   (uint16_t)slot_count, (uint8_t)number };
	/* Release: pairs with intercept_find() and intercept_each(). */
	__atomic_store_n(&block_count, block_count + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&slot_count, slot_count + room, __ATOMIC_RELEASE);
	return true;
}

/* A function that limpet does not know may be called in any way. */
static void slot_prepare(struct call_slot *slot, bool is_unknown, bool is_unnamed)
{
	const struct api_table *table = call_table(slot);
	struct call_layout *layout;

	slot->is_unknown = is_unknown;
	slot->is_unnamed = is_unnamed;
	slot->stack_bytes = UNKNOWN_BYTES;
	if (!is_unknown) {
		layout = &api_layouts[table->first + slot->operation];
		signature_lay_out(&table->signatures[slot->operation], layout);
		slot->stack_bytes = (uint8_t)(layout->stack_words * 8u);
		slot->has_vectors = layout->has_vectors;
	}
	slot->watch = is_unknown ? 0 : watch_find(table->signatures[slot->operation].name);
	policy->prepare(slot);
	slot->is_prepared = true;
}

static struct call_slot *slot_make(const struct api_table *table, uint64_t *entries,
				   unsigned operation, unsigned count)
{
	enum api_table_number number = (enum api_table_number)(table - api_tables);
	bool differs = table->may_differ && count > table->named;
	bool is_unknown = differs || operation >= table->count;
	struct call_slot *slot = intercept_find(entries, number, operation);

	if (!slot && block_make(entries, number, operation, count))
		slot = intercept_find(entries, number, operation);
	if (slot && (!slot->is_prepared || slot->is_unknown != is_unknown))
		slot_prepare(slot, is_unknown, differs || operation >= table->named);
	return slot;
}

/* In a pass, the range made writable for one entry stays so for its neighbours. */
struct pass {
	struct intercept_counts counts;
	struct module_range code;
	struct protection opened;
};

static int entry_open(struct pass *pass, uint64_t *entry)
{
	if ((uint64_t)entry >= pass->opened.start && (uint64_t)entry < pass->opened.end)
		return 0;
	protection_close(&pass->opened);
	return protection_open(entry, &pass->opened);
}

static bool entry_store(uint64_t *entry, uint64_t from, uint64_t to)
{
	/* Release: a call that reaches the stub sees a complete slot. */
	return __atomic_compare_exchange_n(entry, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static bool is_of_restarts(const struct call_slot *slot)
{
	return slot->table == API_HSA_CORE && slot->operation < RESTART_SLOTS;
}

/* Another tool's function in the entry may lead to limpet's stub: then the stub is in place
 * already. It is not if the runtime has reset the entry to the original. A value that leads to no
 * module's code is no function. */
static void stub_put(struct pass *pass, struct call_slot *slot, uint64_t *entry)
{
	uint64_t value = __atomic_load_n(entry, __ATOMIC_RELAXED);

	if (!value || value == call_stub(slot) ||
	    (slot->is_ours && slot->entry == entry && value != slot->original) ||
	    !module_has(&pass->code, value, 1, PF_X))
		return;
	if (entry_open(pass, entry)) {
		pass->counts.unwritable++;
		return;
	}
	if (is_of_restarts(slot))
		__atomic_fetch_add(&restart_puts, 1, __ATOMIC_RELEASE);
	/* Release: pairs with intercept_resets(). */
	if (slot->is_ours)
		__atomic_store_n(&slot->resets, slot->resets + 1, __ATOMIC_RELEASE);
	slot->original = value;
	slot->entry = entry;
	slot->is_ours = entry_store(entry, value, call_stub(slot));
	slot->was_put = slot->is_ours;
	agent_page.has_hooked |= slot->is_ours;
}

/* The runtime may have restored the original itself when it was shut down. */
static void stub_remove(struct pass *pass, struct call_slot *slot)
{
	struct module_range data = { 0 };

	if (!module_has(&data, (uint64_t)slot->entry, sizeof(uint64_t), PF_W)) {
		pass->counts.foreign++;
		slot->is_ours = false;
	} else if (entry_original(slot->entry) != slot->original) {
		pass->counts.foreign++;
	} else if (entry_open(pass, slot->entry)) {
		pass->counts.unwritable++;
	} else {
		slot->is_ours = !entry_store(slot->entry, call_stub(slot), slot->original) &&
				intercept_is_hidden(slot);
		pass->counts.restored += !slot->is_ours;
		pass->counts.foreign += slot->is_ours;
	}
}

static void table_change(struct pass *pass, const struct api_table *table, uint64_t *entries,
			 unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct call_slot *slot = slot_make(table, entries, i, count);

		if (!slot) {
			pass->counts.refused++;
		} else if (policy->wants(slot)) {
			stub_put(pass, slot, &entries[i]);
			slot->leads_here = intercept_is_in(slot);
		}
	}
}

static void known_change(struct pass *pass, const struct agent_table *known)
{
	uint64_t *entries;
	unsigned count;

	if (text_equal(known->name, "hsa")) {
		count = table_read_part(known, HSA_TOOLS_PART, &entries);
		if (count && !entry_open(pass, entries))
			policy->change_tools_table(entries, count);
	}
	for (unsigned i = 0; i < API_TABLES; i++) {
		count = table_read(known, &api_tables[i], &entries);
		table_change(pass, &api_tables[i], entries, count);
	}
}

static void unwanted_remove(struct call_slot *slot, void *data)
{
	slot->leads_here = false;
	if (slot->is_ours && !policy->wants(slot))
		stub_remove(data, slot);
}

/* Called for the first module only; the loader is held meanwhile. */
static int all_change(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct agent_table *tables;
	uint32_t count = tables_known(&tables);

	(void)info, (void)size;
	policy->begin();
	intercept_each(unwanted_remove, data);
	for (uint32_t i = 0; i < count; i++)
		known_change(data, &tables[i]);
	return 1;
}

static void all_install(struct pass *pass)
{
	const struct agent_table *tables;

	if (!policy || !libc_can_iterate() || !tables_lock())
		return;
	if (tables_known(&tables) || intercept_left())
		libc_iterate(all_change, pass);
	protection_close(&pass->opened);
	tables_unlock();
	intercept_update();
}

void intercept_install(struct intercept_counts *ret)
{
	struct fork_work work = forks_hold();
	struct pass pass = { 0 };

	all_install(&pass);
	forks_release(work);
	if (ret)
		*ret = pass.counts;
}

void intercept_add(const struct agent_table *table)
{
	struct fork_work work = forks_hold();
	struct pass pass = { 0 };

	if (policy && tables_lock()) {
		policy->begin();
		known_change(&pass, table);
		protection_close(&pass.opened);
		tables_unlock();
		intercept_update();
	}
	forks_release(work);
}

void intercept_adopt(void)
{
	is_changing = is_updating = is_outdated = 0;
}

static void ours_count(struct call_slot *slot, void *data)
{
	*(unsigned *)data += slot->is_ours;
}

unsigned intercept_left(void)
{
	unsigned count = 0;

	intercept_each(ours_count, &count);
	return count;
}

bool intercept_is_in(const struct call_slot *slot)
{
	return slot->entry && __atomic_load_n(slot->entry, __ATOMIC_RELAXED) == call_stub(slot);
}

bool intercept_is_out(const struct call_slot *slot)
{
	/* Acquire: pairs with stub_put(), for intercept_resets(). */
	return slot->entry && __atomic_load_n(slot->entry, __ATOMIC_ACQUIRE) == slot->original;
}

bool intercept_is_hidden(const struct call_slot *slot)
{
	uint64_t value = slot->entry ? __atomic_load_n(slot->entry, __ATOMIC_RELAXED) : 0;

	return value != call_stub(slot) && value != slot->original;
}

uint16_t intercept_resets(const struct call_slot *slot)
{
	return __atomic_load_n(&slot->resets, __ATOMIC_ACQUIRE);
}

uint32_t intercept_restart_puts(void)
{
	return __atomic_load_n(&restart_puts, __ATOMIC_ACQUIRE);
}

static const struct call_slot *restart_slot(const uint64_t *entries, unsigned operation)
{
	const struct call_slot *slot = intercept_find(entries, API_HSA_CORE, operation);

	return slot && slot->is_ours && slot->entry == &entries[operation] ? slot : NULL;
}

bool intercept_sees_restarts(const uint64_t *entries)
{
	for (unsigned i = 0; i < RESTART_SLOTS; i++) {
		const struct call_slot *slot = restart_slot(entries, i);

		if (!slot || !intercept_is_in(slot) ||
		    !(__atomic_load_n(&slot->watching, __ATOMIC_RELAXED) & WATCHING_CALL))
			return false;
	}
	return true;
}

bool intercept_hides_restarts(const uint64_t *entries)
{
	for (unsigned i = 0; i < RESTART_SLOTS; i++) {
		const struct call_slot *slot = restart_slot(entries, i);

		if (slot && intercept_is_hidden(slot))
			return true;
	}
	return false;
}

static bool slot_sees_queues(const struct call_slot *slot, const uint64_t *entry)
{
	return !slot->is_prepared || !(watch_features(slot) & FEATURE_PACKETS) ||
	       !__atomic_load_n(entry, __ATOMIC_RELAXED) ||
	       (slot->is_ours && slot->entry == entry && intercept_is_in(slot) &&
		__atomic_load_n(&slot->watching, __ATOMIC_RELAXED) & WATCHING_CALL);
}

bool intercept_sees_queues(const uint64_t *entries)
{
	const struct call_slot *slots = intercept_find(entries, API_HSA_CORE, 0);

	for (unsigned i = 0; slots && i < api_tables[API_HSA_CORE].named; i++)
		if (!slot_sees_queues(&slots[i], &entries[i]))
			return false;
	return slots;
}
