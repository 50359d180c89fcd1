/*
 * Hands tables over to attached tools.
 */
#pragma once

#include "target/amd/registry.h"

/* Receives the registrations of limpet's own register library, on the thread that requests them. */
int tables_take(const char *name, uint64_t version, uint64_t instance, void **parts,
		uint64_t part_count, void *data);

/* On the runner's thread, with the turn: notes the found table and those kept during the request,
 * and notifies tools. Skips tables that do not exist any more. */
void telling_run(struct telling *self);
