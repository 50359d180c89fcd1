/*
 * Looking at an environment that the application may be changing at this very moment.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* A copy of an array of entries in memory of ours, until environment_view_done(). */
struct environment_view {
	char **array; /* what was copied; NULL: no environment */
	char **copy;  /* count entries and a NULL */
	size_t count;
};

struct environment_access {
	char ***variable; /* libc's environ */
	int (*barrier)(
		const char *name); /* unsetenv of nothing: waits for a setenv that is under way */
};

int environment_access_open(struct environment_access *ret) MUST_CHECK;

/* What the variable points to now. */
char **environment_now(const struct environment_access *access);

/* Waits until every setenv that had begun has ended. */
void environment_settle(const struct environment_access *access);

/* Puts `array` in place of `expected`; false when the application was faster. */
bool environment_exchange(const struct environment_access *access, char **expected, char **array);

/* Copies the current environment, whole and of one moment.  -EBUSY when it never stands still,
 * -EPERM when guarded reading is not allowed here. */
int environment_look(const struct environment_access *access,
		     struct environment_view *ret) MUST_CHECK;

/* Does the application still have just what was copied?  Asked right before an exchange: what it
 * sets in between is carried over later, but it could miss its own value until then. */
bool environment_is_unchanged(const struct environment_access *access,
			      const struct environment_view *view);

void environment_view_done(struct environment_view *view);

/* Reads entries without ever faulting; false when they cannot be read. */
bool environment_read(char **array, char **into, size_t count);

/* Memory of ours; what is published stays for ever, as getenv hands out pointers. */
void *environment_memory(size_t size);
void environment_memory_free(void *memory, size_t size);
