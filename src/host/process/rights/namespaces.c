/*
 * Compares /proc/PID/ns with limpet's own.
 */
#include "host/process/rights/namespaces.h"

#include <stdio.h>
#include <sys/stat.h>

static enum sameness namespaces_compare(pid_t pid, const char *name)
{
	char theirs[48], ours[32];
	struct stat a, b;

	snprintf(theirs, sizeof(theirs), "/proc/%d/ns/%s", (int)pid, name);
	snprintf(ours, sizeof(ours), "/proc/self/ns/%s", name);
	if (stat(theirs, &a) < 0 || stat(ours, &b) < 0)
		return SAME_UNKNOWN;
	return a.st_ino == b.st_ino && a.st_dev == b.st_dev ? SAME_YES : SAME_NO;
}

void namespaces_read(pid_t pid, struct namespaces *ret)
{
	*ret = (struct namespaces){
		.mnt = namespaces_compare(pid, "mnt"),
		.pid = namespaces_compare(pid, "pid"),
		.user = namespaces_compare(pid, "user"),
		.net = namespaces_compare(pid, "net"),
	};
}
