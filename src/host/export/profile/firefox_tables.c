/*
 * The shared tables of the processed profile format, version 66.  A frame of it is a location of
 * the model, so that inlined functions are frames of their own; one frame and one function more,
 * after all others, stand above stacks that are not complete.
 */
#include "host/export/profile/firefox_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INCOMPLETE      "[incomplete stack]"
#define LOCATION_UNUSED UINT32_MAX
/* Needed, and not yet written. */
#define STACK_NEEDED (STACK_NONE - 1)

enum { RESOURCE_UNKNOWN = 0, RESOURCE_LIBRARY = 1 };

int firefox_tables_init(struct firefox_tables *ret, const struct samples *samples)
{
	*ret = (struct firefox_tables){ .samples = samples };
	ret->frame_of_location =
		calloc(samples->location_count + 1, sizeof(*ret->frame_of_location));
	ret->file_of_function = calloc(samples->function_count + 1, sizeof(*ret->file_of_function));
	for (unsigned i = 0; i < ARRAY_SIZE(ret->stacks); i++)
		ret->stacks[i] = calloc(samples->stack_count + 1, sizeof(*ret->stacks[i]));
	if (!ret->frame_of_location || !ret->file_of_function || !ret->stacks[0] || !ret->stacks[1])
		return -ENOMEM;
	memset(ret->frame_of_location, 0xff,
	       samples->location_count * sizeof(*ret->frame_of_location));
	for (unsigned i = 0; i < ARRAY_SIZE(ret->stacks); i++)
		memset(ret->stacks[i], 0xff, samples->stack_count * sizeof(*ret->stacks[i]));
	for (uint32_t i = 0; i < samples->frame_count; i++)
		for (uint32_t k = 0; k < samples->frames[i].location_count; k++)
			ret->frame_of_location[samples->frames[i].first_location + k] = i;
	for (size_t i = 0; i < samples->location_count; i++)
		if (!ret->file_of_function[samples->locations[i].function] &&
		    samples->locations[i].file[0])
			ret->file_of_function[samples->locations[i].function] =
				samples->locations[i].file;
	return 0;
}

void firefox_tables_done(struct firefox_tables *tables)
{
	pool_done(&tables->texts);
	free(tables->frame_of_location);
	free(tables->file_of_function);
	for (unsigned i = 0; i < ARRAY_SIZE(tables->stacks); i++)
		free(tables->stacks[i]);
	*tables = (struct firefox_tables){ 0 };
}

void firefox_tables_need(struct firefox_tables *tables, uint32_t stack, enum stack_end end)
{
	uint32_t *stacks = tables->stacks[end != STACK_COMPLETE];

	for (; stack != STACK_NONE && stacks[stack] == STACK_NONE;
	     stack = tables->samples->stacks[stack].caller)
		stacks[stack] = STACK_NEEDED;
}

uint32_t firefox_text(struct firefox_tables *tables, const char *text)
{
	uint32_t number = pool_add(&tables->texts, text);

	tables->has_failed |= number == POOL_NONE;
	return number == POOL_NONE ? 0 : number;
}

uint32_t firefox_stack(const struct firefox_tables *tables, uint32_t stack, enum stack_end end)
{
	if (stack != STACK_NONE)
		return tables->stacks[end != STACK_COMPLETE][stack];
	return end == STACK_COMPLETE ? STACK_NONE : tables->incomplete;
}

/* The value of a row in a column. */
typedef int64_t cell_of(struct firefox_tables *tables, size_t row);

#define CELL_NULL INT64_MIN

static void write_column(struct json *json, const char *key, struct firefox_tables *tables,
			 size_t count, cell_of *cell)
{
	json_list(json, key);
	for (size_t i = 0; i < count; i++) {
		int64_t value = cell(tables, i);

		if (value == CELL_NULL)
			json_raw(json, NULL, "null");
		else
			json_signed(json, NULL, value);
	}
	json_list_end(json);
}

/* A column with the same value in each row. */
static void write_same(struct json *json, const char *key, const char *value, size_t count)
{
	json_list(json, key);
	for (size_t i = 0; i < count; i++)
		json_raw(json, NULL, value);
	json_list_end(json);
}

/* Has it addresses that mean something without the process? */
static bool is_library(const struct sample_code *code)
{
	return code->kind == CODE_FILE || code->kind == CODE_VDSO;
}

/* Breakpad's: a GUID of the first 16 bytes, whose first three numbers are little-endian, and an
 * age of 0. */
static void breakpad_id(const struct sample_code *code, char ret[34])
{
	static const unsigned char order[16] = { 3, 2, 1,  0,  5,  4,  7,  6,
						 8, 9, 10, 11, 12, 13, 14, 15 };

	for (unsigned i = 0; i < sizeof(order); i++)
		snprintf(ret + 2 * i, 3, "%02X",
			 order[i] < code->build_id_size ? code->build_id[order[i]] : 0);
	memcpy(ret + 32, "0", 2);
}

static void write_lib(struct json *json, const struct sample_code *code)
{
	char build_id[BUILD_ID_TEXT_MAX], id[34];

	build_id_text(code->build_id, code->build_id_size, build_id);
	breakpad_id(code, id);
	json_object(json, NULL);
	json_raw(json, "arch", "null");
	json_text(json, "name", code->name);
	json_text(json, "path", code->path);
	json_text(json, "debugName", code->name);
	json_text(json, "debugPath", code->path);
	json_text(json, "breakpadId", id);
	if (build_id[0])
		json_text(json, "codeId", build_id);
	else
		json_raw(json, "codeId", "null");
	json_object_end(json);
}

void firefox_write_libs(struct json *json, const struct firefox_tables *tables)
{
	json_list(json, "libs");
	for (size_t i = 0; i < tables->samples->code_count; i++)
		write_lib(json, &tables->samples->codes[i]);
	json_list_end(json);
}

static int64_t resource_type(struct firefox_tables *tables, size_t code)
{
	return is_library(&tables->samples->codes[code]) ? RESOURCE_LIBRARY : RESOURCE_UNKNOWN;
}

static int64_t resource_library(struct firefox_tables *tables, size_t code)
{
	return is_library(&tables->samples->codes[code]) ? (int64_t)code : CELL_NULL;
}

static int64_t resource_name(struct firefox_tables *tables, size_t code)
{
	return firefox_text(tables, tables->samples->codes[code].name);
}

/* One for each code; its number is also that of the library. */
static void write_resources(struct json *json, struct firefox_tables *tables)
{
	size_t count = tables->samples->code_count;

	json_object(json, "resourceTable");
	write_column(json, "type", tables, count, resource_type);
	write_column(json, "lib", tables, count, resource_library);
	write_column(json, "name", tables, count, resource_name);
	write_same(json, "host", "null", count);
	json_number(json, "length", count);
	json_object_end(json);
}

/* One source for each function that has a file: simple, and the reader does not mind. */
static void write_sources(struct json *json, struct firefox_tables *tables)
{
	size_t functions = tables->samples->function_count, count = 0;

	json_object(json, "sources");
	json_list(json, "filename");
	for (size_t i = 0; i < functions; i++)
		if (tables->file_of_function[i]) {
			json_number(json, NULL, firefox_text(tables, tables->file_of_function[i]));
			count++;
		}
	json_list_end(json);
	write_same(json, "id", "null", count);
	write_same(json, "startLine", "1", count);
	write_same(json, "startColumn", "1", count);
	write_same(json, "sourceMapURL", "null", count);
	write_same(json, "content", "null", count);
	json_number(json, "length", count);
	json_object_end(json);
}

static bool is_last_function(const struct firefox_tables *tables, size_t function)
{
	return function == tables->samples->function_count;
}

static int64_t function_name(struct firefox_tables *tables, size_t function)
{
	return firefox_text(tables, is_last_function(tables, function)
					    ? INCOMPLETE
					    : tables->samples->functions[function].name);
}

static int64_t function_resource(struct firefox_tables *tables, size_t function)
{
	if (is_last_function(tables, function))
		return -1;
	return tables->samples->functions[function].code;
}

/* Functions are visited in order. */
static int64_t function_source(struct firefox_tables *tables, size_t function)
{
	return tables->file_of_function[function] ? tables->source_count++ : CELL_NULL;
}

static void write_functions(struct json *json, struct firefox_tables *tables)
{
	size_t count = tables->samples->function_count + 1;

	json_object(json, "funcTable");
	write_column(json, "name", tables, count, function_name);
	write_column(json, "resource", tables, count, function_resource);
	write_column(json, "source", tables, count, function_source);
	write_same(json, "isJS", "false", count);
	write_same(json, "relevantForJS", "false", count);
	write_same(json, "lineNumber", "null", count);
	write_same(json, "columnNumber", "null", count);
	write_same(json, "originalLocation", "null", count);
	json_number(json, "length", count);
	json_object_end(json);
}

/* NULL: the last row, or no stack has it. */
static const struct sample_frame *frame_of(const struct firefox_tables *tables, size_t location)
{
	uint32_t frame = location < tables->samples->location_count
				 ? tables->frame_of_location[location]
				 : LOCATION_UNUSED;

	return frame == LOCATION_UNUSED ? NULL : &tables->samples->frames[frame];
}

static int64_t frame_address(struct firefox_tables *tables, size_t location)
{
	const struct sample_frame *frame = frame_of(tables, location);

	if (!frame || !is_library(&tables->samples->codes[frame->code]))
		return -1;
	/* Of the call, not of the instruction after it. */
	return (int64_t)(frame->address - (frame->is_return && frame->address));
}

static int64_t frame_category(struct firefox_tables *tables, size_t location)
{
	static const unsigned categories[CODE_KINDS] = { [CODE_UNKNOWN] = FIREFOX_OTHER,
							 [CODE_FILE] = FIREFOX_USER,
							 [CODE_VDSO] = FIREFOX_USER,
							 [CODE_JIT] = FIREFOX_GENERATED,
							 [CODE_KERNEL] = FIREFOX_KERNEL };
	const struct sample_frame *frame = frame_of(tables, location);

	return frame ? categories[tables->samples->codes[frame->code].kind] : FIREFOX_OTHER;
}

/* The outermost of the functions at an address is the one that was called. */
static int64_t frame_depth(struct firefox_tables *tables, size_t location)
{
	const struct sample_frame *frame = frame_of(tables, location);

	return frame ? frame->location_count - 1 - (uint32_t)(location - frame->first_location) : 0;
}

static int64_t frame_function(struct firefox_tables *tables, size_t location)
{
	const struct samples *samples = tables->samples;

	return location < samples->location_count ? samples->locations[location].function
						  : (int64_t)samples->function_count;
}

static int64_t frame_line(struct firefox_tables *tables, size_t location)
{
	const struct samples *samples = tables->samples;

	return location < samples->location_count && samples->locations[location].line
		       ? samples->locations[location].line
		       : CELL_NULL;
}

static void write_frames(struct json *json, struct firefox_tables *tables)
{
	size_t count = tables->samples->location_count + 1;

	json_object(json, "frameTable");
	write_column(json, "address", tables, count, frame_address);
	write_column(json, "inlineDepth", tables, count, frame_depth);
	write_column(json, "category", tables, count, frame_category);
	write_column(json, "func", tables, count, frame_function);
	write_column(json, "line", tables, count, frame_line);
	write_same(json, "subcategory", "0", count);
	write_same(json, "nativeSymbol", "null", count);
	write_same(json, "innerWindowID", "null", count);
	write_same(json, "column", "null", count);
	write_same(json, "originalLocation", "null", count);
	json_number(json, "length", count);
	json_object_end(json);
}

/* Rows of the table of stacks: a frame, and how far back the one is that called it; 0: none did. */
struct stack_rows {
	struct json *json;
	struct firefox_tables *tables;
	bool is_offsets; /* the second column, else the first */
	uint32_t count;
};

static void write_row(struct stack_rows *self, size_t frame, uint32_t caller)
{
	if (!self->is_offsets)
		json_number(self->json, NULL, frame);
	else
		json_number(self->json, NULL, caller == STACK_NONE ? 0 : self->count - caller);
	self->count++;
}

/* The functions at the address of its frame, outermost first. */
static void write_stack(struct stack_rows *self, uint32_t *stacks, uint32_t number, uint32_t root)
{
	const struct samples *samples = self->tables->samples;
	const struct sample_stack *stack = &samples->stacks[number];
	const struct sample_frame *frame = &samples->frames[stack->frame];
	uint32_t caller = stack->caller == STACK_NONE ? root : stacks[stack->caller];

	for (uint32_t i = frame->location_count; i-- > 0;) {
		write_row(self, (size_t)frame->first_location + i, caller);
		caller = self->count - 1;
	}
	stacks[number] = caller;
}

/* Callers come before their callees.  Both passes assign each stack the same index. */
static void write_stack_column(struct stack_rows *self, const char *key)
{
	const struct samples *samples = self->tables->samples;

	self->count = 0;
	json_list(self->json, key);
	for (unsigned kind = 0; kind < ARRAY_SIZE(self->tables->stacks); kind++) {
		uint32_t *stacks = self->tables->stacks[kind], root = STACK_NONE;

		if (kind) {
			root = self->tables->incomplete = self->count;
			write_row(self, samples->location_count, STACK_NONE);
		}
		for (uint32_t i = 0; i < samples->stack_count; i++)
			if (stacks[i] != STACK_NONE)
				write_stack(self, stacks, i, root);
	}
	json_list_end(self->json);
}

static void write_stacks(struct json *json, struct firefox_tables *tables)
{
	struct stack_rows rows = { .json = json, .tables = tables };

	json_object(json, "stackTable");
	write_stack_column(&rows, "frame");
	rows.is_offsets = true;
	write_stack_column(&rows, "prefixOffset");
	json_number(json, "length", rows.count);
	json_object_end(json);
}

static void write_empty(struct json *json, const char *key, const char *const *columns)
{
	json_object(json, key);
	for (; *columns; columns++)
		write_same(json, *columns, "", 0);
	json_number(json, "length", 0);
	json_object_end(json);
}

void firefox_write_tables(struct json *json, struct firefox_tables *tables)
{
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize",
					       NULL };
	static const char *const locations[] = { "source", "line", "column", NULL };

	write_stacks(json, tables);
	write_frames(json, tables);
	write_functions(json, tables);
	write_resources(json, tables);
	write_sources(json, tables);
	write_empty(json, "nativeSymbols", symbols);
	write_empty(json, "sourceLocationTable", locations);
}

void firefox_write_texts(struct json *json, const struct firefox_tables *tables)
{
	json_list(json, "stringArray");
	for (size_t i = 0; i < tables->texts.count; i++)
		json_text(json, NULL, tables->texts.texts[i]);
	json_list_end(json);
}
