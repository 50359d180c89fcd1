/*
 * One pass: rocprofv3 --pmc on a process that runs, or on a program that is started for it.
 */
#pragma once

#include "options.h"
#include "say.h"
#include "workload_files.h"

struct collecting {
	const struct compute_options *options;
	const char *folder;          /* of the workload */
	const char *counters_folder; /* of definitions of counters; "": as installed */
	struct speaker *speaker;
	bool all_descendants; /* the user has confirmed it, for the passes that follow */
	int status;           /* of the program, where one was started */
};

int collect_pass(struct collecting *collecting, size_t index, const struct counter_pass *pass,
		 struct counter_rows *rows, struct err *err) MUST_CHECK;
