/*
 * Names a recording for which the user gave no name.
 */
#include "host/recording/recording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/core/output/output_file.h"

#define TRIES 1000u

int recording_unused_path(pid_t pid, char *ret, size_t room, struct err *err)
{
	char whose[16] = "all";
	int r = -EEXIST;

	if (pid)
		snprintf(whose, sizeof(whose), "%d", (int)pid);
	for (unsigned i = 1; r == -EEXIST && i < TRIES; i++) {
		if (i == 1)
			snprintf(ret, room, "limpet-%s.limpet", whose);
		else
			snprintf(ret, room, "limpet-%s-%u.limpet", whose, i);
		r = output_begin_new(ret);
	}
	if (r >= 0)
		return r;
	err_set(err, r, "create '%s': %s", ret, strerror(-r));
	return err_fix(err, "-o FILE names another one");
}
