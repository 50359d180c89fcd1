/*
 * Reads options about samples, and reports what is missing in the samples.
 */
#include "host/cli/common/sample_options.h"

#include "host/cli/common/stack_ends.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/sampling/bpf/system_wide.h"

#include <errno.h>

int samples_options(const struct sample_words *words, struct sampling_options *ret, struct err *err)
{
	uint64_t hz = words->hz == HZ_NOT_GIVEN ? SAMPLING_HZ : words->hz;

	if (!hz || hz > SAMPLING_HZ_MAX) {
		err_usage(err, NULL, "%lu samples a second are not possible", hz);
		return err_fix(err, "-F 1 to -F %u", SAMPLING_HZ_MAX);
	}
	*ret = (struct sampling_options){
		.sampler = { .hz = (unsigned)hz,
			     .on_cpu = true,
			     .off_cpu = words->off_cpu,
			     .kernel_frames = true,
			     .children = words->children,
			     .is_system_wide = words->is_system_wide },
		.name = words->sampler,
		.java_names = words->java_names,
	};
	return words->event ? event_find(words->event, &ret->sampler.event, err) : 0;
}

static int refuse_conflict(const struct all_conflict *conflicts, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (conflicts[i].is_given) {
			err_usage(err, conflicts[i].fix, "-a cannot be combined with %s",
				  conflicts[i].what);
			return err_why(err, "%s", conflicts[i].why);
		}
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
	int r;

	if (!words->is_system_wide)
		return 0;
	r = refuse_conflict(more, count, err);
	return r ? r : refuse_conflict(conflicts, ARRAY_SIZE(conflicts), err);
}

int debuginfod_enable(struct debuginfod *debuginfod, struct err *err)
{
	int r = debuginfod_check(err);

	if (!r)
		symbol_file_use_server(debuginfod);
	return r;
}

void debuginfod_report(const struct debuginfod *debuginfod)
{
	if (debuginfod->asked)
		print(stderr, "debuginfod: %u of %u debug files found, %u not in time\n",
		      debuginfod->found, debuginfod->asked, debuginfod->late);
}

struct stack_ends sampling_ends(const struct sampling_totals *totals, bool is_system_wide)
{
	return (struct stack_ends){ totals->counts.ends, totals->counts.samples, totals->sampler,
				    is_system_wide };
}

/* Suggests limpet dump only for a process that still runs. */
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
	      "warning: %lu of %lu processes have no sample: they did not run for a whole sampling "
	      "interval (%.2f ms)\n"
	      "  fix: a higher rate (-F); limpet record -a samples CPUs instead, however short a "
	      "process is\n",
	      unsampled, totals->processes_seen, 1e3 / options->sampler.hz);
}

static int explain_nothing(const struct sampling_totals *totals,
			   const struct sampling_options *options, bool has_ended, struct err *err)
{
	double interval_ms = 1e3 / options->sampler.hz;

	err_set(err, -ENODATA, "no sample was taken");
	if (totals->counts.lost)
		err_why(err, "all %lu were lost between the kernel and limpet",
			totals->counts.lost);
	else if (totals->processes_seen > 1)
		err_why(err,
			"%lu processes were seen; none ran for a whole sampling interval "
			"(%.2f ms)",
			totals->processes_seen, interval_ms);
	else
		err_why(err,
			"no thread of %s process ran for a whole sampling interval (%.2f ms)%s %s",
			options->sampler.is_system_wide ? "any" : "the", interval_ms,
			options->sampler.off_cpu ? ", or came back from a wait," : "",
			has_ended ? "before it ended" : "while limpet recorded");
	samples_hint(options, has_ended, err);
	return err_exit(err, EXIT_NOTHING_CAPTURED);
}

int samples_judge(const struct sampling_totals *totals, const struct sampling_options *options,
		  bool has_ended, struct err *err)
{
	bool is_system_wide = options->sampler.is_system_wide;
	const struct stack_ends ends = sampling_ends(totals, is_system_wide);

	print_counted(stderr, totals->counts.lost,
		      "warning: # sample{|s} {was|were} lost; a lower -F loses fewer\n");
	if (totals->counts.left_out)
		print(stderr,
		      "warning: %lu pieces of code had no room in the tables of the kernel programs: "
		      "stacks through them are incomplete%s\n",
		      totals->counts.left_out,
		      is_system_wide ? "" : "; --sampler copy has no such limit");
	if (totals->counts.unlisted)
		print(stderr,
		      "warning: %lu sample%s of processes after the first %u %s not in the file: record for a shorter time\n",
		      totals->counts.unlisted, plural(totals->counts.unlisted), SYSTEM_SEEN_MAX,
		      is_are(totals->counts.unlisted));
	if (totals->counts.throttled > 1)
		print_counted(
			stderr, totals->counts.throttled,
			"note: for a time only one sample in # was taken, for all of them: samples cost "
			"limpet no more than a tenth of a CPU; a lower -F costs less\n");
	stack_ends_warn(&ends);
	if (totals->java_trouble[0])
		print(stderr, "warning: names of Java are not the latest: %s\n",
		      totals->java_trouble);
	print_counted(stderr, totals->naming.without_lines,
		      "note: # frames have names but no lines: reading them took too long\n");
	warn_unsampled(totals, options);
	return totals->counts.samples ? 0 : explain_nothing(totals, options, has_ended, err);
}
