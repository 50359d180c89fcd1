/*
 * A table by context and thread, which only grows; each entry has a stack of values. Any thread may
 * push; every traced call reads without waiting.
 */
#include "target/amd/sinks/sdk/base/external.h"

#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/runtime/page.h"

#include <sys/mman.h>

#define ENTRIES_MAX 4096u
#define PROBES_MAX  64u
#define VALUES_MAX  31u
#define SPINS_MAX   100000u

struct external {
	uint64_t key; /* tid, context + 1; 0: free */
	uint64_t current;
	uint32_t depth;
	uint32_t is_changing;
	uint64_t values[VALUES_MAX];
};

struct external *external_entries;

static uint64_t key_of(unsigned context, int32_t thread)
{
	return (uint64_t)(uint32_t)thread << 32 | (context + 1);
}

static struct external *entry_at(uint64_t key, unsigned probe)
{
	return &external_entries[((key * 0x9e3779b97f4a7c15u >> 40) + probe) % ENTRIES_MAX];
}

static struct external *entry_find(uint64_t key)
{
	for (unsigned i = 0; external_entries && i < PROBES_MAX; i++) {
		uint64_t there = __atomic_load_n(&entry_at(key, i)->key, __ATOMIC_ACQUIRE);

		if (there == key)
			return entry_at(key, i);
		if (!there)
			return NULL;
	}
	return NULL;
}

static struct external *entry_make(uint64_t key)
{
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		struct external *entry = entry_at(key, i);
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(&entry->key, &none, key, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE) ||
		    none == key)
			return entry;
	}
	return NULL;
}

/* If two threads map the table at once, one mapping is unmapped again. */
static bool entries_open(void)
{
	struct external *nothing = NULL;
	size_t bytes = ENTRIES_MAX * sizeof(*external_entries);
	long r;

	if (__atomic_load_n(&external_entries, __ATOMIC_ACQUIRE))
		return true;
	r = raw6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r < 0 && r > -4096)
		return false;
	if (!__atomic_compare_exchange_n(&external_entries, &nothing, (struct external *)r, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		raw2(SYS_munmap, r, bytes);
	return true;
}

void external_close(void)
{
	struct external *memory = external_entries;

	__atomic_store_n(&external_entries, NULL, __ATOMIC_RELEASE);
	if (memory)
		raw2(SYS_munmap, memory, ENTRIES_MAX * sizeof(*memory));
}

/* Held for a few stores only; gives up, as a forked child may have no thread to unlock. */
static void entry_lock(struct external *entry)
{
	for (unsigned i = 0; i < SPINS_MAX; i++)
		if (!__atomic_exchange_n(&entry->is_changing, 1, __ATOMIC_ACQUIRE))
			return;
}

static void entry_unlock(struct external *entry)
{
	__atomic_store_n(&entry->is_changing, 0, __ATOMIC_RELEASE);
}

static void entry_publish(struct external *entry)
{
	uint32_t depth = MIN(entry->depth, VALUES_MAX);

	__atomic_store_n(&entry->current, depth ? entry->values[depth - 1] : 0, __ATOMIC_RELAXED);
}

static uint64_t current_of(unsigned context, int32_t thread, bool *ret)
{
	const struct external *entry = entry_find(key_of(context, thread));

	*ret = entry && __atomic_load_n(&entry->depth, __ATOMIC_RELAXED);
	return *ret ? __atomic_load_n(&entry->current, __ATOMIC_RELAXED) : 0;
}

uint64_t external_look_up(unsigned context, int32_t thread)
{
	bool is_known = false;
	uint64_t value = current_of(context, thread, &is_known);

	return is_known ? value : current_of(context, agent_page.pid, &is_known);
}

void external_forget(unsigned context)
{
	for (unsigned i = 0; external_entries && i < ENTRIES_MAX; i++)
		if ((uint32_t)external_entries[i].key == context + 1)
			__atomic_store_n(&external_entries[i].depth, 0, __ATOMIC_RELAXED);
}

void external_adopt(void)
{
	for (unsigned i = 0; external_entries && i < ENTRIES_MAX; i++)
		external_entries[i].is_changing = 0;
}

SDK_EXPORT int rocprofiler_push_external_correlation_id(struct limpet_context context,
							uint64_t thread, uint64_t value);
SDK_EXPORT int rocprofiler_pop_external_correlation_id(struct limpet_context context,
						       uint64_t thread, uint64_t *ret);

int rocprofiler_push_external_correlation_id(struct limpet_context context, uint64_t thread,
					     uint64_t value)
{
	struct external *entry;

	if (!context_find(context))
		return SDK_CONTEXT_NOT_FOUND;
	entry = entries_open() ? entry_make(key_of(context_index(context), (int32_t)thread)) : NULL;
	if (!entry)
		return SDK_OUT_OF_RESOURCES;
	entry_lock(entry);
	if (entry->depth < VALUES_MAX)
		entry->values[entry->depth] = value;
	entry->depth++;
	entry_publish(entry);
	entry_unlock(entry);
	return SDK_SUCCESS;
}

int rocprofiler_pop_external_correlation_id(struct limpet_context context, uint64_t thread,
					    uint64_t *ret)
{
	struct external *entry;
	uint64_t value = 0;

	if (!context_find(context))
		return SDK_CONTEXT_NOT_FOUND;
	entry = entry_find(key_of(context_index(context), (int32_t)thread));
	if (entry) {
		entry_lock(entry);
		if (entry->depth && entry->depth <= VALUES_MAX)
			value = entry->values[entry->depth - 1];
		entry->depth -= entry->depth > 0;
		entry_publish(entry);
		entry_unlock(entry);
	}
	if (ret)
		*ret = value;
	return SDK_SUCCESS;
}
