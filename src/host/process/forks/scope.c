/*
 * Counts descendants and their users from /proc.  Stops and changes nothing.
 */
#include "host/process/forks/scope.h"

#include "host/core/cleanup.h"
#include "host/core/self/question.h"
#include "host/core/text/plural.h"
#include "host/process/forks/descendants.h"
#include "host/process/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct scope {
	size_t descendants;
	size_t users; /* distinct effective user ids of the descendants */
};

static int compare_users(const void *a, const void *b)
{
	uid_t left = *(const uid_t *)a, right = *(const uid_t *)b;

	return (left > right) - (left < right);
}

/* A descendant that has exited since the list was made is not counted. */
static size_t users_read(const pid_t *pids, size_t count, uid_t *ret)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		struct process_status status;
		struct err ignored;

		if (!status_read(pids[i], pids[i], &status, &ignored))
			ret[found++] = status.euid;
	}
	return found;
}

/* Counts the living descendants of a process. */
static int scope_read(pid_t root, struct scope *ret, struct err *err)
{
	CLEANUP(free) pid_t *pids = NULL;
	CLEANUP(free) uid_t *users = NULL;
	size_t count = 0;
	int r = descendants_list(root, &pids, &count, err);

	if (r)
		return r;
	users = calloc(count + 1, sizeof(*users));
	if (!users)
		return err_set(err, -ENOMEM, "%zu processes", count);
	ret->descendants = users_read(pids, count, users);
	qsort(users, ret->descendants, sizeof(*users), compare_users);
	ret->users = ret->descendants > 0;
	for (size_t i = 1; i < ret->descendants; i++)
		ret->users += users[i] != users[i - 1];
	return 0;
}

int scope_check(pid_t root, struct err *err)
{
	const char *value = secure_getenv(SCOPE_VARIABLE);
	bool is_allowed = value && !strcmp(value, "1");
	struct scope scope = { 0 };
	int r = is_allowed ? 0 : scope_read(root, &scope, err);

	if (r || !((root == 1 && scope.descendants) || scope.users > 1 ||
		   scope.descendants > SCOPE_DESCENDANTS_MAX))
		return r;
	err_set(err, -EPERM,
		"process %d has %zu descendant%s of %zu user%s, which limpet does not follow unasked",
		root, scope.descendants, plural(scope.descendants), scope.users,
		plural(scope.users));
	err_why(err,
		"limpet would load code into each of them; it asks first for descendants of process 1, "
		"for more than %u, and for those of several users",
		SCOPE_DESCENDANTS_MAX);
	err_fix(err, "name a process further down the tree, follow no descendants, or add "
		     "--all-descendants (libraries: " SCOPE_VARIABLE "=1)");
	return err_exit(err, EXIT_USAGE);
}

int scope_confirm(const pid_t *roots, size_t count, bool *is_allowed, struct err *err)
{
	bool is_confirmed = false;

	for (size_t i = 0; !*is_allowed && i < count; i++) {
		int r = scope_check(roots[i], err);

		if (r == -EPERM && question_ask("%s. Load code into all of them?", err->what)) {
			*err = (struct err){ 0 };
			is_confirmed = true;
			continue;
		}
		if (r)
			return r;
	}
	*is_allowed |= is_confirmed;
	return 0;
}
