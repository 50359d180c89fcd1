/*
 * The message of fleet top as bytes.  Runs at both ends; input is foreign.
 */
#include "host/fleet/top/top_message.h"

#include "host/fleet/message.h"

void top_message_put(struct bytes *message, const struct top_message *top)
{
	message->size = 0;
	bytes_u32(message, MESSAGE_TOP);
	bytes_u64(message, top->window_ns);
	bytes_u64(message, top->own_ns);
	bytes_u64(message, top->own_for_ns);
	bytes_u64(message, top->samples);
	bytes_u64(message, top->lost);
	bytes_u64(message, top->other_ns);
	bytes_u32(message, top->hz);
	bytes_text(message, top->sampler);
	bytes_u32(message, top->rank_count);
	bytes_u32(message, top->function_count);
}

void top_message_put_rank(struct bytes *message, const struct top_rank *rank)
{
	bytes_varint(message, rank->pid);
	bytes_varint(message, rank->running_ns);
	bytes_varint(message, rank->samples);
	bytes_text(message, rank->function);
}

void top_message_put_function(struct bytes *message, const struct top_function *function)
{
	bytes_text(message, function->name);
	bytes_text(message, function->module);
	bytes_varint(message, function->sum_ns);
	bytes_varint(message, function->total_ns);
	bytes_varint(message, function->count);
	bytes_varint(message, function->ranks);
	bytes_varint(message, function->most_ns);
	bytes_varint(message, function->least_ns);
	bytes_varint(message, function->most_pid);
	bytes_varint(message, function->least_pid);
}

bool top_message_take(struct cursor *cursor, struct top_message *ret)
{
	ret->window_ns = cursor_u64(cursor);
	ret->own_ns = cursor_u64(cursor);
	ret->own_for_ns = cursor_u64(cursor);
	ret->samples = cursor_u64(cursor);
	ret->lost = cursor_u64(cursor);
	ret->other_ns = cursor_u64(cursor);
	ret->hz = cursor_u32(cursor);
	ret->sampler = cursor_text(cursor);
	ret->rank_count = cursor_u32(cursor);
	ret->function_count = cursor_u32(cursor);
	ret->items = *cursor;
	return !cursor->has_failed && ret->rank_count <= TOP_RANKS_MAX &&
	       ret->function_count <= TOP_FUNCTIONS_MAX;
}

static uint32_t top_u32(struct cursor *cursor)
{
	uint64_t value = cursor_varint(cursor);

	cursor->has_failed |= value > UINT32_MAX;
	return (uint32_t)value;
}

bool top_message_take_rank(struct top_message *top, struct top_rank *ret)
{
	struct cursor *cursor = &top->items;

	ret->pid = top_u32(cursor);
	ret->running_ns = cursor_varint(cursor);
	ret->samples = cursor_varint(cursor);
	ret->function = cursor_text(cursor);
	return !cursor->has_failed;
}

bool top_message_take_function(struct top_message *top, struct top_function *ret)
{
	struct cursor *cursor = &top->items;

	ret->name = cursor_text(cursor);
	ret->module = cursor_text(cursor);
	ret->sum_ns = cursor_varint(cursor);
	ret->total_ns = cursor_varint(cursor);
	ret->count = cursor_varint(cursor);
	ret->ranks = top_u32(cursor);
	ret->most_ns = cursor_varint(cursor);
	ret->least_ns = cursor_varint(cursor);
	ret->most_pid = top_u32(cursor);
	ret->least_pid = top_u32(cursor);
	return !cursor->has_failed;
}
