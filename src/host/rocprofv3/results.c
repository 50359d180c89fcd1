/*
 * Each recording is read and written as AMD's files, one process after the other.
 */
#include "host/rocprofv3/results.h"

#include "host/core/cleanup.h"
#include "host/export/amd/output/name_rule.h"
#include "host/model/model.h"
#include "host/recorder/recorder.h"

static void file_report(void *context, const char *path)
{
	const struct job_listener *listener = context;

	listener->file(listener->context, path);
}

static void note_report(void *context, const char *note)
{
	listener_say(context, SAY_WARNING, "%s", note);
}

static int write_one(const struct recorder_file *record, const struct amd_output_options *options,
		     struct results *results, struct err *err)
{
	CLEANUP(model_free) struct model *model = NULL;
	struct amd_output_result result;
	int r = model_open(record->path, &model, err);

	if (!r)
		r = amd_output_write(model, options, &result, err);
	if (r)
		return r;
	results->events += result.events;
	results->files += result.files;
	results->counted_processes += result.counted > 0;
	return 0;
}

int results_write(const struct recorder *recorder, const struct profile *profile,
		  const struct job_listener *listener, struct results *ret, struct err *err)
{
	struct amd_output_options options = profile->output;
	struct amd_output_names names = { 0 };
	struct recorder_file record;
	bool is_first = true;
	int r = 0;

	options.tell_file = file_report;
	options.tell_note = note_report;
	options.context = (void *)(uintptr_t)listener;
	options.names = &names;
	*ret = (struct results){ 0 };
	for (size_t i = 0; !r && recorder_file(recorder, i, &record); i++) {
		if (!record.records)
			continue;
		r = write_one(&record, &options, ret, err);
		is_first = false;
	}
	if (!r && is_first && recorder_file(recorder, 0, &record))
		r = write_one(&record, &options, ret, err);
	amd_output_names_done(&names);
	/* A start sets the counters of a device to 0 for all, and processes do not see each other.
	 */
	if (!r && ret->counted_processes > 1)
		listener_say(listener, SAY_WARNING,
			     "kernels of %u processes were counted: where two used the same device "
			     "at the same time, their values may be of each other; "
			     "--attach-children false counts one alone",
			     ret->counted_processes);
	return r;
}

void results_find_variables(const struct profile *profile, struct results_variables *ret)
{
	const char *const patterns[] = { profile->output.directory, profile->output.file };
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		const char *rest = patterns[i];

		while (rest && count < RESULTS_VARIABLES_MAX &&
		       (rest = name_rule_next_variable(rest, ret->room[count],
						       sizeof(ret->room[count])))) {
			ret->names[count] = ret->room[count];
			count++;
		}
	}
	ret->names[count] = NULL;
}
