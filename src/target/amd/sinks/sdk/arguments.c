/*
 * Formats the arguments of a traced call as text, one by one. Called by tools, in their callbacks.
 * Target memory that an argument points to is read only if the kernel says that it is readable.
 */
#include "target/amd/sinks/sdk/base/kinds.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/runtime/readable.h"
#include "target/runtime/text.h"

#include <string.h>

#define TEXT_MAX    512u
#define NAME_MAX    96u
#define LETTERS     400u
#define DECIMALS    1000000u
#define MANTISSA    23
#define BIAS        127
#define SIGNIFICAND 0x7fffffu

struct argument_value {
	char name[NAME_MAX], type[NAME_MAX], value[TEXT_MAX];
	const void *address;
	int32_t indirections;
};

static void copy_field(char *to, const char *from)
{
	size_t length = 0;

	while (from[length] && from[length] != ':' && from[length] != '|' && length + 1 < NAME_MAX)
		length++;
	memcpy(to, from, length);
	to[length] = 0;
}

static size_t add_hex(char *text, size_t at, uint64_t value)
{
	static const char digits[] = "0123456789abcdef";
	unsigned shift = 60;

	at = text_add(text, TEXT_MAX, at, "0x");
	while (shift && !(value >> shift & 15))
		shift -= 4;
	for (;; shift -= 4) {
		text[at++] = digits[value >> shift & 15];
		if (!shift)
			break;
	}
	text[at] = 0;
	return at;
}

static size_t add_signed(char *text, size_t at, int64_t value)
{
	if (value < 0)
		at = text_add(text, TEXT_MAX, at, "-");
	return text_add_number(text, TEXT_MAX, at,
			       value < 0 ? -(unsigned long)value : (unsigned long)value);
}

/* Copies a string of the target, up to the first unreadable address. */
static void add_text(char *text, uint64_t address)
{
	size_t at = 0;

	if (!address) {
		text_add(text, TEXT_MAX, 0, "(null)");
		return;
	}
	for (; at < LETTERS; at++) {
		if ((!at || (address + at) % 8 == 0) && !is_readable((address + at) & ~7ull))
			break;
		if (!((const char *)address)[at])
			break;
		text[at] = ((const char *)address)[at];
	}
	text[at] = 0;
}

static void add_decimals(char *text, size_t at, uint64_t scaled)
{
	char decimals[8] = "000000";

	at = text_add_number(text, TEXT_MAX, at, (unsigned long)(scaled / DECIMALS));
	for (unsigned i = 6, rest = (unsigned)(scaled % DECIMALS); i--; rest /= 10)
		decimals[i] = (char)('0' + rest % 10);
	at = text_add(text, TEXT_MAX, at, ".");
	text_add(text, TEXT_MAX, at, decimals);
}

/* Six decimals; a value too large or too small for them is shown as its bits. */
static void add_float(char *text, uint32_t bits)
{
	int exponent = (int)(bits >> MANTISSA & 0xff) - BIAS;
	uint64_t scaled = ((bits & SIGNIFICAND) + SIGNIFICAND + 1ull) * DECIMALS;
	size_t at = bits >> 31 ? text_add(text, TEXT_MAX, 0, "-") : 0;

	if (!(bits & 0x7fffffff))
		add_decimals(text, at, 0);
	else if (exponent < -MANTISSA || exponent > 16)
		add_hex(text, at, bits);
	else
		add_decimals(text, at,
			     exponent >= 0 ? scaled << exponent >> MANTISSA
					   : scaled >> (MANTISSA - exponent));
}

static uint64_t read_number(const void *address, unsigned size, bool is_signed)
{
	uint64_t value = 0;

	memcpy(&value, address, size);
	if (is_signed && size < 8 && value >> (size * 8 - 1))
		value |= ~0ull << size * 8;
	return value;
}

static void add_dimensions(char *text, const void *address)
{
	uint32_t sizes[3];
	size_t at;

	memcpy(sizes, address, sizeof(sizes));
	at = text_add(text, TEXT_MAX, 0, "{x=");
	at = text_add_number(text, TEXT_MAX, at, sizes[0]);
	at = text_add(text, TEXT_MAX, at, ", y=");
	at = text_add_number(text, TEXT_MAX, at, sizes[1]);
	at = text_add(text, TEXT_MAX, at, ", z=");
	at = text_add_number(text, TEXT_MAX, at, sizes[2]);
	text_add(text, TEXT_MAX, at, "}");
}

static void add_words(char *text, const void *address, unsigned size)
{
	size_t at = text_add(text, TEXT_MAX, 0, "{");

	for (unsigned i = 0; i + 8 <= size && at + 24 < TEXT_MAX; i += 8) {
		at = text_add(text, TEXT_MAX, at, i ? ", " : "");
		at = add_hex(text, at, read_number((const char *)address + i, 8, false));
	}
	text_add(text, TEXT_MAX, at, "}");
}

static void add_handle(char *text, uint64_t handle)
{
	size_t at = text_add(text, TEXT_MAX, 0, "{handle=");

	at = text_add_number(text, TEXT_MAX, at, handle);
	text_add(text, TEXT_MAX, at, "}");
}

static void add_value(char *text, const char *code, const void *address, unsigned size)
{
	text[0] = 0;
	if (*code == 'p')
		add_hex(text, 0, read_number(address, 8, false));
	else if (*code == 's')
		add_text(text, read_number(address, 8, false));
	else if (*code == 'h')
		add_handle(text, read_number(address, 8, false));
	else if (*code == 'd')
		add_dimensions(text, address);
	else if (*code == 'f')
		add_float(text, (uint32_t)read_number(address, 4, false));
	else if (*code == 'u')
		text_add_number(text, TEXT_MAX, 0, read_number(address, size, false));
	else if (*code == 'x' || *code == 'c')
		add_words(text, address, size);
	else
		add_signed(text, 0, (int64_t)read_number(address, size, true));
}

static int32_t indirections_of(const char *type)
{
	int32_t count = 0;

	for (; *type && *type != ':'; type++)
		count += *type == '*';
	return count;
}

static void argument_describe(const struct argument_text *text, const unsigned char *arguments,
			      unsigned offset, struct argument_value *ret)
{
	copy_field(ret->name, text->name);
	copy_field(ret->type, text->type);
	ret->address = arguments + offset;
	ret->indirections = indirections_of(text->type);
	add_value(ret->value, text->code, ret->address, text->size);
}

/* Calls `visit` for each argument until it returns nonzero. */
typedef int visit_function(unsigned number, const struct argument_value *value, void *context);

static void each_argument(const struct signature *signature, const unsigned char *arguments,
			  visit_function *visit, void *context)
{
	const char *at = signature->text;
	struct argument_text text;
	struct argument_value value;
	unsigned offset = 0, number = 0;

	while (signature_next(&at, &text)) {
		offset = (offset + text.alignment - 1u) / text.alignment * text.alignment;
		argument_describe(&text, arguments, offset, &value);
		if (visit(number++, &value, context))
			return;
		offset += text.size;
	}
}

struct callback_visit {
	callback_argument_function *callback;
	int kind, operation;
	void *data;
};

static int visit_callback(unsigned number, const struct argument_value *value, void *context)
{
	const struct callback_visit *visit = context;

	return visit->callback(visit->kind, visit->operation, number, value->address,
			       value->indirections, value->type, value->name, value->value, 0,
			       visit->data);
}

struct buffer_visit {
	buffer_argument_function *callback;
	int kind, operation;
	void *data;
};

static int visit_buffer(unsigned number, const struct argument_value *value, void *context)
{
	const struct buffer_visit *visit = context;

	return visit->callback(visit->kind, visit->operation, number, value->address,
			       value->indirections, value->type, value->name, value->value,
			       visit->data);
}

SDK_EXPORT int
rocprofiler_iterate_callback_tracing_kind_operation_args(struct callback_record record,
							 callback_argument_function *callback,
							 int32_t dereferences, void *data);
SDK_EXPORT int rocprofiler_iterate_buffer_tracing_record_args(struct record_header header,
							      buffer_argument_function *callback,
							      void *data);

int rocprofiler_iterate_callback_tracing_kind_operation_args(struct callback_record record,
							     callback_argument_function *callback,
							     int32_t dereferences, void *data)
{
	const struct api_table *table = table_of_callback(record.kind);
	struct callback_visit visit = { callback, record.kind, record.operation, data };

	(void)dereferences; /* pointers are shown, not followed */
	if (record.kind <= 0 || record.kind >= CALLBACK_KINDS || !callback || !record.payload)
		return SDK_INVALID_ARGUMENT;
	if (!table)
		return SDK_NOT_IMPLEMENTED;
	if (record.operation < 0 || record.operation >= table->count)
		return SDK_OPERATION_NOT_FOUND;
	each_argument(&table->signatures[record.operation],
		      (const unsigned char *)record.payload + sizeof(uint64_t), visit_callback,
		      &visit);
	return SDK_SUCCESS;
}

int rocprofiler_iterate_buffer_tracing_record_args(struct record_header header,
						   buffer_argument_function *callback, void *data)
{
	const struct api_table *table = table_of_buffer((int)header.kind);
	const struct api_record *record = header.payload;
	struct buffer_visit visit = { callback, (int)header.kind, 0, data };

	if (!callback || !record || header.category != CATEGORY_TRACING)
		return SDK_INVALID_ARGUMENT;
	if (!table || tool_tables[table - api_tables].extended_kind != header.kind)
		return SDK_NOT_IMPLEMENTED;
	visit.operation = record->operation;
	if (record->operation < 0 || record->operation >= table->count)
		return SDK_OPERATION_NOT_FOUND;
	each_argument(&table->signatures[record->operation], (const unsigned char *)(record + 1),
		      visit_buffer, &visit);
	return SDK_SUCCESS;
}
