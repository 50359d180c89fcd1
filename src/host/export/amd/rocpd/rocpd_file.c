/*
 * SQLite, the little that is needed to write.
 */
#include "host/export/amd/rocpd/rocpd_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/bytes.h"
#include "host/core/cleanup.h"
#include "host/core/output/output_file.h"
#include "host/core/text/utf8.h"

#define COLUMNS_MAX  32
#define STEADY_FILES "limpet"

/* The columns given for a row; the others have the table's defaults. */
static const struct insert_words {
	const char *table, *columns;
} inserts[INSERTS] = {
	[INSERT_METADATA] = { "metadata", "tag, value" },
	[INSERT_STRING] = { "string", "id, string" },
	[INSERT_NODE] = { "info_node",
			  "id, hash, machine_id, system_name, hostname, release, version, "
			  "hardware_name, domain_name" },
	[INSERT_PROCESS] = { "info_process",
			     "id, nid, ppid, pid, init, fini, start, \"end\", command, "
			     "environment, extdata" },
	[INSERT_THREAD] = { "info_thread", "id, nid, ppid, pid, tid, name" },
	[INSERT_AGENT] = { "info_agent",
			   "id, nid, pid, type, absolute_index, logical_index, type_index, uuid, "
			   "name, model_name, vendor_name, product_name, user_name, extdata" },
	[INSERT_QUEUE] = { "info_queue", "id, nid, pid, name" },
	[INSERT_STREAM] = { "info_stream", "id, nid, pid, name" },
	[INSERT_CODE_OBJECT] = { "info_code_object", "id, nid, pid" },
	[INSERT_SYMBOL] = { "info_kernel_symbol",
			    "id, nid, pid, code_object_id, kernel_name, display_name, extdata" },
	[INSERT_TRACK] = { "track", "id, nid, pid, tid, name_id" },
	[INSERT_EVENT] = { "event", "id, category_id, stack_id, parent_stack_id, correlation_id" },
	[INSERT_EVENT_WITH_NOTES] = { "event", "id, category_id, stack_id, parent_stack_id, "
					       "correlation_id, call_stack, extdata" },
	[INSERT_ARG] = { "arg", "event_id, position, type, name, value" },
	[INSERT_REGION] = { "region", "nid, pid, tid, start, \"end\", name_id, event_id" },
	[INSERT_SAMPLE] = { "sample", "track_id, timestamp, event_id" },
	[INSERT_KERNEL] = { "kernel_dispatch",
			    "nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, "
			    "start, \"end\", private_segment_size, group_segment_size, "
			    "workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, "
			    "grid_size_y, grid_size_z, region_name_id, event_id" },
	[INSERT_PMC] = { "info_pmc",
			 "id, nid, pid, agent_id, target_arch, name, symbol, description, component, "
			 "value_type, block, expression, is_constant, is_derived" },
	[INSERT_PMC_EVENT] = { "pmc_event", "event_id, pmc_id, value" },
	[INSERT_COPY] = { "memory_copy",
			  "nid, pid, tid, start, \"end\", name_id, dst_agent_id, dst_address, "
			  "src_agent_id, src_address, size, queue_id, stream_id, region_name_id, "
			  "event_id" },
	[INSERT_MEMORY] = { "memory_allocate",
			    "nid, pid, tid, agent_id, type, level, start, \"end\", address, size, "
			    "queue_id, stream_id, event_id, extdata" },
};

/* A full disk is reported as such, whatever SQLite's error. */
static int rocpd_file_explain(const struct rocpd_file *file, struct err *err)
{
	int code = sqlite3_errcode(file->database), system = sqlite3_system_errno(file->database);

	if (code == SQLITE_FULL)
		system = ENOSPC;
	if (code == SQLITE_NOMEM)
		system = ENOMEM;
	if (system)
		return output_explain(-system, file->path, err);
	return err_set(err, -EIO, "write '%s': %s", file->path, sqlite3_errmsg(file->database));
}

static int rocpd_file_run(struct rocpd_file *file, const char *statement, struct err *err)
{
	return sqlite3_exec(file->database, statement, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : rocpd_file_explain(file, err);
}

/* "@name" becomes a reference to that table. */
static void put_columns(const struct rocpd_file *file, const char *columns, struct bytes *out)
{
	for (const char *at = columns; *at; at++) {
		char reference[160];
		size_t length;

		if (*at != '@') {
			bytes_put(out, at, 1);
			continue;
		}
		length = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
		snprintf(reference, sizeof(reference),
			 "REFERENCES \"rocpd_%.*s%s\" (id) ON UPDATE CASCADE", (int)length, at + 1,
			 file->suffix);
		bytes_put(out, reference, strlen(reference));
		at += length;
	}
}

static int make_plain_view(struct rocpd_file *file, const char *name, struct err *err)
{
	char statement[256];

	snprintf(statement, sizeof(statement),
		 "CREATE VIEW \"rocpd_%s\" AS SELECT * FROM \"rocpd_%s%s\"", name, name,
		 file->suffix);
	return rocpd_file_run(file, statement, err);
}

static int make_table(struct rocpd_file *file, const struct rocpd_table *table, struct err *err)
{
	CLEANUP(bytes_done) struct bytes statement = { 0 };
	char head[320];

	snprintf(head, sizeof(head),
		 "CREATE TABLE \"rocpd_%s%s\" (id INTEGER NOT NULL PRIMARY KEY, "
		 "guid TEXT DEFAULT '%s' NOT NULL, ",
		 table->name, file->suffix, file->guid);
	bytes_put(&statement, head, strlen(head));
	put_columns(file, table->columns, &statement);
	bytes_put(&statement, ")", 1);
	bytes_put(&statement, "", 1);
	if (statement.has_failed)
		return output_explain(-ENOMEM, file->path, err);
	return rocpd_file_run(file, (const char *)statement.data, err);
}

static int make_metadata(struct rocpd_file *file, struct err *err)
{
	char statement[256];

	snprintf(statement, sizeof(statement),
		 "CREATE TABLE \"rocpd_metadata%s\" (id INTEGER NOT NULL PRIMARY KEY "
		 "AUTOINCREMENT, tag TEXT NOT NULL, value TEXT NOT NULL)",
		 file->suffix);
	return rocpd_file_run(file, statement, err);
}

static int make_tables(struct rocpd_file *file, struct err *err)
{
	int r = make_metadata(file, err);

	for (const struct rocpd_table *table = rocpd_tables; !r && table->name; table++)
		r = make_table(file, table, err);
	return r;
}

static unsigned count_columns(const char *columns)
{
	unsigned count = 1;

	for (; *columns; columns++)
		count += *columns == ',';
	return count;
}

static int rocpd_file_prepare(struct rocpd_file *file, enum rocpd_insert which, struct err *err)
{
	char statement[768], parameters[2 * COLUMNS_MAX + 1] = "";
	unsigned count = count_columns(inserts[which].columns);

	for (unsigned i = 0; i < count && i < COLUMNS_MAX; i++) {
		parameters[2 * i] = i ? ',' : ' ';
		parameters[2 * i + 1] = '?';
	}
	snprintf(statement, sizeof(statement), "INSERT INTO \"rocpd_%s%s\" (%s) VALUES (%s)",
		 inserts[which].table, file->suffix, inserts[which].columns, parameters);
	return sqlite3_prepare_v3(file->database, statement, -1, SQLITE_PREPARE_PERSISTENT,
				  &file->inserts[which], NULL) == SQLITE_OK
		       ? 0
		       : rocpd_file_explain(file, err);
}

static int put_metadata(struct rocpd_file *file, struct err *err)
{
	const char *rows[][2] = { { "schema_version", "3.0.1" },
				  { "uuid", file->suffix },
				  { "guid", file->guid } };
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(rows); i++)
		r = rocpd_insert(file, INSERT_METADATA,
				 (struct rocpd_cell[]){ TEXT(rows[i][0]), TEXT(rows[i][1]) }, err);
	return r;
}

static void choose_names(struct rocpd_file *file, const char *guid)
{
	snprintf(file->guid, sizeof(file->guid), "%s", guid);
	snprintf(file->suffix, sizeof(file->suffix), "_%s", file->guid);
	for (char *at = file->suffix; *at; at++)
		if (*at == '-')
			*at = '_';
}

static int as_given(sqlite3_vfs *vfs, const char *path, int room, char *ret)
{
	(void)vfs;
	return snprintf(ret, (size_t)room, "%s", path) < room ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* SQLite would resolve the true path of a file, which others may change meanwhile. */
static void make_steady_files(void)
{
	static sqlite3_vfs steady;
	const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

	if (!usual)
		return;
	steady = *usual;
	steady.pNext = NULL;
	steady.zName = STEADY_FILES;
	steady.xFullPathname = as_given;
	sqlite3_vfs_register(&steady, /* is default */ 0);
}

int rocpd_open(struct rocpd_file *ret, const char *path, const char *shown, const char *guid,
	       struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int r;

	*ret = (struct rocpd_file){ .path = shown };
	pthread_once(&once, make_steady_files);
	choose_names(ret, guid);
	if (sqlite3_open_v2(path, &ret->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			    STEADY_FILES) != SQLITE_OK)
		return rocpd_file_explain(ret, err);
	r = rocpd_file_run(
		ret,
		"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
		"PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536; "
		"PRAGMA foreign_keys = OFF; PRAGMA application_id = " ROCPD_APPLICATION_ID
		"; BEGIN",
		err);
	if (!r)
		r = make_tables(ret, err);
	for (unsigned i = 0; !r && i < INSERTS; i++)
		r = rocpd_file_prepare(ret, i, err);
	return r ? r : put_metadata(ret, err);
}

/* Texts must be UTF-8 for readers. */
static int bind_mended(sqlite3_stmt *statement, int index, const char *text)
{
	char *mended = utf8_mended(text);

	return mended ? sqlite3_bind_text(statement, index, mended, -1, free) : SQLITE_NOMEM;
}

static int rocpd_file_bind(sqlite3_stmt *statement, int index, const struct rocpd_cell *cell)
{
	if (cell->kind == CELL_NUMBER)
		return sqlite3_bind_int64(statement, index, cell->number);
	if (cell->kind == CELL_REAL)
		return sqlite3_bind_double(statement, index, cell->real);
	if (cell->kind == CELL_TEXT && cell->text && !utf8_is_valid(cell->text))
		return bind_mended(statement, index, cell->text);
	if (cell->kind == CELL_TEXT && cell->text)
		return sqlite3_bind_text(statement, index, cell->text, -1, SQLITE_STATIC);
	return sqlite3_bind_null(statement, index);
}

int rocpd_insert(struct rocpd_file *file, enum rocpd_insert which, const struct rocpd_cell *cells,
		 struct err *err)
{
	sqlite3_stmt *statement = file->inserts[which];
	int count = sqlite3_bind_parameter_count(statement), code = SQLITE_OK;

	for (int i = 0; code == SQLITE_OK && i < count; i++)
		code = rocpd_file_bind(statement, i + 1, &cells[i]);
	if (code == SQLITE_OK)
		code = sqlite3_step(statement);
	sqlite3_reset(statement);
	file->rows++;
	return code == SQLITE_DONE ? 0 : rocpd_file_explain(file, err);
}

static int make_views(struct rocpd_file *file, struct err *err)
{
	int r = make_plain_view(file, "metadata", err);

	for (const struct rocpd_table *table = rocpd_tables; !r && table->name; table++)
		r = make_plain_view(file, table->name, err);
	for (const struct rocpd_view *view = rocpd_views; !r && view->name; view++) {
		char statement[4096];

		snprintf(statement, sizeof(statement), "CREATE VIEW \"%s\" AS %s", view->name,
			 view->query);
		r = rocpd_file_run(file, statement, err);
	}
	return r;
}

/* For the views' searches by event. */
static int make_indexes(struct rocpd_file *file, struct err *err)
{
	static const char *const tables[] = { "arg", "pmc_event" };
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(tables); i++) {
		char statement[320];

		snprintf(statement, sizeof(statement),
			 "CREATE INDEX \"rocpd_%s%s_event_id_idx\" ON \"rocpd_%s%s\" (event_id)",
			 tables[i], file->suffix, tables[i], file->suffix);
		r = rocpd_file_run(file, statement, err);
	}
	return r;
}

int rocpd_finish(struct rocpd_file *file, struct err *err)
{
	int r = make_indexes(file, err);

	if (!r)
		r = make_views(file, err);
	return r ? r : rocpd_file_run(file, "COMMIT", err);
}

void rocpd_close(struct rocpd_file *file)
{
	for (unsigned i = 0; i < INSERTS; i++)
		sqlite3_finalize(file->inserts[i]);
	sqlite3_close_v2(file->database);
	*file = (struct rocpd_file){ 0 };
}
