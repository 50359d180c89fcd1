/*
 * Sends the totals of one second.
 */
#include "host/fleet/node/node_ticker.h"

#include <stdio.h>
#include <string.h>

#define NAME_ROOM 256u /* of functions and modules, as sent */
#define RANK_ROOM 24u  /* of a rank without a name, in a message */

static void functions_put(struct node_ticker *self, struct bytes *message, size_t count)
{
	const struct found_rank *ranks = self->source.node->ranks.items;

	for (size_t i = 0; i < count; i++) {
		const struct spread *row = &self->spreads.items[i];
		char name[NAME_ROOM], module[NAME_ROOM];

		snprintf(name, sizeof(name), "%s", pool_text(&self->spreads.texts, row->name));
		snprintf(module, sizeof(module), "%s",
			 pool_text(&self->spreads.texts, row->module));
		top_message_put_function(
			message, &(struct top_function){
					 .name = name,
					 .module = module,
					 .sum_ns = row->sum_ns,
					 .total_ns = row->total_ns,
					 .count = row->count,
					 .ranks = row->ranks,
					 .most_ns = row->most_ns,
					 .least_ns = row->least_ns,
					 .most_pid = (uint32_t)ranks[row->most_rank].top,
					 .least_pid = (uint32_t)ranks[row->least_rank].top });
	}
}

/* With many ranks, there is no room for the function of each. */
static void ranks_put(struct node_ticker *self, struct bytes *message, size_t most, size_t room)
{
	const struct node *node = self->source.node;

	for (size_t i = 0; i < node->ranks.count && most; i++) {
		const struct rank_time *time = &self->times[i];
		size_t least = message->size + most * RANK_ROOM;

		if (!self->source.is_sampled[i])
			continue;
		most--;
		top_message_put_rank(
			message,
			&(struct top_rank){
				(uint32_t)node->ranks.items[i].top, time->running_ns, time->samples,
				least + strlen(time->function) <= room ? time->function : "" });
	}
}

/* Since the mark, for all threads. */
static void cost_fill(const struct node_ticker *self, struct top_message *ret)
{
	if (!self->mark_ns)
		return;
	ret->own_ns = own_cpu_ns() - self->mark_cpu_ns;
	ret->own_for_ns = now_ns() - self->mark_ns;
}

void node_ticker_tell(struct node_ticker *self)
{
	struct top_message top = { .window_ns = self->window_ns, .hz = self->source.hz };
	struct source_facts facts;
	struct bytes message = { 0 }, functions = { 0 };

	source_query(self->source.source, &facts);
	cost_fill(self, &top);
	top.sampler = facts.sampler;
	top.lost = self->source.lost_before + facts.lost;
	top.function_count = (uint32_t)MIN(self->spreads.count, TOP_FUNCTIONS_MAX);
	top.rank_count = (uint32_t)MIN(self->source.sampled_count, TOP_RANKS_MAX);
	for (size_t i = 0; i < self->source.node->ranks.count; i++) {
		top.samples += self->times[i].samples;
		self->seen[i] += self->times[i].samples;
	}
	for (size_t i = top.function_count; i < self->spreads.count; i++)
		top.other_ns += self->spreads.items[i].sum_ns;
	functions_put(self, &functions, top.function_count);
	top_message_put(&message, &top);
	ranks_put(self, &message, top.rank_count, TOP_BYTES_MAX - functions.size);
	bytes_put(&message, functions.data, functions.size);
	message.has_failed |= functions.has_failed;
	channel_send(&self->source.node->channel, &message);
	bytes_done(&functions);
	bytes_done(&message);
}
