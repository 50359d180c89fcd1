/*
 * Packs and unpacks records.  Unpacking reads foreign bytes: its results have passed
 * record_check().
 */
#include "host/recording/pack.h"

#include <errno.h>
#include <string.h>

static unsigned char *pack_call(struct packer *packer, const struct record_call *call,
				unsigned char *at)
{
	uint64_t *last = packer->values[call->function % PACKER_REMEMBERED];
	const uint64_t *values = (const uint64_t *)(call + 1);

	at = varint_put(at, call->function);
	at = varint_put(at, zigzag(call->end - packer->end));
	at = varint_put(at, call->end - call->begin);
	packer->end = call->end;
	for (unsigned i = 0; i < call->head.count; i++) {
		at = varint_put(at, zigzag(values[i] - last[i]));
		last[i] = values[i];
	}
	return at;
}

static unsigned char *pack_stack(struct packer *packer, const struct record_stack *stack,
				 unsigned char *at)
{
	const uint64_t *frames = (const uint64_t *)(stack + 1);

	for (unsigned i = 0; i < stack->head.count; i++) {
		at = varint_put(at, zigzag(frames[i] - packer->frames[i]));
		packer->frames[i] = frames[i];
	}
	return at;
}

static unsigned char *pack_text(const struct record_text *text, unsigned char *at)
{
	at = varint_put(at, text->bytes);
	memcpy(at, text + 1, text->bytes);
	return at + text->bytes;
}

static unsigned char *pack_name(const struct record_name *name, unsigned char *at)
{
	at = varint_put(at, name->space);
	at = varint_put(at, name->id);
	at = varint_put(at, name->bytes);
	memcpy(at, name + 1, name->bytes);
	return at + name->bytes;
}

/* Preceded by its length, as all kinds after the first four. */
static unsigned char *pack_counts(const struct record_counts *record, unsigned char *at)
{
	size_t bytes = record->head.count * sizeof(struct record_count);

	at = varint_put(at, bytes);
	memcpy(at, record + 1, bytes);
	return at + bytes;
}

static unsigned char *pack_stack_number(const struct record_stack_number *record, unsigned char *at)
{
	at = varint_put(at, sizeof(record->stack));
	memcpy(at, &record->stack, sizeof(record->stack));
	return at + sizeof(record->stack);
}

unsigned char *pack(struct packer *packer, const struct record *record, unsigned char *into)
{
	*into++ = record->kind;
	*into++ = record->count;
	if (record->kind == RECORD_CALL)
		return pack_call(packer, (const struct record_call *)record, into);
	if (record->kind == RECORD_STACK)
		return pack_stack(packer, (const struct record_stack *)record, into);
	if (record->kind == RECORD_NAME)
		return pack_name((const struct record_name *)record, into);
	if (record->kind == RECORD_COUNTS)
		return pack_counts((const struct record_counts *)record, into);
	if (record->kind == RECORD_STACK_NUMBER)
		return pack_stack_number((const struct record_stack_number *)record, into);
	return pack_text((const struct record_text *)record, into);
}

static size_t unpack_call(struct packer *packer, struct cursor *cursor, unsigned count,
			  struct record_call *call)
{
	uint64_t *values = (uint64_t *)(call + 1), *last;

	if (count > RECORD_VALUES_MAX)
		return 0;
	call->function = (uint32_t)cursor_varint(cursor);
	call->end = packer->end += unzigzag(cursor_varint(cursor));
	call->begin = call->end - cursor_varint(cursor);
	last = packer->values[call->function % PACKER_REMEMBERED];
	for (unsigned i = 0; i < count; i++)
		values[i] = last[i] += unzigzag(cursor_varint(cursor));
	return record_call_size(count);
}

static size_t unpack_stack(struct packer *packer, struct cursor *cursor, unsigned count,
			   struct record_stack *stack)
{
	uint64_t *frames = (uint64_t *)(stack + 1);

	if (count > RECORD_FRAMES_MAX)
		return 0;
	stack->is_caller = 0;
	for (unsigned i = 0; i < count; i++)
		frames[i] = packer->frames[i] += unzigzag(cursor_varint(cursor));
	return sizeof(*stack) + count * sizeof(uint64_t);
}

static size_t unpack_text(struct cursor *cursor, struct record_text *text)
{
	uint64_t bytes = cursor_varint(cursor);
	const void *from =
		bytes <= RECORD_MAX_BYTES - sizeof(*text) ? cursor_take(cursor, bytes) : NULL;

	if (!from)
		return 0;
	text->bytes = (uint32_t)bytes;
	memcpy(text + 1, from, bytes);
	return ALIGN_UP(sizeof(*text) + bytes, RECORD_ALIGNMENT);
}

static size_t unpack_name(struct cursor *cursor, struct record_name *name)
{
	uint64_t space = cursor_varint(cursor), id = cursor_varint(cursor);
	uint64_t bytes = cursor_varint(cursor);
	const void *from =
		bytes <= RECORD_MAX_BYTES - sizeof(*name) ? cursor_take(cursor, bytes) : NULL;

	if (!from)
		return 0;
	if (space >= NAME_SPACES) {
		name->head.kind = RECORD_KINDS; /* for kinds newer than this limpet */
		return RECORD_ALIGNMENT;
	}
	name->space = (uint16_t)space;
	name->id = id;
	name->bytes = (uint16_t)bytes;
	memcpy(name + 1, from, bytes);
	return ALIGN_UP(sizeof(*name) + bytes, RECORD_ALIGNMENT);
}

static size_t unpack_counts(struct cursor *cursor, unsigned count, struct record_counts *record)
{
	uint64_t bytes = cursor_varint(cursor);
	const void *from =
		count <= RECORD_COUNTS_MAX && bytes == count * sizeof(struct record_count)
			? cursor_take(cursor, bytes)
			: NULL;

	if (!from)
		return 0;
	record->reserved = 0;
	memcpy(record + 1, from, bytes);
	return sizeof(*record) + bytes;
}

/* A newer version may have more behind the number. */
static size_t unpack_stack_number(struct cursor *cursor, struct record_stack_number *record)
{
	uint64_t bytes = cursor_varint(cursor);
	const void *from = bytes >= sizeof(record->stack) && bytes <= RECORD_MAX_BYTES
				   ? cursor_take(cursor, bytes)
				   : NULL;

	if (!from)
		return 0;
	memcpy(&record->stack, from, sizeof(record->stack));
	return sizeof(*record);
}

/* Only the length of a newer kind is known: it is skipped. */
static size_t unpack_other(struct cursor *cursor)
{
	uint64_t bytes = cursor_varint(cursor);

	return bytes <= RECORD_MAX_BYTES && cursor_take(cursor, bytes) ? RECORD_ALIGNMENT : 0;
}

long unpack(struct packer *packer, struct cursor *cursor, void *into)
{
	struct record *record = into;
	size_t size = 0;

	if (cursor->at == cursor->end)
		return cursor->has_failed ? -EPROTO : 0;
	record->kind = cursor_u8(cursor);
	record->count = cursor_u8(cursor);
	if (record->kind == RECORD_CALL)
		size = unpack_call(packer, cursor, record->count, into);
	else if (record->kind == RECORD_STACK)
		size = unpack_stack(packer, cursor, record->count, into);
	else if (record->kind == RECORD_TEXT)
		size = unpack_text(cursor, into);
	else if (record->kind == RECORD_NAME)
		size = unpack_name(cursor, into);
	else if (record->kind == RECORD_COUNTS)
		size = unpack_counts(cursor, record->count, into);
	else if (record->kind == RECORD_STACK_NUMBER)
		size = unpack_stack_number(cursor, into);
	else if (record->kind >= RECORD_KINDS)
		size = unpack_other(cursor);
	record->size = (uint16_t)size;
	if (!size || cursor->has_failed ||
	    (record->kind < RECORD_KINDS && record_check(record, size))) {
		cursor->has_failed = true;
		return -EPROTO;
	}
	return (long)size;
}
