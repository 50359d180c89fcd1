/*
 * Finds a family while it grows; stops nothing.
 */
#include "host/sampling/family.h"

#include "host/core/cleanup.h"
#include "host/process/forks/descendants.h"

#include <errno.h>

#define LOOKS_MAX 16

struct look {
	unsigned joined, failed;
	struct err why; /* of the first that failed */
};

/* A process that ends meanwhile is skipped. */
static int look_once(struct sampler *sampler, pid_t root, family_joiner *join, struct look *ret,
		     struct err *err)
{
	CLEANUP(free) pid_t *pids = NULL;
	size_t count;
	int r = descendants_list(root, &pids, &count, err);

	*ret = (struct look){ 0 };
	for (size_t i = 0; !r && i < count; i++) {
		struct err why = { 0 };
		int joined = join(sampler, pids[i], &why);

		ret->joined += joined > 0;
		if (joined >= 0 || joined == -ESRCH)
			continue;
		if (!ret->failed++)
			ret->why = why;
	}
	return r;
}

int family_join(struct sampler *sampler, pid_t root, family_joiner *join, struct err *err)
{
	struct look look = { .joined = 1 };
	int r = 0;

	for (unsigned i = 0; !r && look.joined && i < LOOKS_MAX; i++)
		r = look_once(sampler, root, join, &look, err);
	if (!r && look.failed)
		sampler_limit(sampler, "%u of its descendants cannot be sampled: %s", look.failed,
			      look.why.what);
	return r;
}

int family_join_all(struct sampler *sampler, const struct sampler_options *options,
		    family_joiner *join, struct err *err)
{
	int r = options->children ? family_join(sampler, options->pid, join, err) : 0;

	for (size_t i = 0; r >= 0 && i < options->further_count; i++) {
		r = join(sampler, options->further[i], err);
		if (r >= 0 && options->children)
			r = family_join(sampler, options->further[i], join, err);
	}
	return MIN(r, 0);
}
