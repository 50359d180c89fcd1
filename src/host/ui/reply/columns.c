/*
 * Writes tables.
 */
#include "host/ui/reply/columns.h"

#include "host/core/room.h"
#include "host/core/text/foreign.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX    8192u
#define HEAD_SIZE   16u
#define ENTRY_SIZE  32u
#define NAME_SIZE   16u
#define VERSION     1u
#define JSON_DIGITS 6u

static const size_t value_sizes[] = {
	[COLUMN_U8] = 1,
	[COLUMN_U32] = 4,
	[COLUMN_F64] = 8,
	[COLUMN_TEXTS] = 4,
};

int columns_init(struct columns *ret)
{
	*ret = (struct columns){ 0 };
	ret->facts.out = open_memstream(&ret->fact_text, &ret->fact_size);
	if (!ret->facts.out)
		return -ENOMEM;
	json_object(&ret->facts, NULL);
	return 0;
}

void columns_done(struct columns *columns)
{
	if (columns->facts.out)
		fclose(columns->facts.out);
	free(columns->fact_text);
	for (unsigned i = 0; i < columns->count; i++) {
		free(columns->items[i].values);
		free(columns->items[i].bytes);
	}
	*columns = (struct columns){ 0 };
}

unsigned columns_add(struct columns *columns, const char *name, enum column_type type)
{
	columns->items[columns->count] = (struct column){ .name = name, .type = type };
	return columns->count++;
}

/* The slot of the next value; NULL: it failed. */
static void *value_make(struct columns *columns, unsigned number)
{
	struct column *column = &columns->items[number];
	size_t size = value_sizes[column->type];

	if (columns->has_failed || make_room(&column->values, column->count, &column->room, size)) {
		columns->has_failed = true;
		return NULL;
	}
	return (char *)column->values + size * column->count++;
}

void columns_begin(struct columns *columns, const struct column_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		columns_add(columns, names[i].name, names[i].type);
	columns->row_count = columns->count;
}

static unsigned next_cell(struct columns *columns)
{
	unsigned number = columns->next;

	columns->next = (number + 1) % columns->row_count;
	return number;
}

void cell_u8(struct columns *columns, uint8_t value)
{
	uint8_t *at = value_make(columns, next_cell(columns));

	if (at)
		*at = value;
}

void cell_u32(struct columns *columns, uint32_t value)
{
	uint32_t *at = value_make(columns, next_cell(columns));

	if (at)
		*at = value;
}

void cell_f64(struct columns *columns, double value)
{
	double *at = value_make(columns, next_cell(columns));

	if (at)
		*at = value;
}

void cell_text(struct columns *columns, const char *text)
{
	column_text(columns, next_cell(columns), text);
}

static int bytes_append(struct column *column, const char *text, size_t size)
{
	while (column->byte_room < column->byte_count + size) {
		size_t room = MAX(column->byte_room * 2, 4096u);
		char *longer = realloc(column->bytes, room);

		if (!longer)
			return -ENOMEM;
		column->bytes = longer;
		column->byte_room = room;
	}
	memcpy(column->bytes + column->byte_count, text, size);
	column->byte_count += size;
	return 0;
}

void column_text(struct columns *columns, unsigned number, const char *text)
{
	struct column *column = &columns->items[number];
	char clean[TEXT_MAX];
	uint32_t *end;

	foreign_copy(clean, sizeof(clean), text);
	if (bytes_append(column, clean, strlen(clean)) || column->byte_count > INT32_MAX)
		columns->has_failed = true;
	end = value_make(columns, number);
	if (end)
		*end = (uint32_t)column->byte_count;
}

void *column_fill(struct columns *columns, unsigned number, size_t count)
{
	struct column *column = &columns->items[number];

	free(column->values);
	column->values = calloc(count + 1, value_sizes[column->type]);
	columns->has_failed |= !column->values;
	column->count = column->room = column->values ? count : 0;
	return column->values;
}

void column_pool(struct columns *columns, unsigned column, const struct pool *pool)
{
	for (uint32_t i = 0; i < pool->count; i++)
		column_text(columns, column, pool_text(pool, i));
}

static void json_value(struct json *json, double value)
{
	if (isnan(value) || isinf(value))
		json_raw(json, NULL, "null");
	else if (value == (double)(int64_t)value)
		json_signed(json, NULL, (int64_t)value);
	else
		json_rounded(json, NULL, value, JSON_DIGITS);
}

static void json_texts(struct json *json, const struct column *column)
{
	const uint32_t *ends = column->values;
	char text[TEXT_MAX];

	for (size_t i = 0; i < column->count; i++) {
		uint32_t begin = i ? ends[i - 1] : 0;
		size_t size = MIN(ends[i] - begin, sizeof(text) - 1);

		if (size)
			memcpy(text, column->bytes + begin, size);
		text[size] = '\0';
		json_text(json, NULL, text);
	}
}

static void json_column(struct json *json, const struct column *column)
{
	json_list(json, column->name);
	if (column->type == COLUMN_TEXTS)
		json_texts(json, column);
	for (size_t i = 0; column->type == COLUMN_U8 && i < column->count; i++)
		json_number(json, NULL, ((const uint8_t *)column->values)[i]);
	for (size_t i = 0; column->type == COLUMN_U32 && i < column->count; i++)
		json_number(json, NULL, ((const uint32_t *)column->values)[i]);
	for (size_t i = 0; column->type == COLUMN_F64 && i < column->count; i++)
		json_value(json, ((const double *)column->values)[i]);
	json_list_end(json);
}

static size_t column_size(const struct column *column)
{
	return column->count * value_sizes[column->type] + column->byte_count;
}

static size_t size_align(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static void number_write(FILE *out, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, out);
}

static void padding_write(FILE *out, size_t written)
{
	static const char zeros[8];

	fwrite(zeros, size_align(written) - written, 1, out);
}

static void entry_write(FILE *out, const struct column *column, size_t offset)
{
	char name[NAME_SIZE] = "";

	snprintf(name, sizeof(name), "%s", column->name);
	fwrite(name, sizeof(name), 1, out);
	number_write(out, column->type);
	number_write(out, (uint32_t)column->count);
	number_write(out, (uint32_t)offset);
	number_write(out, (uint32_t)column_size(column));
}

static void column_write(FILE *out, const struct column *column)
{
	size_t values = column->count * value_sizes[column->type];

	if (values)
		fwrite(column->values, values, 1, out);
	if (column->byte_count)
		fwrite(column->bytes, column->byte_count, 1, out);
	padding_write(out, column_size(column));
}

static size_t total_size(const struct columns *columns)
{
	size_t size = size_align(HEAD_SIZE + ENTRY_SIZE * columns->count + columns->fact_size);

	for (unsigned i = 0; i < columns->count; i++)
		size += size_align(column_size(&columns->items[i]));
	return size;
}

/* Machines of either byte order that limpet runs on are little-endian. */
static int binary_write(const struct columns *columns, FILE *out)
{
	size_t before = HEAD_SIZE + ENTRY_SIZE * columns->count + columns->fact_size;
	size_t offset = size_align(before);

	if (total_size(columns) > INT32_MAX)
		return -EFBIG;
	fputs("LMPC", out);
	number_write(out, VERSION | columns->count << 16);
	number_write(out, (uint32_t)columns->fact_size);
	number_write(out, (uint32_t)total_size(columns));
	for (unsigned i = 0; i < columns->count; i++) {
		entry_write(out, &columns->items[i], offset);
		offset += size_align(column_size(&columns->items[i]));
	}
	fwrite(columns->fact_text, columns->fact_size, 1, out);
	padding_write(out, before);
	for (unsigned i = 0; i < columns->count; i++)
		column_write(out, &columns->items[i]);
	return 0;
}

int columns_write(struct columns *columns, bool is_json, FILE *out)
{
	if (columns->has_failed)
		return -ENOMEM;
	if (is_json) {
		json_object(&columns->facts, "columns");
		for (unsigned i = 0; i < columns->count; i++)
			json_column(&columns->facts, &columns->items[i]);
		json_object_end(&columns->facts);
	}
	json_object_end(&columns->facts);
	if (fflush(columns->facts.out) || ferror(columns->facts.out))
		return -ENOMEM;
	if (!is_json)
		return binary_write(columns, out);
	fwrite(columns->fact_text, columns->fact_size, 1, out);
	return 0;
}
