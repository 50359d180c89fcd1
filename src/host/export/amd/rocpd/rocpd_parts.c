/*
 * Rows that are inserted once.
 */
#include "host/export/amd/rocpd/rocpd_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/symbols/demangle/demangle.h"
#include "shared/base/hash.h"

int rocpd_put(struct rocpd *self, enum rocpd_insert which, const struct rocpd_cell *cells)
{
	return rocpd_insert(&self->file, which, cells, self->err);
}

int rocpd_no_memory(struct rocpd *self)
{
	return err_set(self->err, -ENOMEM, "write '%s': no memory", self->file.path);
}

/* 1: it was not known until now. */
int rocpd_learn(struct rocpd *self, enum known kind, int64_t id)
{
	bool is_new;

	if (table_find(&self->known, kind, (uint64_t)id))
		return 0;
	return table_make(&self->known, kind, (uint64_t)id, &is_new) ? 1 : rocpd_no_memory(self);
}

int rocpd_passing_string(struct rocpd *self, const char *text, int64_t *ret)
{
	bool is_new;
	struct table_entry *entry =
		table_make(&self->strings, hash_bytes(text, strlen(text)), 0, &is_new);

	if (!entry)
		return rocpd_no_memory(self);
	if (is_new)
		entry->value = (uint64_t)++self->string_count;
	*ret = (int64_t)entry->value;
	return is_new ? rocpd_put(self, INSERT_STRING,
				  (struct rocpd_cell[]){ NUMBER(*ret), TEXT(text) })
		      : 0;
}

int rocpd_string(struct rocpd *self, const char *text, int64_t *ret)
{
	bool is_new;
	struct table_entry *entry = table_make(&self->text_ids, (uintptr_t)text, 0, &is_new);
	int r = 0;

	if (!entry)
		return rocpd_no_memory(self);
	if (is_new) {
		r = rocpd_passing_string(self, text, ret);
		entry->value = r ? 0 : (uint64_t)*ret;
	} else {
		*ret = (int64_t)entry->value;
	}
	return r;
}

int rocpd_thread(struct rocpd *self, const struct model_process *process, int64_t tid,
		 const char *name)
{
	int64_t id = id_of(process, (uint64_t)tid);
	int is_new = rocpd_learn(self, KNOWN_THREAD, id);

	if (is_new <= 0)
		return is_new;
	return rocpd_put(
		self, INSERT_THREAD,
		(struct rocpd_cell[]){ NUMBER(id), NUMBER(self->node), NUMBER(process->parent),
				       NUMBER(process_id(process)), NUMBER(tid), TEXT(name) });
}

static void fill_agent(struct json *json, const void *context)
{
	agent_write(json, context);
}

static int put_agent_row(struct rocpd *self, const struct model_process *process,
			 const struct agent *agent)
{
	int64_t id = id_of(process, agent->number);
	int is_new = rocpd_learn(self, KNOWN_AGENT, id);
	CLEANUP(free) char *whole = NULL;

	if (is_new <= 0)
		return is_new;
	whole = rocpd_json(fill_agent, agent);
	if (!whole)
		return rocpd_no_memory(self);
	return rocpd_put(
		self, INSERT_AGENT,
		(struct rocpd_cell[]){ NUMBER(id), NUMBER(self->node), NUMBER(process_id(process)),
				       TEXT(agent_type(agent)), NUMBER(agent->number),
				       NUMBER(agent->number), NUMBER(agent->type_index),
				       NUMBER(agent->properties[AGENT_DEVICE_ID]),
				       TEXT(agent->name), TEXT(agent->model), TEXT(agent->vendor),
				       TEXT(agent->product), TEXT(agent->product), TEXT(whole) });
}

int rocpd_agent(struct rocpd *self, const struct model_process *process, uint64_t number)
{
	const struct agent *agent = agents_find(self->agents, process, number);

	return agent ? put_agent_row(self, process, agent) : rocpd_no_memory(self);
}

/* Queues and streams. */
static const struct lane_words {
	enum known known;
	enum rocpd_insert insert;
	enum name_space space;
	const char *first, *other;
} queue_words = { KNOWN_QUEUE, INSERT_QUEUE, NAME_QUEUE, "Default Queue", "Queue" },
  stream_words = { KNOWN_STREAM, INSERT_STREAM, NAME_STREAM, "Default Stream", "Stream" };

static int put_lane(struct rocpd *self, const struct model_process *process,
		    const struct lane_words *words, uint64_t number)
{
	int64_t id = id_of(process, number);
	const char *name = names_find(&process->names, words->space, number);
	int is_new = rocpd_learn(self, words->known, id);
	char made_up[64];

	if (is_new <= 0)
		return is_new;
	snprintf(made_up, sizeof(made_up), "%s %" PRIu64, words->other, number);
	if (!name[0])
		name = number ? made_up : words->first;
	return rocpd_put(self, words->insert,
			 (struct rocpd_cell[]){ NUMBER(id), NUMBER(self->node),
						NUMBER(process_id(process)), TEXT(name) });
}

char *rocpd_json(json_filler *fill, const void *context)
{
	char *text = NULL;
	size_t size = 0;
	struct json json = { .out = open_memstream(&text, &size) };

	if (!json.out)
		return NULL;
	fill(&json, context);
	if (fclose(json.out)) {
		free(text);
		return NULL;
	}
	if (size && text[size - 1] == '\n')
		text[size - 1] = '\0';
	return text;
}

int rocpd_queue(struct rocpd *self, const struct model_process *process, uint64_t number)
{
	return put_lane(self, process, &queue_words, number);
}

int rocpd_stream(struct rocpd *self, const struct model_process *process, uint64_t number)
{
	return put_lane(self, process, &stream_words, number);
}

int rocpd_agents(struct rocpd *self, const struct model_process *process)
{
	const struct agents *agents = &self->agents[process->number];
	int r = 0;

	for (size_t i = 0; !r && i < agents->count; i++)
		r = put_agent_row(self, process, &agents->items[i]);
	return r;
}

struct symbol {
	uint64_t id;
	const char *mangled, *readable, *shown;
};

static void fill_symbol(struct json *json, const void *context)
{
	const struct symbol *symbol = context;
	char base[KERNEL_NAME_MAX];

	demangled_base(symbol->readable, base, sizeof(base));
	json_object(json, NULL);
	json_number(json, "kernel_id", symbol->id);
	json_text(json, "formatted_kernel_name", symbol->shown);
	json_text(json, "demangled_kernel_name", symbol->readable);
	json_text(json, "truncated_kernel_name", base);
	json_object_end(json);
}

int rocpd_symbol(struct rocpd *self, const struct amd_event *event)
{
	uint64_t name = event_value(event, VALUE_NAME);
	const struct model_process *process = event->call->process;
	const char *known = names_find(&process->names, NAME_KERNEL, name);
	char room[KERNEL_NAME_MAX];
	struct symbol symbol = {
		event->kernel, known[0] ? known : event->name,
		known[0] ? names_title(&process->names, NAME_KERNEL, name) : event->name,
		known[0] ? amd_kernel_name(self->view, process, name, room) : event->name
	};
	int64_t id = id_of(process, event->kernel);
	CLEANUP(free) char *notes = NULL;
	int is_new = rocpd_learn(self, KNOWN_SYMBOL, id);

	if (is_new <= 0)
		return is_new;
	notes = rocpd_json(fill_symbol, &symbol);
	if (!notes)
		return rocpd_no_memory(self);
	return rocpd_put(self, INSERT_SYMBOL,
			 (struct rocpd_cell[]){ NUMBER(id), NUMBER(self->node),
						NUMBER(process_id(process)),
						NUMBER(id_of(process, 0)), TEXT(symbol.mangled),
						TEXT(symbol.shown), TEXT(notes) });
}
