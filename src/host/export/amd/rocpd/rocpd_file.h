/*
 * A rocpd database being written: tables, views, rows.  One transaction, no journal: no other
 * process opens the file until it is complete.
 */
#pragma once

#include "host/core/err.h"

#include <sqlite3.h>
#include <stdbool.h>

#define ROCPD_GUID_BYTES 37u

/* In the database's head: marks limpet's own files. */
#define ROCPD_APPLICATION    "limp"
#define ROCPD_APPLICATION_ID "0x6c696d70"

enum rocpd_insert {
	INSERT_METADATA,
	INSERT_STRING,
	INSERT_NODE,
	INSERT_PROCESS,
	INSERT_THREAD,
	INSERT_AGENT,
	INSERT_QUEUE,
	INSERT_STREAM,
	INSERT_CODE_OBJECT,
	INSERT_SYMBOL,
	INSERT_TRACK,
	INSERT_EVENT,
	INSERT_EVENT_WITH_NOTES,
	INSERT_ARG,
	INSERT_REGION,
	INSERT_SAMPLE,
	INSERT_KERNEL,
	INSERT_PMC,
	INSERT_PMC_EVENT,
	INSERT_COPY,
	INSERT_MEMORY,
	INSERTS,
};

/* One value of a row. */
struct rocpd_cell {
	enum { CELL_NULL, CELL_NUMBER, CELL_REAL, CELL_TEXT } kind;
	int64_t number;
	double real;
	const char *text; /* must live until the row is inserted */
};

#define NUMBER(value) ((struct rocpd_cell){ .kind = CELL_NUMBER, .number = (int64_t)(value) })
#define REAL(value)   ((struct rocpd_cell){ .kind = CELL_REAL, .real = (value) })
#define TEXT(value)   ((struct rocpd_cell){ .kind = CELL_TEXT, .text = (value) })
#define NOTHING       ((struct rocpd_cell){ .kind = CELL_NULL })

struct rocpd_file {
	const char *path; /* for words */
	sqlite3 *database;
	sqlite3_stmt *inserts[INSERTS];
	char guid[ROCPD_GUID_BYTES];
	char suffix[ROCPD_GUID_BYTES + 1]; /* of tables: '_', then the guid with underscores */
	uint64_t rows;
};

/* The file must exist and be empty.  The guid is text of its usual form. */
int rocpd_open(struct rocpd_file *ret, const char *path, const char *shown, const char *guid,
	       struct err *err) MUST_CHECK;

/* A row with as many cells as the insert has columns (rocpd_file.c). */
int rocpd_insert(struct rocpd_file *file, enum rocpd_insert which, const struct rocpd_cell *cells,
		 struct err *err) MUST_CHECK;

/* Indexes, views, and the end of the transaction. */
int rocpd_finish(struct rocpd_file *file, struct err *err) MUST_CHECK;
void rocpd_close(struct rocpd_file *file);

/* The tables and views of schema 3 (rocpd_schema.c). */
struct rocpd_table {
	const char *name;    /* without "rocpd_" and the suffix of the file */
	const char *columns; /* without id and guid; "@name" is a reference to that table's id */
};

/* In an order in which references point back; each ends with an entry without a name. */
extern const struct rocpd_table rocpd_tables[];

struct rocpd_view {
	const char *name;
	const char *query; /* over tables by their plain names, and over views before it */
};

extern const struct rocpd_view rocpd_views[];
