/*
 * The table.  AMD's names and meanings; sets mean the part that limpet traces
 * (shared/wire/domains.def), and OpenCL.
 */
#include "host/rocprofv3/settings.h"

#include <errno.h>
#include <stdio.h>

#define FIELD(name) offsetof(struct profile, name)

#define TRACES(letter, name, domains, help) \
	{ letter, name, NULL, TAKES_SWITCH, set_domains, NULL, help, 0, (domains) },
/* Domains with an option of AMD's; limpet's own domains and OpenCL have none here. */
#define TRACES_HSA       TRACES
#define TRACES_HIP       TRACES
#define TRACES_MARKER    TRACES
#define TRACES_KERNEL    TRACES
#define TRACES_COPY      TRACES
#define TRACES_SCRATCH   TRACES
#define TRACES_RCCL      TRACES
#define TRACES_ROCDECODE TRACES
#define TRACES_ROCJPEG   TRACES
#define TRACES_MEMORY    TRACES
#define TRACES_OPENCL(...)
#define TRACES_COUNTER(...)
#define TRACES_OWN(...)
#define SET_SYS(...)
#define SET_RUNTIME(...)
#define SET_CUDA(...)
#define SET_HIP TRACES
#define SET_HSA TRACES
#define SET(letter, name, domains, help)                                                   \
	{                                                                                  \
		letter, name, NULL, TAKES_SWITCH, set_domains, NULL, help, FIELD(is_wide), \
			(domains)                                                          \
	}
#define SWITCH(letter, name, field, help)                                              \
	{                                                                              \
		letter, name, NULL, TAKES_SWITCH, set_switch, NULL, help, FIELD(field) \
	}
#define TEXT(letter, name, argument, field, help)                                     \
	{                                                                             \
		letter, name, NULL, TAKES_ONE, set_text, argument, help, FIELD(field) \
	}
#define ALWAYS(name, help)                                          \
	{                                                           \
		0, name, NULL, TAKES_SWITCH, set_always, NULL, help \
	}
#define REFUSED(letter, name, reason)                                         \
	{                                                                     \
		letter, name, NULL, TAKES_WHATEVER, set_refused, NULL, reason \
	}

/* A setting without a value that requests nothing. */
#define REFUSED_VALUE(letter, name, reason)                                      \
	{                                                                        \
		letter, name, NULL, TAKES_WHATEVER, set_refused, "VALUE", reason \
	}

#define NO_PASSES       "limpet counts in one pass, and runs no kernel twice"
#define NO_INSTRUCTIONS "limpet does not trace the instructions of devices"
#define NO_TRACE        "limpet does not trace this library"
#define NO_SDK          "limpet needs nothing of ROCm's to be found"
#define NO_PERFETTO     "limpet writes the file itself, without buffers that could be too small"
#define NO_MPI          "one process is attached, and its descendants: its number says which"

const struct setting settings[] = {
	{ 'p', "pid", "attach", TAKES_ONE, set_text, "PID", "the process", FIELD(pid) },
	TEXT(0, "attach-duration-msec", "MS", duration_ms, "detach after so many milliseconds"),
	SWITCH(0, "attach-children", has_children,
	       "descendants too, also those born later (default true)"),
	SWITCH(0, "all-descendants", all_descendants,
	       "allow any number of them, of any user (limpet's own option)"),
	ALWAYS("attach-sync-output", "files are complete when rocprofv3 ends: always so"),
	SET('s', "sys-trace", DOMAINS_SYS, "all of the traces below, and OpenCL"),
	SET('r', "runtime-trace", DOMAINS_RUNTIME, "the same without HSA and HIP's compiler"),
/* clang-format off */
#define DOMAIN(number, name, key, title, form, list, kind, kind_name, sets, option, help) TRACES_##list(0, option, 1u << (number), help)
#define DOMAIN_NO_OPTION(...)
#define DOMAIN_SET(name, letter, option, help) SET_##name(letter, option, DOMAINS_##name, help)
#include "shared/wire/domains.def"
	/* clang-format on */
	TEXT(0, "kernel-include-regex", "REGEX", output.filter.include,
	     "only kernels whose name has it"),
	TEXT(0, "kernel-exclude-regex", "REGEX", output.filter.exclude,
	     "no kernels whose name has it"),
	{ 0, "kernel-iteration-range", NULL, TAKES_SOME, set_ranges, "RANGES",
	  "[1-3],[7]: these times that a kernel runs; several", FIELD(output.filter.iterations) },
	{ 0, "pmc", NULL, TAKES_SOME, set_counters, "COUNTERS",
	  "counters of each kernel: SQ_WAVES GRBM_COUNT (-L lists them)", FIELD(counters) },
	TEXT('E', "extra-counters", "FILE", extra_counters, "further definitions of counters"),
	TEXT(0, "extra-counters-contents", "TEXT", extra_text, "the same, not in a file"),
	SWITCH('M', "mangled-kernels", is_mangled, "kernels by their names in the binary"),
	SWITCH('T', "truncate-kernels", is_truncated, "without arguments"),
	SWITCH(0, "kernel-rename", output.is_renamed, "by the range of roctx around their launch"),
	{ 'P', "collection-period", NULL, TAKES_SOME, set_list, "DELAY:TIME:REPEAT",
	  "record TIME after DELAY, REPEAT times (0: for ever); several follow each other",
	  FIELD(period_texts) },
	TEXT(0, "collection-period-unit", "UNIT", period_unit,
	     "hour, min, sec (default), msec, usec, nsec"),
	SWITCH(0, "selected-regions", output.regions.is_selected,
	       "only what begins between roctxProfilerResume and roctxProfilerPause"),
	SWITCH(0, "selected-regions-ref-count", output.regions.is_counted,
	       "the same, where each resume needs a pause of its own"),
	{ 'f', "output-format", NULL, TAKES_SOME, set_formats, "FORMAT",
	  "rocpd (default), csv, json, pftrace; limpet, for 'limpet ui' and 'limpet report'" },
	TEXT('o', "output-file", "NAME", output.file,
	     "name of the files, with keys (default %hostname%/%pid%)"),
	TEXT('d', "output-directory", "FOLDER", output.directory, "where to (default: here)"),
	SWITCH(0, "stats", output.has_stats, "files of statistics, with csv"),
	SWITCH('S', "summary", output.summary.is_whole, "a table of everything at the end"),
	SWITCH('D', "summary-per-domain", output.summary.is_per_domain, "a table of each domain"),
	{ 0, "summary-groups", NULL, TAKES_SOME, set_list, "REGEX",
	  "a table of the domains that match, each", FIELD(groups) },
	TEXT(0, "summary-output-file", "FILE", output.summary_output,
	     "stderr (default), stdout, or a part of a name"),
	{ 'u', "summary-units", NULL, TAKES_ONE, set_unit, "UNIT",
	  "sec, msec, usec, nsec (default)" },
	{ 'A', "agent-index", NULL, TAKES_ONE, set_index, "KIND",
	  "relative (default), absolute, type-relative" },
	SWITCH(0, "group-by-queue", output.is_by_queue,
	       "tracks of pftrace by queue, not by stream"),
	{ 0, "log-level", NULL, TAKES_ONE, set_level, "LEVEL",
	  "fatal, error, warning (default), info, trace" },
	TEXT('i', "input", "FILE", input, "a job, or several: .json, .yaml, .yml or .txt"),
	SWITCH('L', "list-avail", lists, "what can be traced here, and the counters of devices"),
	TEXT(0, "config-dir", "FOLDER", config_folder,
	     "of counter_defs.yaml (default: ROCm's; limpet's own option)"),
	ALWAYS("disable-signal-handlers", "limpet has none in the process: always so"),
	ALWAYS("process-sync", "files of all processes are complete at the end: always so"),
	ALWAYS("suppress-marker-preload", "nothing is preloaded: always so"),
	ALWAYS("readlink", "no library of ROCm's is looked for: nothing to resolve"),
	ALWAYS("realpath", "no library of ROCm's is looked for: nothing to resolve"),
	SWITCH('h', "help", shows_help, "this text"),
	SWITCH('v', "version", shows_version, "limpet's version"),

	REFUSED(0, "pmc-*", NO_PASSES),
	REFUSED_VALUE(0, "replay-mode", NO_PASSES),
	REFUSED(0, "kernel-replay*", NO_PASSES),
	REFUSED(0, "spm*", "limpet does not sample counters in kernels"),
	REFUSED(0, "pc-sampling*", "limpet does not sample program counters of devices"),
	REFUSED(0, "advanced-thread-trace", NO_INSTRUCTIONS),
	REFUSED(0, "att", NO_INSTRUCTIONS),
	REFUSED(0, "att-*", NO_INSTRUCTIONS),
	REFUSED(0, "kfd*", "limpet does not trace the kernel driver"),
	REFUSED(0, "ompt-trace*", "limpet does not trace OpenMP"),
	REFUSED(0, "kokkos-trace", "limpet is no tool of Kokkos's"),
	REFUSED(0, "hip-graph-trace", "limpet does not trace graphs of HIP as such"),
	REFUSED(0, "hip-event-trace", "limpet does not trace events of HIP as such"),
	REFUSED(0, "rocshmem-trace", NO_TRACE),
	REFUSED(0, "hipfile-trace", NO_TRACE),
	REFUSED(0, "output-config", "limpet writes no file of its options"),
	REFUSED_VALUE(0, "minimum-output-data", "limpet's records have other sizes than AMD's"),
	REFUSED_VALUE(0, "perfetto-*", NO_PERFETTO),
	REFUSED_VALUE(0, "profile-mpi-ranks", NO_MPI),
	REFUSED_VALUE(0, "mpi-world-*", NO_MPI),
	REFUSED_VALUE(0, "preload", "limpet preloads nothing; LD_PRELOAD=... in front of it does"),
	REFUSED_VALUE(0, "rocm-root", NO_SDK),
	REFUSED_VALUE(0, "sdk-*", NO_SDK),
	REFUSED_VALUE(0, "benchmark-mode", "limpet has no such modes"),
	REFUSED(0, "echo", "limpet starts the program as it is given: there is nothing to show"),
};
const size_t setting_count = ARRAY_SIZE(settings);

_Static_assert(ARRAY_SIZE(settings) <= PROFILE_SETTINGS_MAX, "profile.h has room for all");

/* Dashes and underscores are the same: input files have the latter. */
static bool is_named(const char *name, size_t length, const char *wanted)
{
	size_t i = 0;

	for (; i < length && wanted[i] && wanted[i] != '*'; i++)
		if ((name[i] == '_' ? '-' : name[i]) != wanted[i])
			return false;
	return wanted[i] == '*' || (i == length && !wanted[i]);
}

const struct setting *setting_find(const char *name, size_t length)
{
	for (size_t i = 0; i < setting_count; i++)
		if (is_named(name, length, settings[i].name) ||
		    (settings[i].further && is_named(name, length, settings[i].further)))
			return &settings[i];
	return NULL;
}

const struct setting *setting_by_letter(char letter)
{
	for (size_t i = 0; i < setting_count; i++)
		if (settings[i].letter == letter && letter)
			return &settings[i];
	return NULL;
}

bool setting_is_refused(const struct setting *setting)
{
	return setting->set == set_refused;
}

/* All values as one text, to compare with. */
static const char *values_join(struct profile *profile, const char *const *values, size_t count)
{
	char text[1024];
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "",
					 values[i]);
	return profile_keep(profile, count ? text : "true", sizeof(text));
}

int setting_make(struct profile *profile, const struct setting *setting, const char *const *values,
		 size_t count, struct err *err)
{
	int r = setting->set(profile, setting, values, count, err);

	if (r)
		return r;
	profile->given[setting - settings] = values_join(profile, values, count);
	return profile->given[setting - settings] ? 0
						  : err_set(err, -ENOMEM, "no memory for options");
}
