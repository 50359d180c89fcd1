/*
 * Reads what a process told about its devices: lines "key=value" that it may have made up.
 */
#include "host/export/amd/agents.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/room.h"
#include "host/core/text.h"

static struct agent *agents_add(struct agents *agents, uint64_t number)
{
	if (make_room(&agents->items, agents->count, &agents->room, sizeof(*agents->items)))
		return NULL;
	agents->items[agents->count] = (struct agent){ .number = number };
	return &agents->items[agents->count++];
}

static void take_line(struct agent *agent, struct text line)
{
	const struct {
		const char *key;
		char *into;
	} texts[] = { { "name=", agent->name },
		      { "vendor=", agent->vendor },
		      { "product=", agent->product } };

	if (text_take_prefix(&line, "type=")) {
		agent->is_cpu = text_equals(line, "cpu");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (text_take_prefix(&line, texts[i].key))
			text_copy_printable(line, texts[i].into, AGENT_TEXT_MAX);
}

static void agents_describe(struct agent *agent, const char *lines)
{
	struct text rest = text_of(lines), line;

	while (text_take_line(&rest, &line))
		take_line(agent, line);
}

static int by_number(const void *left, const void *right)
{
	const struct agent *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

/* Gives it its place among those of its type; 0 or -ENOMEM. */
static int agents_enter(struct agents *agents, struct agent *agent)
{
	bool is_new;
	struct table_entry *entry = table_make(&agents->by_number, agent->number, 0, &is_new);

	if (!entry)
		return -ENOMEM;
	entry->value = (uint64_t)(agent - agents->items) + 1;
	agent->type_index = agent->is_cpu ? agents->cpus++ : agents->gpus++;
	return 0;
}

static int add_named(struct agents *agents, const struct names *names)
{
	for (size_t i = 0; i < names->room; i++) {
		const struct name_entry *named = &names->items[i];
		struct agent *agent;

		if (!named->text || named->space != NAME_DEVICE)
			continue;
		agent = agents_add(agents, named->id);
		if (!agent)
			return -ENOMEM;
		agents_describe(agent, named->text);
	}
	return 0;
}

int agents_init(struct agents *ret, const struct model_process *process)
{
	int r;

	*ret = (struct agents){ 0 };
	r = add_named(ret, &process->names);
	if (!r && ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_number);
	for (size_t i = 0; !r && i < ret->count; i++)
		r = agents_enter(ret, &ret->items[i]);
	return r;
}

void agents_done(struct agents *agents)
{
	free(agents->items);
	table_done(&agents->by_number);
	*agents = (struct agents){ 0 };
}

const struct agent *agents_find(struct agents *agents, uint64_t number, bool *ret_is_new)
{
	const struct table_entry *entry = table_find(&agents->by_number, number, 0);
	struct agent *agent;

	*ret_is_new = !entry;
	if (entry)
		return &agents->items[entry->value - 1];
	agent = agents_add(agents, number);
	if (!agent)
		return NULL;
	agent->is_cpu = number == 0;
	return agents_enter(agents, agent) ? NULL : agent;
}

const char *agent_type(const struct agent *agent)
{
	return agent->is_cpu ? "CPU" : "GPU";
}

void agent_label(const struct agent *agent, enum agent_index index, char *ret, size_t room)
{
	if (index == AGENT_TYPE_RELATIVE)
		snprintf(ret, room, "%s %u", agent_type(agent), agent->type_index);
	else
		snprintf(ret, room, "Agent %" PRIu64, agent->number);
}
