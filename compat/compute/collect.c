/*
 * Runs a pass like rocprofv3, and reads only the rows that it writes.
 */
#include "collect.h"

#include "arguments.h"
#include "host/core/text/print.h"
#include "runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX (PASS_MAX + 24u)
#define FILES_MAX     256u
#define COLLECTED     "_counter_collection.csv"

struct pass_run {
	struct collecting *collecting;
	struct terminal_run run;
	char *files[FILES_MAX]; /* of counters, one for each process */
	size_t file_count;
	bool has_more_files;
};

static void pass_say(void *context, enum say_level level, const char *text)
{
	const struct pass_run *self = context;

	speaker_say_text(self->collecting->speaker, level, text);
}

static enum ending pass_wait(void *context, int pidfd, uint64_t time_ns)
{
	const struct pass_run *self = context;

	return run_wait(&self->run, pidfd, time_ns);
}

/* AMD's tool writes it to the log of the process; here it goes to the user's terminal. */
static void pass_begun(void *context)
{
	struct pass_run *self = context;
	struct speaker *speaker = self->collecting->speaker;
	struct err err = { 0 };

	if (self->run.launched) {
		if (launch_release(&self->run.launched->launch, &err))
			speaker_say_error(speaker, &err);
		return;
	}
	speaker_say(speaker, SAY_INFO, "Attaching to PID %s :: success",
		    self->collecting->options->pid);
	if (self->run.waits_for_enter)
		speaker_say(speaker, SAY_INFO, "Press Enter to detach...");
}

static void pass_file(void *context, const char *path)
{
	struct pass_run *self = context;
	size_t length = strlen(path), tail = strlen(COLLECTED);

	speaker_say(self->collecting->speaker, SAY_TRACE, "Opened result file: %s", path);
	if (length < tail || strcmp(path + length - tail, COLLECTED))
		return;
	self->has_more_files |= self->file_count == FILES_MAX;
	if (self->file_count < FILES_MAX && (self->files[self->file_count] = strdup(path)))
		self->file_count++;
}

/* "4" is the fifth run of a kernel, "4:7" are the fifth to the seventh. */
static int ranges_write(const struct texts *dispatches, char *ret, size_t room, struct err *err)
{
	for (size_t i = 0; i < dispatches->count; i++) {
		unsigned long first, behind;
		char *end;
		size_t at = strlen(ret);

		first = behind = strtoul(dispatches->items[i], &end, 10);
		behind++;
		if (*end == ':')
			behind = strtoul(end + 1, &end, 10);
		if (*end || behind <= first || end == dispatches->items[i]) {
			err_usage(err, NULL, "'%s' is no number of a dispatch",
				  dispatches->items[i]);
			return err_why(err, "runs of each kernel are counted from 0: 4, or 4:7");
		}
		print_into(ret + at, room - at, "%s%lu-%lu", at > 1 ? "," : "[", first + 1, behind);
	}
	print_into(ret + strlen(ret), room - strlen(ret), "]");
	return 0;
}

struct pass_arguments {
	const char *items[ARGUMENTS_MAX];
	size_t count;
	char output[700], kernels[4096], ranges[2048];
};

static void argument_add(struct pass_arguments *arguments, const char *name, const char *value)
{
	arguments->items[arguments->count++] = name;
	if (value)
		arguments->items[arguments->count++] = value;
}

static int arguments_make(struct pass_arguments *ret, const struct collecting *collecting,
			  size_t index, const struct counter_pass *pass, struct err *err)
{
	const struct compute_options *options = collecting->options;

	*ret = (struct pass_arguments){ 0 };
	print_into(ret->output, sizeof(ret->output), "%s/out/pmc_%zu", collecting->folder,
		   index + 1);
	argument_add(ret, "-d", ret->output);
	argument_add(ret, "-f", "csv");
	argument_add(ret, "-A", "absolute");
	if (collecting->counters_folder[0])
		argument_add(ret, "--config-dir", collecting->counters_folder);
	if (options->pid)
		argument_add(ret, "--pid", options->pid);
	if (options->duration_ms)
		argument_add(ret, "--attach-duration-msec", options->duration_ms);
	if (options->all_descendants || collecting->all_descendants)
		argument_add(ret, "--all-descendants", "true");
	for (size_t i = 0; i < options->kernels.count; i++) {
		size_t at = strlen(ret->kernels);

		print_into(ret->kernels + at, sizeof(ret->kernels) - at, "%s%s", i ? "|" : "",
			   options->kernels.items[i]);
	}
	if (options->kernels.count)
		argument_add(ret, "--kernel-include-regex", ret->kernels);
	if (options->dispatches.count &&
	    ranges_write(&options->dispatches, ret->ranges, sizeof(ret->ranges), err))
		return err->code;
	if (options->dispatches.count)
		argument_add(ret, "--kernel-iteration-range", ret->ranges);
	argument_add(ret, "--pmc", NULL);
	for (size_t i = 0; i < pass->count; i++)
		argument_add(ret, pass->names[i], NULL);
	return 0;
}

static int files_take(struct pass_run *self, struct counter_rows *rows, struct err *err)
{
	size_t kernels = 0;
	int r = 0;

	if (self->has_more_files)
		speaker_say(self->collecting->speaker, SAY_WARNING,
			    "only the first %u processes are in pmc_perf.csv", FILES_MAX);
	for (size_t i = 0; i < self->file_count; i++) {
		if (!r)
			r = counter_rows_add(rows, self->files[i], &kernels, err);
		free(self->files[i]);
	}
	return r;
}

static int pass_collect(struct pass_run *self, struct profile *profile, struct profile_job *job,
			struct err *err)
{
	struct collecting *collecting = self->collecting;
	struct results results;
	struct launch program;
	int r;

	if (collecting->options->command) {
		r = run_launch(&self->run, profile, collecting->options->command, job, &program,
			       &results, err);
		if (program.pid)
			collecting->status = run_status(&program);
		return r;
	}
	r = run_prepare(&self->run, profile, job, err);
	collecting->all_descendants |= !r && profile->all_descendants;
	return r ? r : profile_job_run(job, &results, err);
}

int collect_pass(struct collecting *collecting, size_t index, const struct counter_pass *pass,
		 struct counter_rows *rows, struct err *err)
{
	struct pass_run self = { .collecting = collecting };
	const struct job_listener listener = { pass_say, pass_wait, pass_begun, pass_file, &self };
	struct pass_arguments arguments;
	struct profile profile;
	struct profile_job job = { .profile = &profile,
				   .version = LIMPET_VERSION,
				   .listener = &listener };
	int r = arguments_make(&arguments, collecting, index, pass, err), taken;

	profile_init(&profile);
	profile.has_children = true;
	if (!r)
		r = arguments_read(&profile, (char **)(uintptr_t)arguments.items, err);
	if (!r)
		r = pass_collect(&self, &profile, &job, err);
	taken = files_take(&self, rows, err);
	profile_done(&profile);
	return r ? r : taken;
}
