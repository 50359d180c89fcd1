/*
 * Packs and unpacks frames, stacks, samples, windows and names, in the order of
 * docs/recording-format.md.
 */
#include "host/recording/pack_samples.h"

#include "host/core/room.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sample's small numbers in one: two bits of kind, four of end, the flags above. */
#define END_SHIFT   2
#define FLAGS_SHIFT 6
/* The flags of a window, below the number of its metric. */
#define WINDOW_FLAG_BITS 2u

/* A number that must fit into 32 bits. */
static uint32_t number_small(struct cursor *cursor, uint64_t value)
{
	cursor->has_failed |= value > UINT32_MAX;
	return (uint32_t)value;
}

static int unpack_result(const struct cursor *cursor)
{
	return cursor->has_failed ? -EPROTO : 0;
}

void frame_pack(struct bytes *bytes, struct sample_packer *packer,
		const struct recorded_frame *frame)
{
	bytes_varint(bytes, (uint64_t)frame->code << 1 | frame->is_return);
	bytes_difference(bytes, frame->address, &packer->address);
}

int frame_unpack(struct cursor *cursor, struct sample_packer *packer, struct recorded_frame *ret)
{
	uint64_t code = cursor_varint(cursor);

	ret->code = number_small(cursor, code >> 1);
	ret->is_return = code & 1;
	ret->address = cursor_difference(cursor, &packer->address);
	return unpack_result(cursor);
}

void stack_pack(struct bytes *bytes, struct sample_packer *packer, uint32_t number,
		const struct recorded_stack *stack)
{
	bytes_varint(bytes, stack->caller == STACK_NONE ? 0 : number - stack->caller);
	bytes_difference(bytes, stack->frame, &packer->frame);
}

int stack_unpack(struct cursor *cursor, struct sample_packer *packer, uint32_t number,
		 struct recorded_stack *ret)
{
	uint64_t back = cursor_varint(cursor);

	ret->caller = back ? number - (uint32_t)back : STACK_NONE;
	ret->frame = number_small(cursor, cursor_difference(cursor, &packer->frame));
	return back > number ? -EPROTO : unpack_result(cursor);
}

void sample_pack(struct bytes *bytes, struct sample_packer *packer,
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
static inline __attribute__((always_inline)) int sample_unpack_by(varint_taker *take,
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
	return unpack_result(cursor);
}

int sample_unpack(struct cursor *cursor, struct sample_packer *packer, struct recorded_sample *ret)
{
	return sample_unpack_by(varint_checked, cursor, packer, ret);
}

static int samples_unpack(struct cursor cursor, struct recorded_sample *items, size_t count)
{
	struct sample_packer packer = { 0 };
	size_t i = 0;
	int r = 0;

	while (!r && i < count && cursor.end - cursor.at >= (ptrdiff_t)SAMPLE_BYTES_MOST)
		r = sample_unpack_by(varint_near, &cursor, &packer, &items[i++]);
	while (!r && i < count)
		r = sample_unpack(&cursor, &packer, &items[i++]);
	return r;
}

int samples_decode(struct cursor payload, struct decoded_samples *ret)
{
	struct numbered_head head;

	ret->count = 0;
	if (numbered_read(&payload, &head) ||
	    head.count > (size_t)(payload.end - payload.at) / SAMPLE_BYTES_LEAST)
		return ret->result = -EPROTO;
	while (ret->room < head.count)
		if (make_room(&ret->items, ret->room, &ret->room, sizeof(*ret->items)))
			return ret->result = -ENOMEM;
	ret->count = head.count;
	return ret->result = samples_unpack(payload, ret->items, ret->count);
}

void decoded_samples_done(struct decoded_samples *samples)
{
	free(samples->items);
	*samples = (struct decoded_samples){ 0 };
}

void names_pack(struct bytes *bytes, uint32_t frame, const struct recorded_name *names,
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

int names_unpack(struct cursor *cursor, uint32_t *ret_frame,
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
	return unpack_result(cursor);
}

static uint64_t double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

void window_pack(struct bytes *bytes, struct window_packer *packer,
		 const struct recorded_window *window)
{
	bytes_varint(bytes,
		     (uint64_t)window->metric << WINDOW_FLAG_BITS | (window->flags & WINDOW_FLAGS));
	bytes_difference(bytes, window->begin_ns, &packer->begin_ns);
	bytes_difference(bytes, window->end_ns - window->begin_ns, &packer->length_ns);
	if (!(window->flags & WINDOW_MISSING))
		bytes_u64(bytes, double_bits(window->value));
}

int window_unpack(struct cursor *cursor, struct window_packer *packer, struct recorded_window *ret)
{
	uint64_t head = cursor_varint(cursor);
	uint64_t length_ns;

	ret->metric = (uint32_t)(head >> WINDOW_FLAG_BITS);
	ret->flags = head & WINDOW_FLAGS;
	ret->begin_ns = cursor_difference(cursor, &packer->begin_ns);
	length_ns = cursor_difference(cursor, &packer->length_ns);
	ret->end_ns = ret->begin_ns + length_ns;
	ret->value = ret->flags & WINDOW_MISSING ? 0 : double_of(cursor_u64(cursor));
	return cursor->has_failed || head >> WINDOW_FLAG_BITS > UINT32_MAX ||
			       length_ns > UINT64_MAX - ret->begin_ns || !isfinite(ret->value)
		       ? -EPROTO
		       : 0;
}
