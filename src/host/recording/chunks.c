/*
 * Payloads of chunks, field by field in the order of docs/recording-format.md.
 */
#include "host/recording/chunks.h"

#include <errno.h>
#include <string.h>

void session_put(struct bytes *bytes, const struct recorded_session *session)
{
	bytes_text(bytes, session->limpet_version);
	bytes_text(bytes, session->host);
	bytes_text(bytes, session->kernel);
	bytes_text(bytes, session->machine);
	bytes_text(bytes, session->command);
	bytes_text(bytes, session->options);
}

int session_take(struct cursor cursor, struct recorded_session *ret)
{
	ret->limpet_version = cursor_text(&cursor);
	ret->host = cursor_text(&cursor);
	ret->kernel = cursor_text(&cursor);
	ret->machine = cursor_text(&cursor);
	ret->command = cursor_text(&cursor);
	ret->options = cursor_text(&cursor);
	return cursor.has_failed ? -EPROTO : 0;
}

void process_put(struct bytes *bytes, const struct recorded_process *process)
{
	bytes_u32(bytes, process->number);
	bytes_u32(bytes, (uint32_t)process->pid);
	bytes_u64(bytes, process->start_ns);
	bytes_text(bytes, process->name);
	bytes_text(bytes, process->executable);
	bytes_text(bytes, process->command);
	bytes_u32(bytes, (uint32_t)process->parent);
	bytes_u32(bytes, (uint32_t)process->group);
	bytes_u32(bytes, (uint32_t)process->session);
	bytes_u32(bytes, process->siblings);
	bytes_text(bytes, process->folder ? process->folder : "");
}

/* Fields that the first recordings lack. */
static void family_take(struct cursor *cursor, struct recorded_process *ret)
{
	bool is_told = cursor->at < cursor->end;

	ret->parent = is_told ? (int32_t)cursor_u32(cursor) : 0;
	ret->group = is_told ? (int32_t)cursor_u32(cursor) : 0;
	ret->session = is_told ? (int32_t)cursor_u32(cursor) : 0;
	ret->siblings = is_told ? cursor_u32(cursor) : 0;
	ret->folder = is_told ? cursor_text(cursor) : "";
}

int process_take(struct cursor cursor, struct recorded_process *ret)
{
	ret->number = cursor_u32(&cursor);
	ret->pid = (int32_t)cursor_u32(&cursor);
	ret->start_ns = cursor_u64(&cursor);
	ret->name = cursor_text(&cursor);
	ret->executable = cursor_text(&cursor);
	ret->command = cursor_text(&cursor);
	if (!cursor.has_failed)
		family_take(&cursor, ret);
	return cursor.has_failed ? -EPROTO : 0;
}

void thread_put(struct bytes *bytes, const struct recorded_thread *thread)
{
	bytes_u32(bytes, thread->number);
	bytes_u32(bytes, thread->process);
	bytes_u32(bytes, (uint32_t)thread->tid);
	bytes_u64(bytes, thread->generation);
	bytes_text(bytes, thread->name);
}

int thread_take(struct cursor cursor, struct recorded_thread *ret)
{
	ret->number = cursor_u32(&cursor);
	ret->process = cursor_u32(&cursor);
	ret->tid = (int32_t)cursor_u32(&cursor);
	ret->generation = cursor_u64(&cursor);
	ret->name = cursor_text(&cursor);
	return cursor.has_failed ? -EPROTO : 0;
}

void clock_put(struct bytes *bytes, const struct clock_point *clock)
{
	bytes_u64(bytes, clock->ticks);
	bytes_u64(bytes, clock->stated_hz);
	bytes_u64(bytes, clock->raw_ns);
	bytes_u64(bytes, clock->monotonic_ns);
	bytes_u64(bytes, clock->boot_ns);
	bytes_u64(bytes, clock->real_ns);
}

int clock_take(struct cursor cursor, struct clock_point *ret)
{
	ret->ticks = cursor_u64(&cursor);
	ret->stated_hz = cursor_u64(&cursor);
	ret->raw_ns = cursor_u64(&cursor);
	ret->monotonic_ns = cursor_u64(&cursor);
	ret->boot_ns = cursor_u64(&cursor);
	ret->real_ns = cursor_u64(&cursor);
	return cursor.has_failed ? -EPROTO : 0;
}

/* With their number: reasons may be added. */
static void counts_put(struct bytes *bytes, const uint64_t counts[DROP_REASONS])
{
	bytes_u32(bytes, DROP_REASONS);
	for (unsigned i = 0; i < DROP_REASONS; i++)
		bytes_u64(bytes, counts[i]);
}

static void counts_take(struct cursor *cursor, uint64_t ret[DROP_REASONS])
{
	uint32_t count = cursor_u32(cursor);

	memset(ret, 0, DROP_REASONS * sizeof(*ret));
	for (uint32_t i = 0; i < count && !cursor->has_failed; i++) {
		uint64_t value = cursor_u64(cursor);

		if (i < DROP_REASONS)
			ret[i] = value;
	}
}

void drops_put(struct bytes *bytes, const struct recorded_drops *drops)
{
	bytes_u32(bytes, drops->process);
	bytes_u32(bytes, drops->thread);
	counts_put(bytes, drops->counts);
}

int drops_take(struct cursor cursor, struct recorded_drops *ret)
{
	ret->process = cursor_u32(&cursor);
	ret->thread = cursor_u32(&cursor);
	counts_take(&cursor, ret->counts);
	return cursor.has_failed ? -EPROTO : 0;
}

void syscalls_put(struct bytes *bytes, const struct recorded_syscalls *syscalls)
{
	bytes_u32(bytes, syscalls->process);
	bytes_u64(bytes, syscalls->began_before);
	bytes_u64(bytes, syscalls->under_way);
}

int syscalls_take(struct cursor cursor, struct recorded_syscalls *ret)
{
	ret->process = cursor_u32(&cursor);
	ret->began_before = cursor_u64(&cursor);
	ret->under_way = cursor_u64(&cursor);
	return cursor.has_failed ? -EPROTO : 0;
}

void end_put(struct bytes *bytes, const struct recorded_end *end)
{
	bytes_u32(bytes, end->reason);
	bytes_u64(bytes, end->records);
	bytes_u64(bytes, end->record_bytes);
	bytes_u64(bytes, end->invalid);
	counts_put(bytes, end->drops);
}

int end_take(struct cursor cursor, struct recorded_end *ret)
{
	ret->reason = cursor_u32(&cursor);
	ret->records = cursor_u64(&cursor);
	ret->record_bytes = cursor_u64(&cursor);
	ret->invalid = cursor_u64(&cursor);
	counts_take(&cursor, ret->drops);
	return cursor.has_failed || !ret->reason || ret->reason >= RECORDING_ENDS ? -EPROTO : 0;
}

void list_put(struct bytes *bytes, const struct list_head *head)
{
	bytes_u32(bytes, head->process);
	bytes_u32(bytes, head->first);
	bytes_u32(bytes, head->count);
}

int list_take(struct cursor *cursor, struct list_head *ret)
{
	ret->process = cursor_u32(cursor);
	ret->first = cursor_u32(cursor);
	ret->count = cursor_u32(cursor);
	return cursor->has_failed ? -EPROTO : 0;
}

void function_put(struct bytes *bytes, const struct trace_function *function)
{
	bytes_put(bytes, &function->domain, 1);
	bytes_put(bytes, &function->value_count, 1);
	bytes_put(bytes, function->values, function->value_count);
	bytes_text(bytes, function->name);
	bytes_text(bytes, function->library);
}

static void copy_text(char *into, size_t room, const char *text)
{
	size_t length = strnlen(text, room - 1);

	memcpy(into, text, length);
	memset(into + length, 0, room - length);
}

int function_take(struct cursor *cursor, struct trace_function *ret)
{
	const void *values;

	memset(ret, 0, sizeof(*ret));
	ret->domain = cursor_u8(cursor);
	ret->value_count = cursor_u8(cursor);
	if (ret->value_count > RECORD_VALUES_MAX)
		return -EPROTO;
	values = cursor_take(cursor, ret->value_count);
	if (values)
		memcpy(ret->values, values, ret->value_count);
	copy_text(ret->name, sizeof(ret->name), cursor_text(cursor));
	copy_text(ret->library, sizeof(ret->library), cursor_text(cursor));
	return cursor->has_failed ? -EPROTO : 0;
}

void function_tame(struct trace_function *function)
{
	function->name[sizeof(function->name) - 1] = '\0';
	function->library[sizeof(function->library) - 1] = '\0';
	function->value_count = MIN(function->value_count, RECORD_VALUES_MAX);
}

void module_put(struct bytes *bytes, const struct recorded_module *module)
{
	bytes_u64(bytes, module->base);
	bytes_u64(bytes, module->size);
	bytes_u64(bytes, module->offset);
	bytes_u32(bytes, module->build_id_size);
	bytes_put(bytes, module->build_id, module->build_id_size);
	bytes_text(bytes, module->path);
}

int build_id_take(struct cursor *cursor, unsigned char ret[BUILD_ID_MAX], uint32_t *ret_size)
{
	const void *build_id;

	*ret_size = cursor_u32(cursor);
	if (*ret_size > BUILD_ID_MAX)
		return -EPROTO;
	build_id = cursor_take(cursor, *ret_size);
	if (build_id)
		memcpy(ret, build_id, *ret_size);
	return 0;
}

int module_take(struct cursor *cursor, struct recorded_module *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->base = cursor_u64(cursor);
	ret->size = cursor_u64(cursor);
	ret->offset = cursor_u64(cursor);
	if (build_id_take(cursor, ret->build_id, &ret->build_id_size))
		return -EPROTO;
	ret->path = cursor_text(cursor);
	return cursor->has_failed ? -EPROTO : 0;
}

void file_put(struct bytes *bytes, const struct recorded_file *file)
{
	bytes_u32(bytes, (uint32_t)file->descriptor);
	bytes_text(bytes, file->name);
}

int file_take(struct cursor *cursor, struct recorded_file *ret)
{
	ret->descriptor = (int32_t)cursor_u32(cursor);
	ret->name = cursor_text(cursor);
	return cursor->has_failed ? -EPROTO : 0;
}

void variable_put(struct bytes *bytes, const struct recorded_variable *variable)
{
	bytes_text(bytes, variable->name);
	bytes_text(bytes, variable->value);
}

int variable_take(struct cursor *cursor, struct recorded_variable *ret)
{
	ret->name = cursor_text(cursor);
	ret->value = cursor_text(cursor);
	return cursor->has_failed ? -EPROTO : 0;
}

void counter_put(struct bytes *bytes, const struct recorded_counter *counter)
{
	bytes_u32(bytes, counter->is_event);
	bytes_u32(bytes, counter->flags);
	bytes_u32(bytes, counter->number);
	bytes_text(bytes, counter->name);
	bytes_text(bytes, counter->block);
	bytes_text(bytes, counter->description);
	bytes_text(bytes, counter->expression);
	bytes_text(bytes, counter->expanded);
}

int counter_take(struct cursor *cursor, struct recorded_counter *ret)
{
	ret->is_event = cursor_u32(cursor) != 0;
	ret->flags = cursor_u32(cursor);
	ret->number = cursor_u32(cursor);
	ret->name = cursor_text(cursor);
	ret->block = cursor_text(cursor);
	ret->description = cursor_text(cursor);
	ret->expression = cursor_text(cursor);
	ret->expanded = cursor_text(cursor);
	return cursor->has_failed ? -EPROTO : 0;
}

int records_take(struct cursor *cursor, struct records_head *ret)
{
	const void *head = cursor_take(cursor, sizeof(*ret));

	if (!head)
		return -EPROTO;
	memcpy(ret, head, sizeof(*ret));
	return 0;
}
