/*
 * The backend for tables of function pointers, as GPU runtimes have them: each entry is a word.
 */
#pragma once

#include "target/hooks/hook.h"
#include "target/hooks/words.h"

/*
 * Hooks the entry of a table that lies in writable memory; what is stored there takes effect with
 * the next call.  -ENOENT when it is empty, -EACCES, -ENOSPC, -EEXIST when it is hooked already,
 * -EAGAIN when somebody changes it at the same time.
 */
int table_hook(uint64_t *entry, const struct traced *traced, const char *name,
	       const char *library) MUST_CHECK;

/* The same inside of got_with_data(), which gives the owner and sees to it that it is writable; it
 * is put back with the owner's other words. */
int table_hook_owned(uint64_t *entry, uint64_t owner, const struct traced *traced, const char *name,
		     const char *library) MUST_CHECK;

/* Puts all entries of tables that belong to no module back; those that somebody else has changed
 * stay as they are. */
void table_restore(struct words_left *left);
