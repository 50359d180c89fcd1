/*
 * Input files of rocprofv3, in each format: whatever is in them, the answer is a profile or an
 * error.
 */
#include "fuzz.h"

#include "host/core/cleanup.h"
#include "input.h"

#include <string.h>

static void check(input_format *read, const uint8_t *bytes, size_t size)
{
	struct profile profile;
	struct input input = { .profile = &profile, .path = "file" };
	CLEANUP(free) char *copy = malloc(size + !size); /* of its exact size */
	struct err err = { 0 };
	int r;

	if (!copy)
		abort();
	memcpy(copy, bytes, size);
	profile_init(&profile);
	r = read(&input, (struct text){ copy, copy + size }, &err);
	must(r == err.code);
	must(r <= 0 && (!r || err.what[0]));
	must(input.jobs <= 2);
	profile_done(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check(input_read_json, bytes, size);
	check(input_read_yaml, bytes, size);
	check(input_read_txt, bytes, size);
	return 0;
}
