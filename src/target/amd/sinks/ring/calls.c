/*
 * Writes calls of API tables. Runs inside these calls: no libc, no waiting.
 */
#include "target/amd/sinks/ring/ring.h"

#include "target/amd/tables/call.h"
#include "target/domains/marker.h"
#include "target/hooks/clock.h"
#include "target/hooks/probe.h"
#include "target/runtime/text.h"

#define LETTERS 32u

enum call_form { FORM_PLAIN, FORM_STATUS, FORM_ID, FORM_FIRST_ARGUMENT };

/* How a function of a table is recorded. */
struct recorded_call {
	uint32_t function; /* its number in the session */
	uint8_t form;      /* enum call_form: its value */
	bool has_text;     /* its first argument is one */
};
static struct recorded_call calls[CALL_SLOTS];
static const struct call_slot *slots;

void calls_start(const struct amd_engine *engine)
{
	slots = engine->slots;
}

/* Functions of roctx, in the order of its tables. */
static const struct recorded_call markers[API_ROCTX_NAME - API_ROCTX + 1][6] = {
	{ { 0, FORM_PLAIN, true },
	  { 0, FORM_STATUS, true },
	  { 0, FORM_STATUS, false },
	  { 0, FORM_ID, true },
	  { 0, FORM_FIRST_ARGUMENT, false },
	  { 0, FORM_PLAIN, false } },
	{ { 0, FORM_PLAIN, false }, { 0, FORM_PLAIN, false } },
	{ { 0, FORM_PLAIN, true },
	  { 0, FORM_PLAIN, true },
	  { 0, FORM_PLAIN, true },
	  { 0, FORM_PLAIN, true } },
};

static struct recorded_call call_describe(const struct call_slot *slot)
{
	const struct api_table *table = &api_tables[slot->table];

	if (table->domain == DOMAIN_MARKER && !slot->is_unknown)
		return markers[slot->table - API_ROCTX][slot->operation];
	return (struct recorded_call){ 0,
				       !slot->is_unnamed &&
						       api_returns_status(table, slot->operation)
					       ? FORM_STATUS
					       : FORM_PLAIN,
				       false };
}

/* Functions whose name limpet does not know are called by the number of their slot. */
static const char *call_name(const struct call_slot *slot, char made[LETTERS])
{
	const struct api_table *table = &api_tables[slot->table];
	size_t length;

	if (!slot->is_unnamed)
		return table->signatures[slot->operation].name;
	length = text_add(made, LETTERS, 0, table->registered);
	length = text_add(made, LETTERS, length, " slot ");
	text_add_number(made, LETTERS, length, slot->operation);
	return made;
}

bool calls_announce(const struct call_slot *slot)
{
	struct recorded_call call = call_describe(slot);
	struct traced traced = { .domain = (enum trace_domain)api_tables[slot->table].domain,
				 .value_count = call.form != FORM_PLAIN,
				 .values = {
					 { call.form == FORM_STATUS ? VALUE_RESULT : VALUE_ID } } };
	char made[LETTERS];
	struct function_name name = { call_name(slot, made), got_library(slot->original) };

	call.function = function_announce(&traced, &name);
	if (call.function == UINT32_MAX)
		return false;
	calls[slot - slots] = call;
	return true;
}

static uint64_t call_value(const struct recorded_call *call, const struct call_frame *frame)
{
	switch (call->form) {
	case FORM_STATUS:
		return (uint64_t)(int64_t)(int32_t)frame->results[0];
	case FORM_ID:
		return frame->results[0];
	default:
		return frame->integers[0];
	}
}

/* Nothing is written of a call with a text before it is decided whether memory may be probed. */
static void call_write(struct writer *writer, const struct recorded_call *call,
		       const struct call_frame *frame, uint64_t end)
{
	struct record_call record = {
		{ 0, 0, call->form != FORM_PLAIN }, call->function, frame->begin, end
	};
	struct call_site site = { frame->caller - 2, (uint64_t)frame->caller };
	uint64_t value = call_value(call, frame);

	if (!probe_is_decided() && call->has_text)
		return;
	if (writer_call_at(writer, &record, &value,
			   (enum trace_domain)api_tables[frame->slot->table].domain, &site) &&
	    call->has_text)
		marker_write_text(writer, (const char *)frame->integers[0]);
}

void calls_write(const struct call_frame *frame, uint64_t end)
{
	struct writer *writer;
	writer_seal seal;

	if (!clock_may_be_read()) {
		/* With a ring of its own, what the thread loses is counted for what it is. */
		if (frame->slot->table == API_HIP)
			(void)writer_mine();
		writer_count_lost();
		return;
	}
	writer = writer_begin(&seal);
	if (!writer)
		return;
	call_write(writer, &calls[frame->slot - slots], frame, end);
	writer_end(writer, &seal);
}
