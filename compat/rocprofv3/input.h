/*
 * Input files (-i): settings by name, for one job; for several where a program is started for each.
 */
#pragma once

#include "host/core/text/text.h"
#include "host/rocprofv3/settings.h"

#define INPUT_VALUES_MAX PROFILE_LIST_MAX

/* An entry: a name and its values. */
struct input_entry {
	const char *name;
	const char *values[INPUT_VALUES_MAX]; /* all of them kept in the profile */
	size_t count;
};

struct input {
	struct profile *profile;
	const char *path;
	unsigned jobs;
	struct input_entry entry; /* name NULL: none is open */
};

/* Reads the file that the profile names, after the command line: the job of the profile's number.
 */
int input_read(struct profile *profile, struct err *err) MUST_CHECK;

/* One for each format. */
typedef int input_format(struct input *input, struct text text, struct err *err);
input_format input_read_json, input_read_yaml, input_read_txt;
