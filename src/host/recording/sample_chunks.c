/*
 * Payloads about samples, in the order of docs/recording-format.md.
 */
#include "host/recording/sample_chunks.h"

#include "host/core/room.h"
#include "host/recording/chunks.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A sample's small numbers in one: two bits of kind, four of end, the flags above. */
#define END_SHIFT   2
#define FLAGS_SHIFT 6

/* A number that must fit into 32 bits. */
static uint32_t number_small(struct cursor *cursor, uint64_t value)
{
	cursor->has_failed |= value > UINT32_MAX;
	return (uint32_t)value;
}

static int sample_chunks_answer(const struct cursor *cursor)
{
	return cursor->has_failed ? -EPROTO : 0;
}

void sampling_put(struct bytes *bytes, const struct recorded_sampling *sampling)
{
	bytes_text(bytes, sampling->sampler);
	bytes_text(bytes, sampling->reasons);
	bytes_u32(bytes, sampling->hz);
	bytes_u32(bytes, sampling->flags);
	bytes_u64(bytes, sampling->samples);
	bytes_u64(bytes, sampling->lost);
	bytes_u32(bytes, STACK_ENDS);
	for (unsigned i = 0; i < STACK_ENDS; i++)
		bytes_u64(bytes, sampling->ends[i]);
}

int sampling_take(struct cursor cursor, struct recorded_sampling *ret)
{
	uint32_t ends;

	memset(ret, 0, sizeof(*ret));
	ret->sampler = cursor_text(&cursor);
	ret->reasons = cursor_text(&cursor);
	ret->hz = cursor_u32(&cursor);
	ret->flags = cursor_u32(&cursor);
	ret->samples = cursor_u64(&cursor);
	ret->lost = cursor_u64(&cursor);
	ends = cursor_u32(&cursor);
	for (uint32_t i = 0; i < ends && !cursor.has_failed; i++) {
		uint64_t count = cursor_u64(&cursor);

		if (i < STACK_ENDS)
			ret->ends[i] = count;
	}
	return sample_chunks_answer(&cursor);
}

void gil_put(struct bytes *bytes, const struct recorded_gil *gil)
{
	bytes_u32(bytes, gil->thread);
	bytes_u64(bytes, gil->looks);
	bytes_u64(bytes, gil->held);
	bytes_u64(bytes, gil->waited);
}

void gil_set_count(struct bytes *bytes, uint32_t count)
{
	if (!bytes->has_failed && bytes->size >= sizeof(count))
		memcpy(bytes->data, &count, sizeof(count));
}

int gil_take(struct cursor *cursor, struct recorded_gil *ret)
{
	ret->thread = cursor_u32(cursor);
	ret->looks = cursor_u64(cursor);
	ret->held = cursor_u64(cursor);
	ret->waited = cursor_u64(cursor);
	return sample_chunks_answer(cursor);
}

int numbered_take(struct cursor *cursor, struct numbered_head *ret)
{
	ret->first = cursor_u32(cursor);
	ret->count = cursor_u32(cursor);
	return sample_chunks_answer(cursor);
}

void numbered_set(struct bytes *bytes, const struct numbered_head *head)
{
	if (!bytes->has_failed && bytes->size >= sizeof(*head))
		memcpy(bytes->data, head, sizeof(*head));
}

void code_put(struct bytes *bytes, const struct recorded_code *code)
{
	bytes_u32(bytes, code->kind);
	bytes_u32(bytes, code->process);
	bytes_u32(bytes, code->build_id_size);
	bytes_put(bytes, code->build_id, code->build_id_size);
	bytes_text(bytes, code->path);
}

int code_take(struct cursor *cursor, struct recorded_code *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->kind = cursor_u32(cursor);
	ret->process = cursor_u32(cursor);
	if (build_id_take(cursor, ret->build_id, &ret->build_id_size))
		return -EPROTO;
	ret->path = cursor_text(cursor);
	return sample_chunks_answer(cursor);
}

void frame_put(struct bytes *bytes, struct sample_packer *packer,
	       const struct recorded_frame *frame)
{
	bytes_varint(bytes, (uint64_t)frame->code << 1 | frame->is_return);
	bytes_difference(bytes, frame->address, &packer->address);
}

int frame_take(struct cursor *cursor, struct sample_packer *packer, struct recorded_frame *ret)
{
	uint64_t code = cursor_varint(cursor);

	ret->code = number_small(cursor, code >> 1);
	ret->is_return = code & 1;
	ret->address = cursor_difference(cursor, &packer->address);
	return sample_chunks_answer(cursor);
}

void stack_put(struct bytes *bytes, struct sample_packer *packer, uint32_t number,
	       const struct recorded_stack *stack)
{
	bytes_varint(bytes, stack->caller == STACK_NONE ? 0 : number - stack->caller);
	bytes_difference(bytes, stack->frame, &packer->frame);
}

int stack_take(struct cursor *cursor, struct sample_packer *packer, uint32_t number,
	       struct recorded_stack *ret)
{
	uint64_t back = cursor_varint(cursor);

	ret->caller = back ? number - (uint32_t)back : STACK_NONE;
	ret->frame = number_small(cursor, cursor_difference(cursor, &packer->frame));
	return back > number ? -EPROTO : sample_chunks_answer(cursor);
}

void sample_put(struct bytes *bytes, struct sample_packer *packer,
		const struct recorded_sample *sample)
{
	bytes_varint(bytes, (uint64_t)sample->kind | (uint64_t)sample->end << END_SHIFT |
				    (uint64_t)sample->flags << FLAGS_SHIFT);
	bytes_varint(bytes, sample->thread);
	bytes_difference(bytes, sample->time_ns, &packer->time_ns);
	bytes_difference(bytes, sample->weight_ns, &packer->weight_ns[sample->kind]);
	bytes_varint(bytes, sample->cpu);
	bytes_difference(bytes, sample->stack == STACK_NONE ? 0 : (uint64_t)sample->stack + 1,
			 &packer->stack);
	if (sample->kind != SAMPLE_RUNNING)
		bytes_put(bytes, &sample->state, 1);
}

typedef uint64_t varint_taker(struct cursor *cursor);

static inline uint64_t varint_checked(struct cursor *cursor)
{
	return cursor_varint(cursor);
}

/* With room for the longest one, no bounds check is needed at each byte. */
static inline uint64_t varint_near(struct cursor *cursor)
{
	uint64_t byte = *cursor->at++, value = byte & 0x7f;

	for (unsigned shift = 7; byte >= 0x80; shift += 7) {
		if (shift >= 64) {
			cursor->has_failed = true;
			return 0;
		}
		byte = *cursor->at++;
		value |= (byte & 0x7f) << shift;
	}
	return value;
}

/* Inlined twice, once for each reader of numbers. */
static inline __attribute__((always_inline)) int sample_take_by(varint_taker *take,
								struct cursor *cursor,
								struct sample_packer *packer,
								struct recorded_sample *ret)
{
	uint64_t what = take(cursor), stack, thread, cpu;

	ret->kind = what & 3;
	ret->end = what >> END_SHIFT & 15;
	ret->flags = (uint8_t)(what >> FLAGS_SHIFT);
	/* An end newer than this limpet is unknown. */
	if (ret->end >= STACK_ENDS)
		ret->end = STACK_NO_RULE;
	thread = take(cursor);
	ret->time_ns = packer->time_ns += unzigzag(take(cursor));
	ret->weight_ns = packer->weight_ns[ret->kind] += unzigzag(take(cursor));
	cpu = take(cursor);
	stack = packer->stack += unzigzag(take(cursor));
	ret->thread = (uint32_t)thread;
	ret->cpu = (uint32_t)cpu;
	ret->stack = stack ? (uint32_t)(stack - 1) : STACK_NONE;
	ret->state = ret->kind == SAMPLE_RUNNING ? 'R' : cursor_u8(cursor);
	cursor->has_failed |= what >> FLAGS_SHIFT > UINT8_MAX ||
			      (thread | cpu | (stack ? stack - 1 : 0)) > UINT32_MAX;
	return sample_chunks_answer(cursor);
}

int sample_take(struct cursor *cursor, struct sample_packer *packer, struct recorded_sample *ret)
{
	return sample_take_by(varint_checked, cursor, packer, ret);
}

static int samples_take(struct cursor cursor, struct recorded_sample *items, size_t count)
{
	struct sample_packer packer = { 0 };
	size_t i = 0;
	int r = 0;

	while (!r && i < count && cursor.end - cursor.at >= (ptrdiff_t)SAMPLE_BYTES_MOST)
		r = sample_take_by(varint_near, &cursor, &packer, &items[i++]);
	while (!r && i < count)
		r = sample_take(&cursor, &packer, &items[i++]);
	return r;
}

int samples_decode(struct cursor payload, struct decoded_samples *ret)
{
	struct numbered_head head;

	ret->count = 0;
	if (numbered_take(&payload, &head) ||
	    head.count > (size_t)(payload.end - payload.at) / SAMPLE_BYTES_LEAST)
		return ret->result = -EPROTO;
	while (ret->room < head.count)
		if (make_room(&ret->items, ret->room, &ret->room, sizeof(*ret->items)))
			return ret->result = -ENOMEM;
	ret->count = head.count;
	return ret->result = samples_take(payload, ret->items, ret->count);
}

void decoded_samples_done(struct decoded_samples *samples)
{
	free(samples->items);
	*samples = (struct decoded_samples){ 0 };
}

void names_put(struct bytes *bytes, uint32_t frame, const struct recorded_name *names,
	       uint32_t count)
{
	bytes_varint(bytes, frame);
	bytes_varint(bytes, count);
	for (uint32_t i = 0; i < count; i++) {
		bytes_text(bytes, names[i].function);
		bytes_text(bytes, names[i].file);
		bytes_varint(bytes, names[i].line);
	}
}

int names_take(struct cursor *cursor, uint32_t *ret_frame,
	       struct recorded_name ret[FRAME_NAMES_MAX], uint32_t *ret_count)
{
	uint64_t count;

	*ret_frame = number_small(cursor, cursor_varint(cursor));
	count = cursor_varint(cursor);
	if (!count || count > FRAME_NAMES_MAX)
		return -EPROTO;
	for (uint64_t i = 0; i < count && !cursor->has_failed; i++) {
		ret[i].function = cursor_text(cursor);
		ret[i].file = cursor_text(cursor);
		ret[i].line = number_small(cursor, cursor_varint(cursor));
	}
	*ret_count = (uint32_t)count;
	return sample_chunks_answer(cursor);
}
