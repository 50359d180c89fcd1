/*
 * Messages as bytes.  Runs at both ends; input is foreign.
 */
#include "host/fleet/message.h"

#define COUNT_MAX (1u << 20) /* of items in one message */

static void message_begin(struct bytes *message, enum message_kind kind)
{
	message->size = 0;
	bytes_u32(message, kind);
}

uint32_t message_kind(struct cursor *cursor)
{
	uint32_t kind = cursor_u32(cursor);

	return kind < MESSAGE_KINDS && !cursor->has_failed ? kind : 0;
}

void hello_put(struct bytes *message, const struct hello_message *hello)
{
	message_begin(message, MESSAGE_HELLO);
	bytes_u32(message, hello->protocol);
	bytes_text(message, hello->version);
	bytes_text(message, hello->node);
	bytes_text(message, hello->machine);
	bytes_text(message, hello->kernel);
	bytes_u64(message, hello->real_ns);
	bytes_u64(message, hello->boot_ns);
	bytes_u64(message, hello->clock_error_ns);
	bytes_u32(message, hello->is_synchronized);
	bytes_u32(message, hello->processors);
}

bool hello_take(struct cursor *cursor, struct hello_message *ret)
{
	*ret = (struct hello_message){ .node = "", .machine = "", .kernel = "" };
	ret->protocol = cursor_u32(cursor);
	ret->version = cursor_text(cursor);
	if (cursor->has_failed || ret->protocol != FLEET_PROTOCOL)
		return !cursor->has_failed;
	ret->node = cursor_text(cursor);
	ret->machine = cursor_text(cursor);
	ret->kernel = cursor_text(cursor);
	ret->real_ns = cursor_u64(cursor);
	ret->boot_ns = cursor_u64(cursor);
	ret->clock_error_ns = cursor_u64(cursor);
	ret->is_synchronized = cursor_u32(cursor);
	ret->processors = cursor_u32(cursor);
	return !cursor->has_failed;
}

void rank_put(struct bytes *message, const struct rank_message *rank)
{
	message_begin(message, MESSAGE_RANK);
	bytes_u32(message, rank->pid);
	bytes_u32(message, rank->process);
	bytes_u32(message, rank->rank);
	bytes_u32(message, rank->size);
	bytes_text(message, rank->variable);
	bytes_text(message, rank->program);
	bytes_text(message, rank->command);
	bytes_text(message, rank->user);
	bytes_text(message, rank->through);
	bytes_u32(message, rank->threads);
	bytes_u32(message, rank->process_state);
	bytes_text(message, rank->sampler);
	bytes_text(message, rank->sampler_reasons);
	bytes_text(message, rank->refusal);
}

bool rank_take(struct cursor *cursor, struct rank_message *ret)
{
	ret->pid = cursor_u32(cursor);
	ret->process = cursor_u32(cursor);
	ret->rank = cursor_u32(cursor);
	ret->size = cursor_u32(cursor);
	ret->variable = cursor_text(cursor);
	ret->program = cursor_text(cursor);
	ret->command = cursor_text(cursor);
	ret->user = cursor_text(cursor);
	ret->through = cursor_text(cursor);
	ret->threads = cursor_u32(cursor);
	ret->process_state = cursor_u32(cursor);
	ret->sampler = cursor_text(cursor);
	ret->sampler_reasons = cursor_text(cursor);
	ret->refusal = cursor_text(cursor);
	return !cursor->has_failed;
}

void state_put(struct bytes *message, const struct state_message *state)
{
	message_begin(message, MESSAGE_STATE);
	bytes_u32(message, state->pid);
	bytes_u32(message, state->state);
	bytes_text(message, state->reason);
}

bool state_take(struct cursor *cursor, struct state_message *ret)
{
	ret->pid = cursor_u32(cursor);
	ret->state = cursor_u32(cursor);
	ret->reason = cursor_text(cursor);
	return !cursor->has_failed && ret->state < RANK_STATES;
}

void note_put(struct bytes *message, const struct note_message *note)
{
	message_begin(message, MESSAGE_NOTE);
	bytes_text(message, note->text);
}

bool note_take(struct cursor *cursor, struct note_message *ret)
{
	ret->text = cursor_text(cursor);
	return !cursor->has_failed;
}

void frames_add_text(struct frames_draft *frames, const char *text)
{
	bytes_text(&frames->texts, text);
	frames->text_count++;
}

void frames_add_node(struct frames_draft *frames, const struct frame_node *node)
{
	bytes_varint(&frames->nodes, node->parent == FRAME_ROOT ? 0 : (uint64_t)node->parent + 1);
	bytes_varint(&frames->nodes, node->function);
	bytes_varint(&frames->nodes, node->module);
	bytes_varint(&frames->nodes, node->file);
	bytes_varint(&frames->nodes, node->line);
	bytes_varint(&frames->nodes, node->kind);
	frames->node_count++;
}

/* Later items continue the numbers. */
static void frames_empty(struct frames_draft *frames)
{
	frames->first_text += frames->text_count;
	frames->first_node += frames->node_count;
	frames->text_count = frames->node_count = 0;
	frames->texts.size = frames->nodes.size = 0;
}

void frames_put(struct bytes *message, struct frames_draft *frames)
{
	message_begin(message, MESSAGE_FRAMES);
	bytes_u32(message, frames->first_text);
	bytes_u32(message, frames->text_count);
	bytes_u32(message, frames->first_node);
	bytes_u32(message, frames->node_count);
	bytes_u32(message, (uint32_t)frames->texts.size);
	bytes_put(message, frames->texts.data, frames->texts.size);
	bytes_put(message, frames->nodes.data, frames->nodes.size);
	message->has_failed |= frames->texts.has_failed || frames->nodes.has_failed;
	frames_empty(frames);
}

bool frames_take(struct cursor *cursor, struct frames_message *ret)
{
	uint32_t size;
	const unsigned char *texts;

	ret->first_text = cursor_u32(cursor);
	ret->text_count = cursor_u32(cursor);
	ret->first_node = cursor_u32(cursor);
	ret->node_count = cursor_u32(cursor);
	size = cursor_u32(cursor);
	texts = cursor_take(cursor, size);
	if (!texts || ret->text_count > COUNT_MAX || ret->node_count > COUNT_MAX)
		return false;
	ret->texts = (struct cursor){ texts, texts + size, false };
	ret->nodes = *cursor;
	return true;
}

bool frames_take_text(struct frames_message *frames, const char **ret)
{
	*ret = cursor_text(&frames->texts);
	return !frames->texts.has_failed;
}

static uint32_t varint_u32(struct cursor *cursor)
{
	uint64_t value = cursor_varint(cursor);

	cursor->has_failed |= value > UINT32_MAX;
	return (uint32_t)value;
}

bool frames_take_node(struct frames_message *frames, struct frame_node *ret)
{
	struct cursor *cursor = &frames->nodes;
	uint32_t parent = varint_u32(cursor);

	ret->parent = parent ? parent - 1 : FRAME_ROOT;
	ret->function = varint_u32(cursor);
	ret->module = varint_u32(cursor);
	ret->file = varint_u32(cursor);
	ret->line = varint_u32(cursor);
	ret->kind = varint_u32(cursor);
	return !cursor->has_failed && ret->kind < FRAME_KINDS;
}

void stacks_put(struct bytes *message, const struct stacks_message *stacks)
{
	message_begin(message, MESSAGE_STACKS);
	bytes_u32(message, stacks->pid);
	bytes_u32(message, stacks->process);
	bytes_u32(message, stacks->round);
	bytes_u32(message, stacks->thread_count);
}

void stacks_put_thread(struct bytes *message, const struct stacks_thread *thread)
{
	bytes_varint(message, thread->tid);
	bytes_varint(message, thread->flags);
	bytes_varint(message, thread->state);
	bytes_varint(message, thread->leaf == FRAME_ROOT ? 0 : (uint64_t)thread->leaf + 1);
	bytes_varint(message, thread->turns);
	bytes_text(message, thread->name);
	bytes_text(message, thread->call);
	bytes_text(message, thread->object);
}

bool stacks_take(struct cursor *cursor, struct stacks_message *ret)
{
	ret->pid = cursor_u32(cursor);
	ret->process = cursor_u32(cursor);
	ret->round = cursor_u32(cursor);
	ret->thread_count = cursor_u32(cursor);
	ret->threads = *cursor;
	return !cursor->has_failed && ret->thread_count <= COUNT_MAX;
}

bool stacks_take_thread(struct stacks_message *stacks, struct stacks_thread *ret)
{
	struct cursor *cursor = &stacks->threads;
	uint32_t leaf;

	ret->tid = varint_u32(cursor);
	ret->flags = varint_u32(cursor);
	ret->state = varint_u32(cursor);
	leaf = varint_u32(cursor);
	ret->leaf = leaf ? leaf - 1 : FRAME_ROOT;
	ret->turns = cursor_varint(cursor);
	ret->name = cursor_text(cursor);
	ret->call = cursor_text(cursor);
	ret->object = cursor_text(cursor);
	return !cursor->has_failed;
}

void piece_put(struct bytes *message, const struct piece_message *piece)
{
	message_begin(message, MESSAGE_PIECE);
	bytes_u32(message, piece->pid);
	bytes_u64(message, piece->offset);
	bytes_put(message, piece->bytes, piece->size);
}

bool piece_take(struct cursor *cursor, struct piece_message *ret)
{
	ret->pid = cursor_u32(cursor);
	ret->offset = cursor_u64(cursor);
	if (cursor->has_failed)
		return false;
	ret->bytes = cursor->at;
	ret->size = (size_t)(cursor->end - cursor->at);
	return ret->size <= PIECE_BYTES_MAX;
}

void recorded_put(struct bytes *message, const struct recorded_message *recorded)
{
	message_begin(message, MESSAGE_RECORDED);
	bytes_u32(message, recorded->pid);
	bytes_u32(message, recorded->is_there);
	bytes_u64(message, recorded->size_bytes);
}

bool recorded_take(struct cursor *cursor, struct recorded_message *ret)
{
	ret->pid = cursor_u32(cursor);
	ret->is_there = cursor_u32(cursor);
	ret->size_bytes = cursor_u64(cursor);
	return !cursor->has_failed;
}

void top_message_put(struct bytes *message, const struct top_message *top)
{
	message_begin(message, MESSAGE_TOP);
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

bool top_message_take_rank(struct top_message *top, struct top_rank *ret)
{
	struct cursor *cursor = &top->items;

	ret->pid = varint_u32(cursor);
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
	ret->ranks = varint_u32(cursor);
	ret->most_ns = cursor_varint(cursor);
	ret->least_ns = cursor_varint(cursor);
	ret->most_pid = varint_u32(cursor);
	ret->least_pid = varint_u32(cursor);
	return !cursor->has_failed;
}
