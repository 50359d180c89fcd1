/*
 * The fields of items, in the order of docs/recording-format.md.
 */
#include "host/recording/items.h"

#include "host/core/pool.h"

#include <errno.h>
#include <string.h>

enum field_type {
	FIELD_STRUCT, /* the head of its fields */
	FIELD_NUMBER,
	FIELD_TEXT,
	FIELD_BUILD_ID, /* the member has its size; its bytes are the next one */
	FIELD_COUNTS,   /* with their number: `size` of them are known */
	FIELD_LATER,    /* recordings of old versions may end here */
};

/* One field of the struct of a kind. */
struct field {
	enum chunk_kind kind;
	enum field_type type;
	size_t at, size; /* in the struct */
};

/* clang-format off */
#define STRUCT(kind, of)                 { CHUNK_##kind, FIELD_STRUCT, 0, sizeof(struct of) }
#define NUMBER(kind, of, member)         { CHUNK_##kind, FIELD_NUMBER, offsetof(struct of, member), sizeof(((struct of *)0)->member) }
#define TEXT(kind, of, member)           { CHUNK_##kind, FIELD_TEXT, offsetof(struct of, member), 0 }
#define BUILD_ID(kind, of)               { CHUNK_##kind, FIELD_BUILD_ID, offsetof(struct of, build_id_size), 0 }
#define COUNTS(kind, of, member, number) { CHUNK_##kind, FIELD_COUNTS, offsetof(struct of, member), number }
#define LATER(kind)                      { CHUNK_##kind, FIELD_LATER, 0, 0 }

static const struct field fields[] = {
	STRUCT(SESSION, recorded_session),
	TEXT(SESSION, recorded_session, limpet_version),
	TEXT(SESSION, recorded_session, host),
	TEXT(SESSION, recorded_session, kernel),
	TEXT(SESSION, recorded_session, machine),
	TEXT(SESSION, recorded_session, command),
	TEXT(SESSION, recorded_session, options),
	STRUCT(PROCESS, recorded_process),
	NUMBER(PROCESS, recorded_process, number),
	NUMBER(PROCESS, recorded_process, pid),
	NUMBER(PROCESS, recorded_process, start_ns),
	TEXT(PROCESS, recorded_process, name),
	TEXT(PROCESS, recorded_process, executable),
	TEXT(PROCESS, recorded_process, command),
	LATER(PROCESS),
	NUMBER(PROCESS, recorded_process, parent),
	NUMBER(PROCESS, recorded_process, group),
	NUMBER(PROCESS, recorded_process, session),
	NUMBER(PROCESS, recorded_process, siblings),
	TEXT(PROCESS, recorded_process, folder),
	STRUCT(THREAD, recorded_thread),
	NUMBER(THREAD, recorded_thread, number),
	NUMBER(THREAD, recorded_thread, process),
	NUMBER(THREAD, recorded_thread, tid),
	NUMBER(THREAD, recorded_thread, generation),
	TEXT(THREAD, recorded_thread, name),
	STRUCT(MODULES, recorded_module),
	NUMBER(MODULES, recorded_module, base),
	NUMBER(MODULES, recorded_module, size),
	NUMBER(MODULES, recorded_module, offset),
	BUILD_ID(MODULES, recorded_module),
	TEXT(MODULES, recorded_module, path),
	STRUCT(CLOCK, clock_point),
	NUMBER(CLOCK, clock_point, ticks),
	NUMBER(CLOCK, clock_point, stated_hz),
	NUMBER(CLOCK, clock_point, raw_ns),
	NUMBER(CLOCK, clock_point, monotonic_ns),
	NUMBER(CLOCK, clock_point, boot_ns),
	NUMBER(CLOCK, clock_point, real_ns),
	STRUCT(DROPS, recorded_drops),
	NUMBER(DROPS, recorded_drops, process),
	NUMBER(DROPS, recorded_drops, thread),
	COUNTS(DROPS, recorded_drops, counts, DROP_REASONS),
	STRUCT(END, recorded_end),
	NUMBER(END, recorded_end, reason),
	NUMBER(END, recorded_end, records),
	NUMBER(END, recorded_end, record_bytes),
	NUMBER(END, recorded_end, invalid),
	COUNTS(END, recorded_end, drops, DROP_REASONS),
	STRUCT(FILES, recorded_file),
	NUMBER(FILES, recorded_file, descriptor),
	TEXT(FILES, recorded_file, name),
	STRUCT(VARIABLES, recorded_variable),
	TEXT(VARIABLES, recorded_variable, name),
	TEXT(VARIABLES, recorded_variable, value),
	STRUCT(SAMPLING, recorded_sampling),
	TEXT(SAMPLING, recorded_sampling, sampler),
	TEXT(SAMPLING, recorded_sampling, reasons),
	NUMBER(SAMPLING, recorded_sampling, hz),
	NUMBER(SAMPLING, recorded_sampling, flags),
	NUMBER(SAMPLING, recorded_sampling, samples),
	NUMBER(SAMPLING, recorded_sampling, lost),
	COUNTS(SAMPLING, recorded_sampling, ends, STACK_ENDS),
	STRUCT(CODE, recorded_code),
	NUMBER(CODE, recorded_code, kind),
	NUMBER(CODE, recorded_code, process),
	BUILD_ID(CODE, recorded_code),
	TEXT(CODE, recorded_code, path),
	STRUCT(GIL, recorded_gil),
	NUMBER(GIL, recorded_gil, thread),
	NUMBER(GIL, recorded_gil, looks),
	NUMBER(GIL, recorded_gil, held),
	NUMBER(GIL, recorded_gil, waited),
	STRUCT(SYSCALLS, recorded_syscalls),
	NUMBER(SYSCALLS, recorded_syscalls, process),
	NUMBER(SYSCALLS, recorded_syscalls, began_before),
	NUMBER(SYSCALLS, recorded_syscalls, under_way),
	STRUCT(COUNTERS, recorded_counter),
	NUMBER(COUNTERS, recorded_counter, is_event),
	NUMBER(COUNTERS, recorded_counter, flags),
	NUMBER(COUNTERS, recorded_counter, number),
	TEXT(COUNTERS, recorded_counter, name),
	TEXT(COUNTERS, recorded_counter, block),
	TEXT(COUNTERS, recorded_counter, description),
	TEXT(COUNTERS, recorded_counter, expression),
	TEXT(COUNTERS, recorded_counter, expanded),
	STRUCT(METRICS, recorded_metric),
	NUMBER(METRICS, recorded_metric, process),
	NUMBER(METRICS, recorded_metric, form),
	NUMBER(METRICS, recorded_metric, device),
	TEXT(METRICS, recorded_metric, source),
	TEXT(METRICS, recorded_metric, name),
	TEXT(METRICS, recorded_metric, unit),
	TEXT(METRICS, recorded_metric, subject),
	TEXT(METRICS, recorded_metric, description),
	STRUCT(USAGE, recorded_usage),
	NUMBER(USAGE, recorded_usage, process),
	NUMBER(USAGE, recorded_usage, threads),
	NUMBER(USAGE, recorded_usage, time_ns),
	NUMBER(USAGE, recorded_usage, cpu_ns),
	NUMBER(USAGE, recorded_usage, rss_bytes),
	{ 0 },
};
/* clang-format on */

static const struct field *fields_of(enum chunk_kind kind)
{
	const struct field *field = fields;

	while (field->kind != kind)
		field++;
	return field;
}

static void field_put(struct bytes *bytes, const struct field *field, const void *from)
{
	const char *const *text = from;
	const uint32_t *size = from;

	if (field->type == FIELD_NUMBER) {
		bytes_put(bytes, from, field->size);
	} else if (field->type == FIELD_TEXT) {
		bytes_text(bytes, *text ? *text : "");
	} else if (field->type == FIELD_BUILD_ID) {
		bytes_u32(bytes, *size);
		bytes_put(bytes, size + 1, *size);
	} else if (field->type == FIELD_COUNTS) {
		bytes_u32(bytes, (uint32_t)field->size);
		bytes_put(bytes, from, field->size * sizeof(uint64_t));
	}
}

void item_put(struct bytes *bytes, enum chunk_kind kind, const void *item)
{
	for (const struct field *field = fields_of(kind); field->kind == kind; field++)
		field_put(bytes, field, (const char *)item + field->at);
}

static void bytes_read(struct cursor *cursor, void *into, size_t size)
{
	const void *from = cursor_take(cursor, size);

	if (from)
		memcpy(into, from, size);
}

/* Those behind the known ones are a newer version's. */
static void counts_read(struct cursor *cursor, uint64_t *ret, size_t known)
{
	uint32_t count = cursor_u32(cursor);

	for (uint32_t i = 0; i < count && !cursor->has_failed; i++) {
		uint64_t value = cursor_u64(cursor);

		if (i < known)
			ret[i] = value;
	}
}

static void field_read(struct cursor *cursor, const struct field *field, void *into)
{
	uint32_t *size = into;

	if (field->type == FIELD_NUMBER) {
		bytes_read(cursor, into, field->size);
	} else if (field->type == FIELD_TEXT) {
		*(const char **)into = cursor_text(cursor);
	} else if (field->type == FIELD_BUILD_ID) {
		*size = cursor_u32(cursor);
		cursor->has_failed |= *size > BUILD_ID_MAX;
		bytes_read(cursor, size + 1, *size);
	} else if (field->type == FIELD_COUNTS) {
		counts_read(cursor, into, field->size);
	}
}

int item_read(struct cursor *cursor, enum chunk_kind kind, void *ret)
{
	bool is_over = false;

	memset(ret, 0, item_size(kind));
	for (const struct field *field = fields_of(kind); field->kind == kind; field++) {
		void *into = (char *)ret + field->at;

		is_over |= field->type == FIELD_LATER && cursor->at == cursor->end;
		if (!is_over)
			field_read(cursor, field, into);
		else if (field->type == FIELD_TEXT)
			*(const char **)into = "";
	}
	return cursor->has_failed ? -EPROTO : 0;
}

size_t item_size(enum chunk_kind kind)
{
	return fields_of(kind)->size;
}

int item_keep(enum chunk_kind kind, void *item, struct pool *texts)
{
	bool is_whole = true;

	for (const struct field *field = fields_of(kind); field->kind == kind; field++) {
		const char **text = (const char **)((char *)item + field->at);

		if (field->type != FIELD_TEXT)
			continue;
		*text = pool_keep(texts, *text);
		is_whole &= *text != NULL;
	}
	return is_whole ? 0 : -ENOMEM;
}

void list_put(struct bytes *bytes, const struct list_head *head)
{
	bytes_put(bytes, head, sizeof(*head));
}

int list_read(struct cursor *cursor, struct list_head *ret)
{
	bytes_read(cursor, ret, sizeof(*ret));
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

int function_read(struct cursor *cursor, struct trace_function *ret)
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
	strncpy(ret->name, cursor_text(cursor), sizeof(ret->name) - 1);
	strncpy(ret->library, cursor_text(cursor), sizeof(ret->library) - 1);
	return cursor->has_failed ? -EPROTO : 0;
}

void function_tame(struct trace_function *function)
{
	function->name[sizeof(function->name) - 1] = '\0';
	function->library[sizeof(function->library) - 1] = '\0';
	function->value_count = MIN(function->value_count, RECORD_VALUES_MAX);
}

int numbered_read(struct cursor *cursor, struct numbered_head *ret)
{
	bytes_read(cursor, ret, sizeof(*ret));
	return cursor->has_failed ? -EPROTO : 0;
}

int records_read(struct cursor *cursor, struct records_head *ret)
{
	bytes_read(cursor, ret, sizeof(*ret));
	return cursor->has_failed ? -EPROTO : 0;
}

static void head_set(struct bytes *bytes, const void *head, size_t size)
{
	if (!bytes->has_failed && bytes->size >= size)
		memcpy(bytes->data, head, size);
}

void numbered_set(struct bytes *bytes, const struct numbered_head *head)
{
	head_set(bytes, head, sizeof(*head));
}

void count_set(struct bytes *bytes, uint32_t count)
{
	head_set(bytes, &count, sizeof(count));
}

int usage_count_read(struct cursor *cursor, uint32_t *ret)
{
	*ret = cursor_u32(cursor);
	if (cursor->has_failed || *ret > (size_t)(cursor->end - cursor->at) / USAGE_BYTES)
		return -EPROTO;
	return 0;
}
