/*
 * The API tables of GPU runtimes in this process, as register libraries hand them over.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* Notes the tables in the page; a registration that is known is noted once.  0, -ENOSPC, -EINVAL.
 */
int tables_note(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count);

/* Is there a table of this name?  Of no name that a runtime has, yes: nothing is missing. */
bool tables_have(const char *name);

/* The form in which limpet's own register library tells of its registrations. */
int tables_take(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count, void *data);

/* Tools that are attached see the tables whose first part this is. */
void tables_tell(uint64_t first_part, bool has_restarted);

/* In a forked child. */
void tables_adopt(void);
