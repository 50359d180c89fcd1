/*
 * Reads an environment that the application may be changing at the same time.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* A copy of an array of entries in limpet's memory, until environment_view_done(). */
struct environment_view {
	char **array; /* the original; NULL: no environment */
	char **copy;  /* count entries and a NULL */
	size_t count;
};

struct environment_access {
	char ***variable; /* libc's environ */
	int (*barrier)(
		const char *name); /* unsetenv of an unknown name: waits for a setenv in progress */
};

int environment_access_open(struct environment_access *ret) MUST_CHECK;

/* The variable's current value. */
char **environment_now(const struct environment_access *access);

/* Waits until every setenv that has begun has ended. */
void environment_settle(const struct environment_access *access);

/* Replaces `expected` by `array`; false if the application was faster. */
bool environment_exchange(const struct environment_access *access, char **expected, char **array);

/* Copies the current environment consistently. -EBUSY if it never stays unchanged, -EPERM if the
 * kernel does not allow guarded reads. */
int environment_copy(const struct environment_access *access,
		     struct environment_view *ret) MUST_CHECK;

/* True if the array still has the copied contents. Called right before an exchange: later changes
 * are carried over, but are not visible until then. */
bool environment_is_unchanged(const struct environment_access *access,
			      const struct environment_view *view);

void environment_view_done(struct environment_view *view);

/* Reads entries without faulting; false if they are unreadable. */
bool environment_read(char **array, char **into, size_t count);

/* Of arrays that end with NULL. */
size_t entries_count(char **array);
bool entries_have(char **list, const char *entry);

/*
 * A setenv that adds a variable counts the entries of one array and then copies as many from the
 * array that is current a moment later. If limpet has exchanged the array in between, it copies too
 * few entries, or puts its own behind the end.
 *
 * After an array with `counted` entries was replaced by `put` (reads its copy, not its array):
 * repairs such a torn array. Returns the then current array, limpet's unless the application was
 * faster.
 */
char **environment_mend(const struct environment_access *access, size_t counted,
			const struct environment_view *put);

/* Likewise for an array of limpet's, which can be read at any time. */
char **environment_mend_ours(const struct environment_access *access, size_t counted, char **ours);
