/*
 * The names of one module's code.  Its files are opened at once, while the process that uses it
 * lives; they are read when a name is needed.  A file can be closed, and opens again for the next
 * name.
 */
#pragma once

#include "host/symbols/elf/debuginfod.h"
#include "host/symbols/lines.h"

#include <sys/types.h>

/* The possible locations of a module's bytes and its debug information. */
struct symbol_origin {
	const char *path;              /* as the process sees it */
	const char *image_path;        /* how its bytes can be opened now; NULL: only by its path */
	pid_t pid;                     /* path is in its root; 0: limpet's */
	const unsigned char *build_id; /* of the mapped file */
	size_t build_id_size;          /* 0: not known */
};

struct symbol_file;

/* NULL: no memory.  A file that cannot be opened is one without names. */
struct symbol_file *symbol_file_new(const struct symbol_origin *origin);
/* The kernel's code in every process. */
struct symbol_file *symbol_file_vdso(void);
void symbol_file_free(struct symbol_file *file);

/* Frees what was read, and closes the files; not those of the vdso, which is in memory only. */
void symbol_file_close(struct symbol_file *file);
bool symbol_file_is_open(const struct symbol_file *file);
/* Memory that its names and lines need, as far as they were read. */
size_t symbol_file_bytes(const struct symbol_file *file);

/* Its mangled name, or ""; *ret_start is where the function begins, also where it has no name.
 * False when not even that is known. */
bool symbol_file_find(struct symbol_file *file, uint64_t address, const char **ret_name,
		      uint64_t *ret_start);

/* From now on, lines are read by this one; NULL: there are none.  Once, before the first file. */
void symbol_file_read_lines_by(const struct line_reader *reader);

/* From now on, missing debug files are requested when a name is needed; NULL: no longer.  Once,
 * before the first file. */
void symbol_file_use_server(struct debuginfod *debuginfod);

/* As find() of the reader of lines. */
size_t symbol_file_lines(struct symbol_file *file, uint64_t address, struct source_location *ret,
			 size_t room);
