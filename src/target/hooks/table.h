/*
 * The backend for tables of function pointers, as GPU runtimes have them: each entry is a word.
 */
#pragma once

#include "target/hooks/got/got.h"

/*
 * Hooks the entry of a table; what is stored there takes effect with the next call.  Memory that is
 * read-only is so again afterwards.  -ENOENT when it is empty, -EACCES, -ENOSPC, -EEXIST when it is
 * hooked already, -EAGAIN when somebody changes it at the same time.
 */
int table_hook(uint64_t *entry, const struct traced *traced, const char *name,
	       const char *library) MUST_CHECK;

/* Stores any word into an entry that holds `old`; it is put back like the others. */
int table_store(uint64_t *entry, uint64_t old, uint64_t now) MUST_CHECK;

/* Around many of them: read-only memory is opened once, not for each. */
void table_begin(void);
void table_end(void);

/* Counts what table_hook() has said. */
void table_report(int r, struct got_report *report);

/* Puts all entries of all tables back; those that somebody else has changed stay as they are. */
void table_restore(struct patches_left *left);
