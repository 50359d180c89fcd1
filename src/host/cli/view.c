/*
 * Finds views, and refuses those that show nothing.
 */
#include "host/cli/view.h"

#include <errno.h>

int view_find(const char *name, unsigned *ret_kinds, struct err *err)
{
	*ret_kinds = name ? profile_kinds_find(name) : 0;
	if (!name || *ret_kinds)
		return 0;
	err_set(err, -EINVAL, "there is no view '%s'", name);
	err_fix(err, "--view on-cpu, off-cpu, runnable or wall");
	return err_exit(err, EXIT_USAGE);
}

int view_check(const struct samples *samples, const char *path, unsigned kinds, struct err *err)
{
	uint64_t count = 0;

	for (unsigned kind = 0; kind < SAMPLE_KINDS; kind++)
		if (!kinds || kinds & KIND_BIT(kind))
			count += samples->kinds[kind];
	if (count || !samples->count)
		return 0;
	err_set(err, -ENODATA, "'%s' has no samples of the view %s", path,
		profile_kinds_name(kinds));
	err_fix(err,
		kinds == KINDS_ON_CPU ? "--view wall" : "--view on-cpu, or record with --off-cpu");
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}
