/*
 * Reports before a trace what its runtime will leave in the process.
 */
#include "host/cli/record/messages.h"

#include "host/core/text/print.h"
#include "host/process/maps.h"
#include "host/process/runtimes.h"

#include <stdio.h>

/* Some traces need what stays only where the process has the runtime.  Nothing is known of a
 * program that has not started. */
void note_what_stays(const struct visit *self)
{
	unsigned runtimes = 0;
	const char *text;
	size_t number = 0;

	for (size_t i = 0; i < self->pid_count; i++) {
		struct maps maps = { 0 };
		struct err ignored; /* of a process that has just ended */

		if (!maps_read(self->pids[i], &maps, &ignored))
			runtimes |= runtimes_find(&maps);
		maps_done(&maps);
	}
	if (self->pid_count && !runtimes)
		return;
	while ((text = runtime_stays(runtimes, self->domains, &number)))
		print(stderr, "note: %s\n", text);
}
