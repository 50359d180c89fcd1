/*
 * Slots are updated on any thread, one at a time; installing asks under the tables' lock.
 */
#include "target/amd/policy.h"

#include "target/amd/counters/owner.h"
#include "target/amd/hsa/memory.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/kinds.h"
#include "target/amd/sinks/sdk/calls/streams.h"
#include "target/amd/sinks/sdk/counters/dispatch/runtime.h"
#include "target/amd/tables/intercept.h"
#include "target/amd/tables/read.h"
#include "target/amd/tables/watch.h"
#include "target/runtime/hsa_gate.h"
#include "target/runtime/text.h"

/* Kernels and copies of programs that use HSA without HIP. */
#define PACKET_FEATURES (FEATURE_CODE | FEATURE_PACKETS | FEATURE_SIGNALS | FEATURE_COPIES)

static uint32_t attached_tools; /* bits */
static struct policy_ring ring;
static uint32_t ring_session;              /* counts sessions of the ring; 0: none yet */
static uint32_t announced[CALL_SLOTS];     /* the session in which the ring accepted the slot */
static unsigned all_features, id_features; /* of a round of updates */
static uint64_t active;                    /* contexts, likewise */

static bool has_hip; /* in this round */

bool policy_has_hip(void)
{
	const struct agent_table *tables;
	uint32_t count = tables_known(&tables);

	while (count && !text_equal(tables[count - 1].name, "hip"))
		count--;
	return count > 0;
}

static bool ring_wants(enum trace_domain domain)
{
	return __atomic_load_n(&ring.domains, __ATOMIC_RELAXED) >> domain & 1;
}

/* HIP's reports contain more, and HIP programs also use HSA: kernels and copies are traced by HSA
 * only where there is no HIP. */
static unsigned ring_features(void)
{
	bool wants_work = ring_wants(DOMAIN_KERNEL) || ring_wants(DOMAIN_COPY);
	bool counts = ring_wants(DOMAIN_COUNTER);
	unsigned features = 0;

	if (wants_work || counts || ring_wants(DOMAIN_MEMORY) || ring_wants(DOMAIN_WINDOW))
		features |= FEATURE_RESTARTS;
	if (wants_work)
		features |= FEATURE_HIP;
	if (counts || (wants_work && !has_hip))
		features |= PACKET_FEATURES;
	if (ring_wants(DOMAIN_MEMORY))
		features |= FEATURE_MEMORY;
	return features;
}

static bool context_uses(const struct sdk_context *context, int callback_kind, int buffer_kind)
{
	return context->callbacks[callback_kind].callback ||
	       context->buffers[buffer_kind].buffer.handle;
}

/* What calls of the context have correlation ids for. */
static unsigned context_id_features(const struct sdk_context *context)
{
	unsigned features = FEATURE_RESTARTS;

	if (context_uses(context, CALLBACK_CODE_OBJECT, BUFFER_KERNEL))
		features |= FEATURE_CODE;
	if (context->counts_kernels)
		features |= FEATURE_CODE | FEATURE_PACKETS;
	if (context_uses(context, CALLBACK_MEMORY, BUFFER_MEMORY))
		features |= FEATURE_MEMORY;
	if (context_uses(context, CALLBACK_KERNEL, BUFFER_KERNEL) ||
	    context_uses(context, CALLBACK_COPY, BUFFER_COPY))
		features |= FEATURE_LAUNCHES;
	if (context_uses(context, CALLBACK_MARKER_RANGE, BUFFER_MARKER_RANGE))
		features |= FEATURE_RANGES;
	return features;
}

static unsigned context_features(const struct sdk_context *context)
{
	unsigned features = context_id_features(context);

	return !has_hip && features & FEATURE_LAUNCHES ? features | PACKET_FEATURES : features;
}

/* While the agent has queues, or limpet's packets are in application queues. */
static unsigned held_features(void)
{
	return (owner_is_tool() ? FEATURE_RESTARTS : 0u) |
	       (dispatch_runtime_is_watched() ? FEATURE_PACKETS : 0u);
}

static bool wants_buffer(const struct sdk_context *context, int kind, unsigned operation)
{
	return kind && buffer_wants(&context->buffers[kind], operation);
}

static bool context_wants(const struct sdk_context *context, const struct call_slot *slot)
{
	const struct tool_table *table = &tool_tables[slot->table];

	return watch_features(slot) & context_features(context) ||
	       (slot->stream_use && context->callbacks[CALLBACK_STREAM].callback) ||
	       callback_wants(&context->callbacks[table->callback_kind], slot->operation) ||
	       wants_buffer(context, table->buffer_kind, slot->operation) ||
	       wants_buffer(context, table->extended_kind, slot->operation);
}

/* The contexts of attached tools, also of those that are not started yet. */
static bool context_is_attached(const struct sdk_context *context)
{
	return context_state(context) >= CONTEXT_STOPPED && attached_tools >> context->tool & 1;
}

static bool slot_is_wanted(const struct call_slot *slot)
{
	if (ring_wants(call_table(slot)->domain) ||
	    watch_features(slot) & (ring_features() | held_features()))
		return true;
	if (!slot->is_first || slot->is_unknown)
		return false;
	for (unsigned i = 0; i < contexts_used; i++)
		if (context_is_attached(&sdk_contexts[i]) && context_wants(&sdk_contexts[i], slot))
			return true;
	return false;
}

/* A tool may stop its contexts while the runtime is shut down. Its stubs stay, and go on watching
 * for the next hsa_init(): one missed, of a runtime that does not register again, would leave its
 * life over for good. */
static unsigned ended_features(void)
{
	return attached_tools && hsa_life_is_over() ? FEATURE_RESTARTS : 0u;
}

/* Slots are updated meanwhile by other threads, which begin again then. */
static void round_begin(void)
{
	unsigned features = 0, ids = 0;
	uint64_t contexts = 0, retirements = 0;
	const struct sdk_context *context;
	unsigned next = 0;

	has_hip = policy_has_hip();
	while ((context = context_next(&next))) {
		uint64_t bit = 1ull << context_number(context);

		contexts |= bit;
		features |= context_features(context);
		ids |= context_id_features(context);
		if (context->buffers[BUFFER_RETIREMENT].buffer.handle)
			retirements |= bit;
	}
	active = contexts;
	id_features = ids;
	all_features = features | ring_features() | held_features() | ended_features();
	__atomic_store_n(&tools_retirements, retirements, __ATOMIC_RELAXED);
}

static void slot_update(struct call_slot *slot)
{
	const struct tool_table *table = &tool_tables[slot->table];
	uint64_t callbacks = 0, records = 0, extended = 0,
		 contexts = slot->is_first && !slot->is_unknown ? active : 0;
	unsigned features = watch_features(slot);
	uint8_t watching = (features & all_features ? WATCHING_CALL : 0u) |
			   (features & id_features && contexts ? WATCHING_TOOLS : 0u);
	bool is_recorded = announced[slot - call_slots] == ring_session &&
			   ring_wants(call_table(slot)->domain);

	for (; contexts; contexts &= contexts - 1) {
		unsigned i = (unsigned)__builtin_ctzll(contexts);
		const struct sdk_context *context = &sdk_contexts[i];
		uint64_t bit = 1ull << i;

		if (slot->stream_use && context->callbacks[CALLBACK_STREAM].callback)
			watching |= WATCHING_STREAM | WATCHING_TOOLS;
		callbacks |=
			callback_wants(&context->callbacks[table->callback_kind], slot->operation) *
			bit;
		records |= wants_buffer(context, table->buffer_kind, slot->operation) * bit;
		extended |= wants_buffer(context, table->extended_kind, slot->operation) * bit;
	}
	__atomic_store_n(&slot->watching, watching, __ATOMIC_RELAXED);
	/* Release: pairs with tools_collect(); publishes each context's services. */
	__atomic_store_n(&slot->callbacks, callbacks, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->buffers, records, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->extended, extended, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->is_recorded, is_recorded, __ATOMIC_RELEASE);
	/* Release: stored last; a call that still sees old words above is not shown. */
	__atomic_store_n(&slot->is_on,
			 watching || is_recorded || (callbacks | records | extended) != 0,
			 __ATOMIC_RELEASE);
}

static void slot_prepare(struct call_slot *slot)
{
	const struct api_table *table = call_table(slot);

	slot->stream_use = STREAM_NONE;
	if (!slot->is_unknown)
		stream_find(&table->signatures[slot->operation], table, slot);
}

static bool scratch_is_wanted(void)
{
	if (ring_wants(DOMAIN_SCRATCH))
		return true;
	for (unsigned i = 0; i < contexts_used; i++)
		if (context_is_attached(&sdk_contexts[i]) &&
		    sdk_contexts[i].buffers[BUFFER_SCRATCH].buffer.handle)
			return true;
	return false;
}

static void tools_table_change(uint64_t *entries, unsigned count)
{
	scratch_change(entries, count, scratch_is_wanted());
}

static const struct intercept_policy policy = {
	.prepare = slot_prepare,
	.wants = slot_is_wanted,
	.begin = round_begin,
	.update = slot_update,
	.change_tools_table = tools_table_change,
};

void policy_start(void)
{
	intercept_use(&policy);
}

void policy_use_tools(uint32_t tools)
{
	__atomic_store_n(&attached_tools, tools, __ATOMIC_RELEASE);
}

void policy_use_ring(const struct policy_ring *used)
{
	ring.announce = used->announce;
	if (used->domains)
		ring_session++;
	__atomic_store_n(&ring.domains, used->domains, __ATOMIC_RELEASE);
}

struct announcing {
	struct intercept_counts *counts;
	uint32_t hooked;
};

/* A stub that is in for tools counts once; one that was put again counts again. */
static void slot_announce(struct call_slot *slot, void *data)
{
	struct announcing *announcing = data;
	uint32_t *session = &announced[slot - call_slots];
	bool was_put = slot->was_put;

	slot->was_put = false;
	if (!slot->leads_here || !slot_is_wanted(slot) || (*session == ring_session && !was_put))
		return;
	if (*session != ring_session && ring_wants(call_table(slot)->domain) &&
	    !ring.announce(slot)) {
		announcing->counts->refused++;
		return;
	}
	*session = ring_session;
	announcing->hooked++;
}

uint32_t policy_announce(struct intercept_counts *counts)
{
	struct announcing announcing = { counts, 0 };

	intercept_each(slot_announce, &announcing);
	if (announcing.hooked)
		intercept_update();
	return announcing.hooked;
}
