/*
 * Reads records from the rings of perf events.
 */
#include "host/sampling/copy/perf_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/arch/perf_registers.h"

#include "host/core/room.h"

static const struct {
	unsigned perf, dwarf;
} registers[] = { PERF_REGISTERS };

struct common {
	uint32_t pid, tid;
	uint64_t time_ns, id;
	uint32_t cpu, reserved;
};

_Static_assert(sizeof(struct common) == PERF_COMMON_BYTES, "as the kernel writes it");

static void read_common(struct perf_record *record)
{
	size_t at = record->header->type == PERF_RECORD_SAMPLE
			    ? sizeof(*record->header)
			    : record->header->size - sizeof(struct common);
	struct common common;

	memcpy(&common, (const char *)record->header + at, sizeof(common));
	record->pid = (pid_t)common.pid;
	record->tid = (pid_t)common.tid;
	record->time_ns = common.time_ns;
	record->id = common.id;
	record->cpu = common.cpu;
}

/* A record across the end of its ring continues at the ring's beginning. */
static int keep_whole(struct perf_batch *batch, const struct perf_ring *ring, const char *data,
		      uint64_t at, const struct perf_event_header **header)
{
	uint64_t offset = at & (ring->size - 1), size = (*header)->size;
	char *copy;
	int r;

	if (offset + size <= ring->size)
		return 0;
	r = make_room(&batch->copies, batch->copy_count, &batch->copy_room, sizeof(void *));
	copy = r < 0 ? NULL : malloc(size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, data + offset, ring->size - offset);
	memcpy(copy + (ring->size - offset), data, size - (ring->size - offset));
	batch->copies[batch->copy_count++] = copy;
	*header = (const struct perf_event_header *)copy;
	return 0;
}

static int read_ring(struct perf_batch *batch, const struct perf_ring *ring, uint64_t head)
{
	const char *data = (const char *)ring->page + sysconf(_SC_PAGESIZE);
	uint64_t at = ring->page->data_tail;

	while (at < head) {
		/* Records are multiples of 8, so a header never lies across the end. */
		const struct perf_event_header *header =
			(const void *)(data + (at & (ring->size - 1)));
		uint16_t size = header->size;
		int r = make_room(&batch->items, batch->count, &batch->room, sizeof(*batch->items));

		if (size < sizeof(*header) + PERF_COMMON_BYTES || size > head - at)
			return 0;
		if (!r)
			r = keep_whole(batch, ring, data, at, &header);
		if (r < 0)
			return r;
		batch->items[batch->count].header = header;
		read_common(&batch->items[batch->count++]);
		at += size;
	}
	return 0;
}

static int compare_times(const void *left, const void *right)
{
	const struct perf_record *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return 0;
}

int perf_batch_read(struct perf_batch *ret, struct perf_events *events)
{
	int r = 0;

	*ret = (struct perf_batch){ .heads = calloc(events->ring_count, sizeof(uint64_t)) };
	if (!ret->heads)
		return -ENOMEM;
	for (size_t i = 0; !r && i < events->ring_count; i++) {
		const struct perf_ring *ring = &events->rings[i];

		if (!ring->page)
			continue;
		/* Acquire: pairs with the kernel's store of data_head behind the records. */
		ret->heads[i] = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
		r = read_ring(ret, ring, ret->heads[i]);
	}
	if (r < 0)
		perf_batch_done(ret, events);
	else if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_times);
	return r;
}

void perf_batch_done(struct perf_batch *batch, struct perf_events *events)
{
	for (size_t i = 0; batch->heads && i < events->ring_count; i++)
		/* Release: pairs with the kernel's load of data_tail; all before it has been
		 * read. */
		if (events->rings[i].page)
			__atomic_store_n(&events->rings[i].page->data_tail, batch->heads[i],
					 __ATOMIC_RELEASE);
	for (size_t i = 0; i < batch->copy_count; i++)
		free(batch->copies[i]);
	free(batch->copies);
	free(batch->items);
	free(batch->heads);
	*batch = (struct perf_batch){ 0 };
}

struct words {
	const uint64_t *at, *end;
};

uint64_t perf_register_mask(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		mask |= 1ull << registers[i].perf;
	return mask;
}

static bool take_word(struct words *words, uint64_t *ret)
{
	if (words->at >= words->end)
		return false;
	*ret = *words->at++;
	return true;
}

static bool take_words(struct words *words, uint64_t count, const uint64_t **ret)
{
	if (count > (uint64_t)(words->end - words->at))
		return false;
	*ret = words->at;
	words->at += count;
	return true;
}

/* Marks between the parts of a chain are the highest numbers. */
static bool is_mark(uint64_t address)
{
	return address >= (uint64_t)-4095;
}

static bool take_callchain(struct words *words, struct perf_sample *ret)
{
	const uint64_t *chain;
	uint64_t count;

	if (!take_word(words, &count) || !take_words(words, count, &chain))
		return false;
	while (count && is_mark(*chain)) {
		chain++;
		count--;
	}
	ret->kernel = chain;
	while (ret->kernel_count < count && !is_mark(chain[ret->kernel_count]))
		ret->kernel_count++;
	return true;
}

static void set_register(struct walk_registers *to, unsigned dwarf, uint64_t value)
{
	if (dwarf == PERF_REGISTER_PC) {
		to->pc = value;
		return;
	}
	to->all[dwarf] = value;
	to->mask |= 1ull << dwarf;
	if (dwarf == PERF_DWARF_FP)
		to->fp = value;
	else if (dwarf == PERF_DWARF_SP)
		to->sp = value;
#ifdef PERF_DWARF_LR
	else if (dwarf == PERF_DWARF_LR)
		to->lr = value;
#endif
}

static bool take_registers(struct words *words, struct perf_sample *ret)
{
	uint64_t abi;
	const uint64_t *values;

	if (!take_word(words, &abi))
		return false;
	ret->has_user = abi == PERF_SAMPLE_REGS_ABI_64;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	if (!take_words(words, ARRAY_SIZE(registers), &values))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		set_register(&ret->registers, registers[i].dwarf, values[i]);
	return true;
}

static bool take_stack(struct words *words, struct perf_sample *ret)
{
	const uint64_t *bytes;
	uint64_t size;

	if (!take_word(words, &size))
		return false;
	if (!size)
		return true;
	if (!take_words(words, size / sizeof(uint64_t), &bytes) ||
	    !take_word(words, &ret->stack_size))
		return false;
	ret->stack = (const unsigned char *)bytes;
	ret->stack_size = MIN(ret->stack_size, size);
	return true;
}

int perf_sample_read(struct perf_sample *ret, const struct perf_record *record, bool has_callchain)
{
	const char *bytes = (const char *)record->header;
	struct words words = {
		(const uint64_t *)(bytes + sizeof(*record->header) + PERF_COMMON_BYTES),
		(const uint64_t *)(bytes + record->header->size),
	};

	*ret = (struct perf_sample){ 0 };
	if ((has_callchain && !take_callchain(&words, ret)) || !take_registers(&words, ret) ||
	    !take_stack(&words, ret))
		return -EBADMSG;
	return 0;
}
