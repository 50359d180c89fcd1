/*
 * The backend for tables of function pointers, as GPU runtimes have: each entry is a word.
 */
#pragma once

#include "target/hooks/got/got.h"

/*
 * Hooks the entry of a table, with effect from the next call. Read-only memory is protected again
 * afterwards. -ENOENT if it is empty, -EACCES, -ENOSPC, -EEXIST if it is already hooked, -EAGAIN if
 * another thread changes it at the same time.
 */
int table_hook(uint64_t *entry, const struct traced *traced, const char *name,
	       const char *library) MUST_CHECK;

/* Stores any value into an entry that holds `old`; it is restored like the others. */
int table_store(uint64_t *entry, uint64_t old, uint64_t now) MUST_CHECK;

/* Around many changes: read-only memory is made writable once, not for each. */
void table_begin(void);
void table_end(void);

/* Counts a result of table_hook(). */
void table_report(int r, struct got_report *report);

/* Restores all entries of all tables; entries that another tool has changed stay unchanged. */
void table_restore(struct patches_left *left);
