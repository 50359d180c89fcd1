/*
 * Writes the contents of a live store to an ordinary recording.
 */
#pragma once

#include "host/live/source.h"

struct freeze_options {
	const char *path;
	int new_file;                      /* created for this, empty, and owned; -1: by its path */
	const char *version;               /* of limpet */
	const struct source_facts *source; /* the sampler, */
	unsigned hz;                       /* its rate, */
	bool has_off_cpu;                  /* and whether it sees waits */
};

/* How many samples are in it. */
int freeze_write(struct live *live, const struct freeze_options *options, uint64_t *ret_samples,
		 struct err *err) MUST_CHECK;
