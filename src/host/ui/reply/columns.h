/*
 * A table as an answer: an object of facts and named columns, written as JSON or as the binary
 * container that the page reads without decoding (docs/ui-api.md).  Text in it is foreign and
 * cleaned when it is added.
 */
#pragma once

#include "host/core/pool.h"
#include "host/core/text/json.h"

#define COLUMNS_MAX 16u

enum column_type { COLUMN_U8 = 1, COLUMN_U32, COLUMN_F64, COLUMN_TEXTS };

struct column {
	const char *name; /* at most 15 letters */
	enum column_type type;
	size_t count, room; /* values; of texts their ends */
	void *values;
	char *bytes; /* of texts */
	size_t byte_count, byte_room;
};

/* After a failure all calls do nothing, and columns_write() reports it: no other check is
 * needed. */
struct columns {
	struct column items[COLUMNS_MAX];
	unsigned count, row_count, next; /* next: among those of rows */
	bool has_failed;
	struct json facts; /* the object is open */
	char *fact_text;
	size_t fact_size;
};

/* 0 or -ENOMEM. */
int columns_init(struct columns *ret) MUST_CHECK;
void columns_done(struct columns *columns);

/* The number of the new column. */
unsigned columns_add(struct columns *columns, const char *name, enum column_type type);

/* Columns of a table's rows, before all other columns; may be called again for more of them. */
struct column_name {
	const char *name;
	enum column_type type;
};
void columns_begin(struct columns *columns, const struct column_name *names, size_t count);

/* The next cell of a row, in the order of these columns. */
void cell_u8(struct columns *columns, uint8_t value);
void cell_u32(struct columns *columns, uint32_t value);
void cell_f64(struct columns *columns, double value);
void cell_text(struct columns *columns, const char *text);

void column_text(struct columns *columns, unsigned column, const char *text);
/* So many zeros, to be filled in; NULL: no memory. */
void *column_fill(struct columns *columns, unsigned column, size_t count);
/* All texts of a pool. */
void column_pool(struct columns *columns, unsigned column, const struct pool *pool);

/* Closes the facts.  0 or -ENOMEM; the caller checks `out` for errors. */
int columns_write(struct columns *columns, bool is_json, FILE *out) MUST_CHECK;
