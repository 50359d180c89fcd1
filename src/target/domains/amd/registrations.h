/*
 * Hooks the call by which a runtime registers its tables: the tables are hooked before it returns,
 * so that no call through them is missed.
 */
#pragma once

#include "target/hooks/hook.h"

/* The imported function that runtimes call. */
extern const struct traced registration;

/* take: notes a table. consult: returns when all noted tables are hooked, or after a time limit.
 * Application threads call both. */
typedef int registrations_take(const char *name, uint64_t version, uint64_t instance, void **parts,
			       uint64_t part_count);
void registrations_use(registrations_take *take, void (*consult)(void));
