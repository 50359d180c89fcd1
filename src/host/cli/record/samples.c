/*
 * The messages of `limpet record` about samples.
 */
#include "host/cli/record/samples.h"

#include "host/cli/stack_ends.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/model/samples/samples.h"
#include "host/model/statistics.h"
#include "host/sampling/bpf/system_wide.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

bool samples_are_asked_for(const struct sample_words *words)
{
	return words->hz != HZ_NOT_GIVEN || words->off_cpu || words->sampler || words->java_names ||
	       words->event;
}

int samples_options(const struct sample_words *words, struct sampling_options *ret, struct err *err)
{
	uint64_t hz = words->hz == HZ_NOT_GIVEN ? SAMPLING_HZ : words->hz;

	if (!hz || hz > SAMPLING_HZ_MAX) {
		err_set(err, -EINVAL, "%" PRIu64 " samples a second are not possible", hz);
		err_fix(err, "-F 1 to -F %u", SAMPLING_HZ_MAX);
		return err_exit(err, EXIT_USAGE);
	}
	*ret = (struct sampling_options){
		.sampler = { .hz = (unsigned)hz,
			     .on_cpu = true,
			     .off_cpu = words->off_cpu,
			     .kernel_frames = true,
			     .children = words->children,
			     .is_system_wide = words->is_system_wide },
	};
	ret->name = words->sampler;
	ret->java_names = words->java_names;
	return words->event ? event_find(words->event, &ret->sampler.event, err) : 0;
}

static int refuse_with_all(const struct all_conflict *conflict, struct err *err)
{
	err_set(err, -EINVAL, "-a cannot be combined with %s", conflict->what);
	err_why(err, "%s", conflict->why);
	err_fix(err, "%s", conflict->fix);
	return err_exit(err, EXIT_USAGE);
}

static int find_conflict(const struct all_conflict *conflicts, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (conflicts[i].is_asked)
			return refuse_with_all(&conflicts[i], err);
	return 0;
}

/* -a samples processes that the user did not name: from outside, and only while they run. */
int samples_check_all(const struct sample_words *words, const struct all_conflict *more,
		      size_t count, struct err *err)
{
	const struct all_conflict conflicts[] = {
		{ words->children, "--children", "-a samples every process, children too",
		  "leave --children out" },
		{ words->off_cpu, "--off-cpu",
		  "every switch of every thread of the machine would be followed",
		  "-p PID --off-cpu" },
		{ words->java_names, "--java-names",
		  "a Java virtual machine is asked by its process number", "-p PID --java-names" },
	};
	int r = 0;

	if (words->is_system_wide)
		r = find_conflict(more, count, err);
	if (!r && words->is_system_wide)
		r = find_conflict(conflicts, ARRAY_SIZE(conflicts), err);
	return r;
}

void samples_describe(struct sampling *sampling, const struct sampling_options *options, char *ret,
		      size_t room)
{
	struct sampling_totals totals;

	sampling_totals(sampling, &totals);
	snprintf(ret, room, "with %u sample%s a second%s, sampler %s", options->sampler.hz,
		 plural(options->sampler.hz), options->sampler.off_cpu ? " and of waits" : "",
		 totals.sampler);
}

int samples_ask(struct debuginfod *debuginfod, struct err *err)
{
	int r = debuginfod_check(err);

	if (!r)
		symbol_file_ask(debuginfod);
	return r;
}

void samples_tell_asked(const struct debuginfod *debuginfod)
{
	if (debuginfod->asked)
		print(stderr, "debuginfod: %u of %u debug files found, %u not in time\n",
		      debuginfod->found, debuginfod->asked, debuginfod->late);
}

/* Lines of "sampler: reason". */
void samples_explain(struct sampling *sampling, char told[SAMPLING_REASONS_MAX])
{
	char reasons[SAMPLING_REASONS_MAX], *rest = reasons, *line;

	sampling_reasons(sampling, reasons, sizeof(reasons));
	while ((line = strsep(&rest, "\n")) && *line) {
		if (!strstr(told, line))
			print(stderr, "note: %s\n", line);
	}
	sampling_reasons(sampling, told, SAMPLING_REASONS_MAX);
}

/* In hundredths of a percent, as reports have it. */
static uint64_t complete_share(const struct sampler_counts *counts)
{
	return share_of(counts->ends[STACK_COMPLETE], counts->samples);
}

static struct stack_ends ends_of(const struct sampling_totals *totals, bool is_system_wide)
{
	return (struct stack_ends){ totals->counts.ends, totals->counts.samples, totals->sampler,
				    is_system_wide };
}

void samples_print(const struct sampling_totals *totals, bool is_system_wide, const char *path,
		   const struct recorded_contents *written)
{
	const struct stack_ends ends = ends_of(totals, is_system_wide);

	print(stdout,
	      "wrote %s: %" PRIu64 " sample%s of %" PRIu64 " thread%s, %" PRIu64
	      " lost, %.2f %% of the stacks complete, %" PRIu64 " KiB\n",
	      path, written->samples, plural(written->samples), totals->threads,
	      plural(totals->threads), totals->counts.lost,
	      (double)complete_share(&totals->counts) / 100, written->bytes / 1024);
	print(stdout, "sampler: %s (%s)\n", totals->sampler, totals->summary);
	stack_ends_print("incomplete", &ends, totals->counts.samples / STACK_ENDS_WARN);
}

void samples_print_json(struct json *json, const struct sampling_totals *totals,
			bool is_system_wide, const struct recorded_contents *written,
			const char *reasons)
{
	const struct stack_ends ends = ends_of(totals, is_system_wide);

	json_text(json, "sampler", totals->sampler);
	json_text(json, "no_better_sampler", reasons);
	json_number(json, "samples", written->samples);
	json_number(json, "samples_lost", totals->counts.lost);
	json_number(json, "code_left_out", totals->counts.left_out);
	json_number(json, "samples_unlisted", totals->counts.unlisted);
	json_number(json, "one_sample_in", MAX(totals->counts.throttled, 1u));
	json_number(json, "sampled_threads", totals->threads);
	json_number(json, "processes_seen", totals->processes_seen);
	json_number(json, "processes_sampled", totals->processes_sampled);
	json_fixed(json, "complete_percent", complete_share(&totals->counts), 2);
	stack_ends_write(json, &ends);
	json_number(json, "frames", totals->naming.frames);
	json_number(json, "frames_named", totals->naming.named);
}

static void warn_incomplete(const struct sampling_totals *totals, bool is_system_wide)
{
	const struct sampler_counts *counts = &totals->counts;

	for (unsigned i = 0; i < STACK_ENDS; i++)
		if (i != STACK_COMPLETE && counts->ends[i] > counts->samples / STACK_ENDS_WARN)
			print(stderr,
			      "warning: %" PRIu64
			      " stack%s (%.2f %%) %s incomplete: %s\n  fix: %s\n",
			      counts->ends[i], plural(counts->ends[i]),
			      (double)share_of(counts->ends[i], counts->samples) / 100,
			      is_are(counts->ends[i]), stack_end_name(i),
			      stack_end_fix(i, totals->sampler, is_system_wide));
}

/* No hint for a process that has ended. */
static int samples_hint(const struct sampling_options *options, bool has_ended, struct err *err)
{
	const char *more =
		options->sampler.off_cpu ? "" : ", or with --off-cpu to see what it waits for";

	if (options->sampler.is_system_wide)
		return err_fix(err, "record for longer, or with a higher rate (-F)");
	if (options->sampler.children)
		return err_fix(
			err,
			"a higher rate (-F); limpet record -a samples CPUs instead, however short a "
			"process is%s",
			more);
	if (has_ended)
		return err_fix(err, "record for longer, or with a higher rate (-F)%s", more);
	return err_fix(
		err,
		"record for longer, or with a higher rate (-F)%s; limpet dump %d shows where its "
		"threads are now",
		more, options->sampler.pid);
}

/* Clocks of threads begin anew with each: a process that ends within an interval has no sample,
 * however many follow it. */
static void warn_unsampled(const struct sampling_totals *totals,
			   const struct sampling_options *options)
{
	uint64_t unsampled = totals->processes_seen - totals->processes_sampled;

	if (options->sampler.is_system_wide || !totals->counts.samples ||
	    unsampled * 2 < totals->processes_seen || unsampled < 2)
		return;
	print(stderr,
	      "warning: %" PRIu64 " of %" PRIu64
	      " processes have no sample: they did not run for a whole sampling interval (%.2f ms)\n"
	      "  fix: a higher rate (-F); limpet record -a samples CPUs instead, however short a "
	      "process is\n",
	      unsampled, totals->processes_seen, 1e3 / options->sampler.hz);
}

static int explain_nothing(const struct sampling_totals *totals,
			   const struct sampling_options *options, bool has_ended, struct err *err)
{
	double interval_ms = 1e3 / options->sampler.hz;

	if (totals->counts.lost)
		return err_why(err, "all %" PRIu64 " were lost between the kernel and limpet",
			       totals->counts.lost);
	if (totals->processes_seen > 1)
		return err_why(err,
			       "%" PRIu64
			       " processes were seen; none ran for a whole sampling interval "
			       "(%.2f ms)",
			       totals->processes_seen, interval_ms);
	return err_why(err,
		       "no thread of %s process ran for a whole sampling interval (%.2f ms)%s %s",
		       options->sampler.is_system_wide ? "any" : "the", interval_ms,
		       options->sampler.off_cpu ? ", or came back from a wait," : "",
		       has_ended ? "before it ended" : "while limpet recorded");
}

int samples_judge(const struct sampling_totals *totals, const struct sampling_options *options,
		  bool has_ended, struct err *err)
{
	if (totals->counts.lost)
		print(stderr, "warning: %" PRIu64 " sample%s %s lost; a lower -F loses fewer\n",
		      totals->counts.lost, plural(totals->counts.lost),
		      was_were(totals->counts.lost));
	if (totals->counts.left_out)
		print(stderr,
		      "warning: %" PRIu64
		      " pieces of code had no room in the tables of the kernel programs: stacks "
		      "through them are incomplete%s\n",
		      totals->counts.left_out,
		      options->sampler.is_system_wide ? "" : "; --sampler copy has no such limit");
	if (totals->counts.unlisted)
		print(stderr,
		      "warning: %" PRIu64
		      " sample%s of processes after the first %u %s not in the file: record for a shorter time\n",
		      totals->counts.unlisted, plural(totals->counts.unlisted), SYSTEM_SEEN_MAX,
		      is_are(totals->counts.unlisted));
	if (totals->counts.throttled > 1)
		print(stderr,
		      "note: for a time only one sample in %u was taken, for all of them: samples cost "
		      "limpet no more than a tenth of a CPU; a lower -F costs less\n",
		      totals->counts.throttled);
	warn_incomplete(totals, options->sampler.is_system_wide);
	if (totals->java_trouble[0])
		print(stderr, "warning: names of Java are not the latest: %s\n",
		      totals->java_trouble);
	if (totals->naming.without_lines)
		print(stderr,
		      "note: %" PRIu64
		      " frames have names but no lines: reading them took too long\n",
		      totals->naming.without_lines);
	warn_unsampled(totals, options);
	if (totals->counts.samples)
		return 0;
	err_set(err, -ENODATA, "no sample was taken");
	explain_nothing(totals, options, has_ended, err);
	samples_hint(options, has_ended, err);
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}
