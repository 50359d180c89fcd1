/*
 * Follows amounts.
 */
#include "host/export/trace/gauges.h"
#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int gauges_find(struct gauges *gauges, enum gauge_kind kind, const struct call *call,
		       uint64_t device, uint32_t *ret, uint32_t *ret_new)
{
	bool is_new;
	struct table_entry *entry = table_make(
		&gauges->by_owner, (uint64_t)call->process->number << 8 | kind, device, &is_new);

	if (!entry)
		return -ENOMEM;
	if (is_new) {
		if (make_room(&gauges->items, gauges->count, &gauges->room, sizeof(*gauges->items)))
			return -ENOMEM;
		gauges->items[gauges->count] =
			(struct gauge){ .kind = kind, .process = call->process, .device = device };
		*ret_new = (uint32_t)gauges->count++;
		entry->value = gauges->count;
	}
	*ret = (uint32_t)entry->value - 1;
	return 0;
}

static void gauges_swap(struct gauge_change *a, struct gauge_change *b)
{
	struct gauge_change kept = *a;

	*a = *b;
	*b = kept;
}

static void remove_top(struct gauge *gauge)
{
	struct gauge_change *heap = gauge->coming;
	size_t at = 0, child;

	heap[0] = heap[--gauge->count];
	while ((child = 2 * at + 1) < gauge->count) {
		child += child + 1 < gauge->count && heap[child + 1].time_ns < heap[child].time_ns;
		if (heap[at].time_ns <= heap[child].time_ns)
			break;
		gauges_swap(&heap[at], &heap[child]);
		at = child;
	}
}

static int gauges_expect(struct gauge *gauge, uint64_t time_ns, int64_t by)
{
	size_t at = gauge->count;

	if (make_room(&gauge->coming, gauge->count, &gauge->room, sizeof(*gauge->coming)))
		return -ENOMEM;
	gauge->coming[gauge->count++] = (struct gauge_change){ time_ns, by };
	for (; at && gauge->coming[at].time_ns < gauge->coming[(at - 1) / 2].time_ns;
	     at = (at - 1) / 2)
		gauges_swap(&gauge->coming[at], &gauge->coming[(at - 1) / 2]);
	return 0;
}

/* Reports the changes until then. */
static int gauges_settle(struct gauges *gauges, uint32_t number, uint64_t time_ns)
{
	struct gauge *gauge = &gauges->items[number];
	int r = 0;

	while (!r && gauge->count && gauge->coming[0].time_ns <= time_ns) {
		uint64_t when_ns = gauge->coming[0].time_ns;

		gauge->value += gauge->coming[0].by;
		remove_top(gauge);
		r = gauges->tell(gauges->context, number, when_ns, gauge->value);
	}
	return r;
}

static int take_copy(struct gauges *gauges, const struct call *call, uint32_t *ret_new)
{
	int64_t size = (int64_t)call_number(call, VALUE_SIZE);
	uint32_t number;
	int r = gauges_find(gauges, GAUGE_COPY, call, call_number(call, VALUE_DEVICE), &number,
			    ret_new);

	if (!r)
		r = gauges_settle(gauges, number, call->begin_ns);
	if (!r)
		r = gauges_expect(&gauges->items[number], call->begin_ns, size);
	return r ? r : gauges_expect(&gauges->items[number], call->end_ns, -size);
}

static int take_allocation(struct gauges *gauges, const struct call *call, enum gauge_kind kind,
			   uint32_t *ret_new)
{
	uint64_t size = call_number(call, VALUE_SIZE);
	uint32_t number;
	bool is_new;
	struct table_entry *block;
	int r = gauges_find(gauges, kind, call, call_number(call, VALUE_DEVICE), &number, ret_new);

	if (!r)
		r = gauges_settle(gauges, number, call->begin_ns);
	block = r ? NULL
		  : table_make(&gauges->blocks, call_number(call, VALUE_ADDRESS),
			       (uint64_t)call->process->number << 8 | kind, &is_new);
	if (r || !block)
		return r ? r : -ENOMEM;
	block->value = size;
	block->more = number + 1;
	return gauges_expect(&gauges->items[number], call->end_ns, (int64_t)size);
}

/* Blocks from before the recording were never counted. */
static int take_release(struct gauges *gauges, const struct call *call, enum gauge_kind kind)
{
	struct table_entry *block = table_find(&gauges->blocks, call_number(call, VALUE_ADDRESS),
					       (uint64_t)call->process->number << 8 | kind);
	uint32_t number;
	int64_t size;
	int r;

	if (!block)
		return 0;
	number = (uint32_t)block->more - 1;
	size = (int64_t)block->value;
	table_remove(&gauges->blocks, block);
	r = gauges_settle(gauges, number, call->begin_ns);
	return r ? r : gauges_expect(&gauges->items[number], call->begin_ns, -size);
}

int gauges_take(struct gauges *gauges, const struct call *call, uint32_t *ret_new)
{
	uint64_t operation = call_number(call, VALUE_OPERATION);
	enum gauge_kind kind =
		call->function->domain == DOMAIN_SCRATCH ? GAUGE_SCRATCH : GAUGE_MEMORY;

	*ret_new = UINT32_MAX;
	if (call->function->domain == DOMAIN_COPY)
		return take_copy(gauges, call, ret_new);
	if (call->function->domain != DOMAIN_MEMORY && call->function->domain != DOMAIN_SCRATCH)
		return 0;
	if (operation == MEMORY_ALLOCATE || operation == MEMORY_VIRTUAL_ALLOCATE)
		return take_allocation(gauges, call, kind, ret_new);
	return operation == MEMORY_REALLOCATE ? 0 : take_release(gauges, call, kind);
}

int gauges_finish(struct gauges *gauges)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < gauges->count; i++)
		r = gauges_settle(gauges, i, UINT64_MAX);
	return r;
}

void gauges_done(struct gauges *gauges)
{
	for (uint32_t i = 0; i < gauges->count; i++)
		free(gauges->items[i].coming);
	free(gauges->items);
	table_done(&gauges->by_owner);
	table_done(&gauges->blocks);
	*gauges = (struct gauges){ 0 };
}
