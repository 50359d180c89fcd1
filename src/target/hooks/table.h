/*
 * The backend for tables of function pointers, as GPU runtimes have: each entry is a word.
 */
#pragma once

#include "target/hooks/hook.h"
#include "target/hooks/patches.h"

/*
 * Hooks the entry of a table, with effect from the next call. Read-only memory is protected again
 * afterwards. -ENOENT if it is empty, -EACCES, -ENOSPC, -EEXIST if it is already hooked, -EAGAIN if
 * another thread changes it at the same time.
 */
int table_hook(uint64_t *entry, const struct traced *traced, const char *name,
	       const char *library) MUST_CHECK;

/* Likewise; hooks also an empty entry, as if it led to the function `absent`, if that is not 0. */
int table_hook_empty(uint64_t *entry, uint64_t absent, const struct traced *traced,
		     const struct function_name *name) MUST_CHECK;

/* Around many changes: read-only memory is made writable once, not for each. */
void table_begin(void);
void table_end(void);

/* Counts a result of table_hook(). */
void table_report(int r, struct hooks_report *report);

/* Restores all entries of all tables; entries that another tool has changed stay unchanged. */
void table_restore(struct patches_left *left);
