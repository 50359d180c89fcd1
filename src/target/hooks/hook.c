/*
 * The table of hooks, which only grows. limpet's threads make hooks; every hooked call reads them.
 */
#include "target/hooks/hook.h"

#include "shared/base/hash.h"
#include "target/hooks/probe.h"
#include "target/hooks/thread.h"
#include "target/hooks/writer.h"
#include "target/runtime/text.h"

#include <string.h>

#define INDEX_SIZE  (2u * HOOKS_MAX)
#define FILE_NUMBER 112 /* offset of the descriptor in glibc's FILE, part of its ABI */

extern const unsigned char hook_stubs[], thunk_registers[], thunk_chosen[], thunk_any[],
	thunk_wide[], thunk_around[], thunk_wrapper[], thunk_notice[];

struct hook hook_table[HOOKS_MAX];
static uint32_t hook_count;
static uint16_t hook_index[INDEX_SIZE]; /* by original; number of the hook plus one */

static uint64_t add_text(uint64_t label, const char *text)
{
	return hash_add_byte(hash_add_text(label, text), 0);
}

static uint64_t label_of(const struct function_name *name)
{
	return add_text(add_text(HASH_SEED, name->name), name->library);
}

static uint16_t *find_slot(uint64_t original, const struct traced *traced, uint64_t label)
{
	uint32_t at =
		(uint32_t)((original ^ label ^ (uint64_t)traced >> 4) * 0x9e3779b97f4a7c15u >> 40);

	for (;; at++) {
		uint16_t *slot = &hook_index[at % INDEX_SIZE];
		const struct hook *hook;

		if (!*slot)
			return slot;
		hook = &hook_table[*slot - 1];
		if (hook->original == original && hook->traced == traced && hook->label == label)
			return slot;
	}
}

static const void *const entries[] = {
	[HOOK_REGISTERS] = thunk_registers,
	[HOOK_CHOSEN] = thunk_chosen,
	[HOOK_ANY] = thunk_any,
	[HOOK_WIDE] = thunk_wide,
	[HOOK_AROUND] = thunk_around,
	[HOOK_WRAPPER] = thunk_wrapper,
	[HOOK_NOTICE] = thunk_notice,
};

struct hook *hook_get(uint64_t original, const struct traced *traced,
		      const struct function_name *name)
{
	uint64_t label = label_of(name);
	uint16_t *slot = find_slot(original, traced, label);
	struct hook *hook;

	if (*slot)
		return &hook_table[*slot - 1];
	if (hook_count == HOOKS_MAX)
		return NULL;
	hook = &hook_table[hook_count++];
	hook->original = original;
	hook->traced = traced;
	hook->label = label;
	hook->wrapper = traced->wrapper;
	hook->entry = traced->entry ? traced->entry : entries[traced->way];
	*slot = (uint16_t)hook_count;
	return hook;
}

uint64_t hook_stub(const struct hook *hook)
{
	return (uint64_t)hook_stubs + (uint64_t)(hook - hook_table) * STUB_SIZE;
}

bool hook_is_stub(uint64_t value)
{
	return value - (uint64_t)hook_stubs < (uint64_t)HOOKS_MAX * STUB_SIZE;
}

uint32_t function_announce(const struct traced *traced, const struct function_name *name)
{
	struct rings *rings = writers_rings();
	struct trace_function *function;

	if (rings->function_count == rings->function_max)
		return UINT32_MAX;
	function = &rings_functions(rings)[rings->function_count];
	text_add(function->name, sizeof(function->name), 0, name->name);
	text_add(function->library, sizeof(function->library), 0, name->library);
	function->domain = (uint8_t)traced->domain;
	function->value_count = traced->value_count;
	for (unsigned i = 0; i < traced->value_count; i++)
		function->values[i] = traced->values[i].kind;
	/* Release: pairs with the host's acquire of the count; the entry is complete. */
	__atomic_store_n(&rings->function_count, rings->function_count + 1, __ATOMIC_RELEASE);
	return rings->function_count - 1;
}

bool hook_announce(struct hook *hook, const struct function_name *name)
{
	if (hook->session == writers_session())
		return hook->is_on || hook->is_muted;
	hook->session = writers_session();
	hook->is_muted = 0;
	hook->function = function_announce(hook->traced, name);
	if (hook->function == UINT32_MAX)
		return false;
	if (hook->traced->prepare)
		hook->traced->prepare(hook, name);
	/* Release: pairs with the acquires of is_on; number and preparation are stored. */
	__atomic_store_n(&hook->is_on, 1, __ATOMIC_RELEASE);
	return true;
}

void hooks_mute(enum trace_domain domain, uint64_t code, uint64_t size)
{
	for (uint32_t i = 0; i < hook_count; i++) {
		struct hook *hook = &hook_table[i];

		if (hook->session != writers_session() || hook->is_of_table ||
		    hook->traced->domain != domain || hook->original - code >= size)
			continue;
		hook->is_muted = 1;
		__atomic_store_n(&hook->is_on, 0, __ATOMIC_RELEASE);
	}
}

void hooks_off(void)
{
	for (uint32_t i = 0; i < hook_count; i++)
		__atomic_store_n(&hook_table[i].is_on, 0, __ATOMIC_RELEASE);
}

static uint64_t result_is_failure(int64_t result)
{
	return (uint64_t)(result == -1 ? -(int64_t)thread_errno() : result);
}

static uint64_t file_number(uint64_t file)
{
	return file ? (uint64_t)(int64_t) * (const int32_t *)(file + FILE_NUMBER) : UINT64_MAX;
}

static uint64_t length_of(uint64_t text, uint64_t most)
{
	uint64_t length = 0;

	while (length < most && ((const char *)text)[length])
		length++;
	return length;
}

static uint64_t frame_capture(const struct hook_frame *frame, enum capture source)
{
	const uint64_t *given = frame->arguments;
	uint64_t result = frame->results[0];

	switch (source) {
	case CAPTURE_INT0:
		return (uint64_t)(int64_t)(int32_t)given[0];
	case CAPTURE_INT4:
		return (uint64_t)(int64_t)(int32_t)given[4];
	case CAPTURE_FILE0 ... CAPTURE_FILE4:
		return file_number(given[source - CAPTURE_FILE0]);
	case CAPTURE_PRODUCT01 ... CAPTURE_PRODUCT23:
		return given[source - CAPTURE_PRODUCT01] * given[source - CAPTURE_PRODUCT01 + 1];
	case CAPTURE_RESULT:
		return result;
	case CAPTURE_RESULT_TIMES1 ... CAPTURE_RESULT_TIMES2:
		return result * given[source - CAPTURE_RESULT_TIMES1 + 1];
	case CAPTURE_LINE1 ... CAPTURE_LINE2:
		return result ? length_of(given[0], (uint32_t)given[source - CAPTURE_LINE1 + 1])
			      : 0;
	case CAPTURE_RETURN_TEXT0:
		return (int32_t)result < 0 ? result_is_failure(-1)
					   : length_of(given[0], UINT32_MAX);
	case CAPTURE_RESULT_INT:
		return (uint64_t)(int64_t)(int32_t)result;
	case CAPTURE_RESULT_FILE:
		return file_number(result);
	case CAPTURE_RETURN_INT:
		return result_is_failure((int32_t)result);
	case CAPTURE_RETURN_LONG:
		return result_is_failure((int64_t)result);
	case CAPTURE_POINTED0:
		return (int32_t)result ? 0 : *(const uint64_t *)given[0];
	default:
		return given[source];
	}
}

bool hook_write_call(struct writer *writer, const struct hook *hook, const struct hook_frame *frame,
		     uint64_t end)
{
	const struct traced *traced = hook->traced;
	struct record_call call = {
		{ 0, 0, traced->value_count }, hook->function, frame->begin, end
	};
	uint64_t values[RECORD_VALUES_MAX];

	for (unsigned i = 0; i < traced->value_count; i++)
		values[i] = frame_capture(frame, traced->values[i].source);
	return writer_call_in(writer, &call, values, frame);
}

struct code hook_thunks(void)
{
	return (struct code){ (uint64_t)thunk_registers,
			      (uint64_t)thunk_wrapper - (uint64_t)thunk_registers };
}

/* The return address lies in a thunk, whose frame pointer still ends the outer frame. */
const struct hook_frame *hook_outer(const struct hook_frame *frame)
{
	struct code thunks = hook_thunks();

	return frame->address - thunks.begin < thunks.size
		       ? (const struct hook_frame *)(frame->link - FRAME_LINK)
		       : NULL;
}

static void call_report(struct hook *hook, const struct hook_frame *frame, uint64_t end)
{
	struct writer *writer;
	writer_seal seal;

	/* Acquire: pairs with hook_announce(). */
	if (!__atomic_load_n(&hook->is_on, __ATOMIC_ACQUIRE))
		return;
	if (!end) {
		writer_count_lost();
		return;
	}
	writer = writer_begin(&seal);
	if (!writer)
		return;
	(void)probe_is_decided(); /* keeps the answer for the next hook_before() */
	if (hook->traced->write)
		hook->traced->write(writer, hook, frame, end);
	else
		(void)hook_write_call(writer, hook, frame, end);
	writer_end(writer, &seal);
}

void hook_leave(struct hook_frame *frame)
{
	call_report(frame->hook, frame, clock_ticks());
}

void hook_before(struct hook_around *around, uint64_t *window)
{
	const struct hook *hook = around->frame.hook;

	for (unsigned i = 0; i < ARRAY_SIZE(around->kept); i++)
		around->kept[i] = 0;
	/* Acquire: pairs with hook_announce(). */
	if (hook->traced->before && __atomic_load_n(&hook->is_on, __ATOMIC_ACQUIRE))
		hook->traced->before(around, window);
}

/* The call's record is written before the records of work that it caused. */
void hook_after(struct hook_around *around)
{
	uint64_t end = clock_ticks();
	struct hook *hook = around->frame.hook;

	call_report(hook, &around->frame, end);
	if (hook->traced->after)
		hook->traced->after(around, end);
}

void hook_report(struct hook *hook, const struct hook_frame *frame)
{
	call_report(hook, frame, clock_ticks());
}

notice_function *hook_on_notice;

void hook_notice(const struct hook *hook, const uint64_t *arguments)
{
	notice_function *tell = __atomic_load_n(&hook_on_notice, __ATOMIC_ACQUIRE);

	if (tell)
		tell(hook->traced, arguments);
}
