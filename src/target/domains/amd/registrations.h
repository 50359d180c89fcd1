/*
 * The moment in which a runtime hands its tables over: they are hooked before it goes on, so that
 * not one call through them is missed.
 */
#pragma once

#include "target/hooks/hook.h"

/* The import by which runtimes do that. */
extern const struct traced registration;

/* take: notes a table.  consult: returns when all tables that are noted are hooked, or after a
 * while.  Both on the program's threads. */
typedef int registrations_take(const char *name, uint64_t version, uint64_t instance, void **parts,
			       uint64_t part_count);
void registrations_use(registrations_take *take, void (*consult)(void));
