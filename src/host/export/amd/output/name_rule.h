/*
 * Names of output files as AMD's users write them, with keys in them: "%hostname%/%pid%".
 * docs/amd-files.md lists the keys.
 */
#pragma once

#include "shared/base/macros.h"

/* A value, or NULL when the variable is not set. */
typedef const char *name_variable(void *context, const char *name);

/* The values of keys.  Texts may be NULL: then they are empty. */
struct name_facts {
	const char *hostname, *folder;
	const char *command; /* words, with a blank between each two */
	int64_t pid, parent, group, session, siblings;
	int64_t launched_s;      /* seconds since 1970 */
	name_variable *variable; /* of the target's environment; may be NULL */
	void *context;           /* of variable */
};

/* The variables for keys, apart from those that a pattern names itself; ends with NULL. */
extern const char *const name_rule_variables[];

/* The pattern with its keys replaced, which the caller frees.  Unknown keys stay; values of keys
 * are not expanded again.  0 or -ENOMEM. */
int name_rule_expand(const char *pattern, const struct name_facts *facts, char **ret) MUST_CHECK;

/* The next variable in the pattern, of the form %env{X}%, $env{X} or %q{X}: copied to `ret`;
 * returns where to continue, NULL when there is none. */
const char *name_rule_next_variable(const char *pattern, char *ret, size_t room);
