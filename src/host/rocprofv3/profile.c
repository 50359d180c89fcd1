/*
 * A profile from its beginning to its end.  Prints nothing: it also lives in programs that use the
 * attach libraries.
 */
#include "host/rocprofv3/profile.h"

#include "host/core/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LONGEST_NS 1e18

void profile_done(struct profile *profile)
{
	for (size_t i = 0; i < profile->kept_count; i++)
		free(profile->kept[i]);
	free(profile->kept);
	free(profile->periods);
	*profile = (struct profile){ 0 };
}

const char *profile_keep(struct profile *profile, const char *text, size_t length)
{
	char **kept = reallocarray(profile->kept, profile->kept_count + 1, sizeof(*kept));

	if (!kept)
		return NULL;
	profile->kept = kept;
	kept[profile->kept_count] = strndup(text, length);
	return kept[profile->kept_count] ? kept[profile->kept_count++] : NULL;
}

static int refuse_nothing(const struct profile *profile, struct err *err)
{
	err_set(err, -EINVAL, "no trace was requested");
	if (profile->is_by_variables)
		err_fix(err, "ROCPROF_HIP_RUNTIME_API_TRACE=1, ROCPROF_KERNEL_TRACE=1, "
			     "ROCPROF_COUNTER_COLLECTION=1 with ROCPROF_COUNTERS, ...");
	else
		err_fix(err, "--hip-trace, --kernel-trace, --memory-copy-trace, --marker-trace, "
			     "--runtime-trace, --sys-trace or --pmc");
	return err_exit(err, EXIT_USAGE);
}

static uint32_t domains_decide(const struct traces *ranks)
{
	uint32_t domains = 0;

	for (unsigned rank = 0; rank < TRACE_RANKS; rank++)
		domains = (domains & ~ranks[rank].unwanted) | ranks[rank].wanted;
	return domains;
}

bool profile_asks(const struct profile *profile)
{
	return domains_decide(profile->traces) != 0 || profile->counters.count;
}

/* Calls that select regions are markers: recorded for that alone if the user did not trace
 * markers. */
static int choose_regions(struct profile *profile, struct err *err)
{
	struct region_options *regions = &profile->output.regions;

	regions->is_selected |= regions->is_counted;
	if (!regions->is_selected)
		return 0;
	if (profile->period_texts.count) {
		return err_usage(err, "--selected-regions, or --collection-period",
				 "regions and collection periods exclude each other");
	}
	regions->hides_markers = !(profile->domains & 1u << DOMAIN_MARKER);
	profile->domains |= 1u << DOMAIN_MARKER;
	return 0;
}

int profile_refuse_passes(const struct profile *profile, struct err *err)
{
	return err_usage(
		err, "one --pmc with counters that fit at once; what does not fit is said",
		"Multi-pass counter collection (multiple --pmc flags | multiple input-file jobs | "
		"--pmc combined with input-file pmc) is not compatible with %s",
		profile->command ? "limpet, which runs the program once" : "attach mode (--pid)");
}

/* The first one is the default. */
static const struct {
	const char *name;
	double ns;
} period_units[] = {
	{ "sec", 1e9 },  { "hour", 3.6e12 }, { "min", 6e10 },
	{ "msec", 1e6 }, { "usec", 1e3 },    { "nsec", 1 },
};

/* A number up to the character `end`; moves behind that. */
static bool take_number(const char **text, char end, double *ret)
{
	char *behind;

	if ((**text < '0' || **text > '9') && **text != '.')
		return false;
	*ret = strtod(*text, &behind);
	if (behind == *text || *behind != end)
		return false;
	*text = behind + (end != 0);
	return true;
}

static bool period_read(const char *text, double unit, struct period *ret)
{
	double delay, time, repeat;

	if (!take_number(&text, ':', &delay) || !take_number(&text, ':', &time) ||
	    !take_number(&text, 0, &repeat))
		return false;
	if (delay * unit > LONGEST_NS || time * unit > LONGEST_NS || time * unit < 1 ||
	    repeat > 1e15 || repeat != (double)(uint64_t)repeat)
		return false;
	*ret = (struct period){ (uint64_t)(delay * unit), (uint64_t)(time * unit),
				(uint64_t)repeat };
	return true;
}

static int period_refuse(const char *text, struct err *err)
{
	return err_usage(err,
			 "DELAY:TIME:REPEAT, for example 5:10:3 (REPEAT 0: for ever), with "
			 "--collection-period-unit hour, min, sec, msec, usec or nsec",
			 "'%s' is not a collection period", text);
}

/* Times are numbers of one unit; parts of them are allowed.  Without texts: PERIOD_ALWAYS. */
static int periods_read(struct profile *profile, struct err *err)
{
	const struct profile_list *texts = &profile->period_texts;
	const char *unit = profile->period_unit;
	size_t count = MAX(texts->count, (size_t)1);
	double ns = 0;

	for (size_t i = 0; ns == 0 && i < ARRAY_SIZE(period_units); i++)
		if (!unit || !strcasecmp(unit, period_units[i].name))
			ns = period_units[i].ns;
	profile->periods = calloc(count, sizeof(*profile->periods));
	if (!profile->periods)
		return err_set(err, -ENOMEM, "no memory for the collection periods");
	if (ns == 0)
		return period_refuse(unit, err);
	profile->period_count = count;
	profile->periods[0] = PERIOD_ALWAYS;
	for (size_t i = 0; i < texts->count; i++)
		if (!period_read(texts->items[i], ns, &profile->periods[i]))
			return period_refuse(texts->items[i], err);
	return 0;
}

int profile_finish(struct profile *profile, struct err *err)
{
	struct amd_output_options *output = &profile->output;

	profile->domains = domains_decide(profile->traces);
	if (!profile->domains && !profile->counters.count)
		return refuse_nothing(profile, err);
	if (profile->counter_passes > 1)
		return profile_refuse_passes(profile, err);
	if (choose_regions(profile, err))
		return err->code;
	if (!output->formats)
		output->formats = AMD_FORMAT_ROCPD;
	if (profile->is_mangled)
		output->form = KERNEL_MANGLED;
	else if (profile->is_truncated)
		output->form = KERNEL_TRUNCATED;
	output->summary.groups = profile->groups.items;
	output->summary.group_count = profile->groups.count;
	if (amd_output_check(output, err))
		return err->code;
	return periods_read(profile, err);
}

int profile_pid(const struct profile *profile, pid_t *ret, struct err *err)
{
	if (!profile->pid) {
		return err_usage(
			err,
			"rocprofv3 --attach PID [options], or: rocprofv3 [options] -- PROGRAM ...",
			"no process given");
	}
	if (!text_parse_pid(profile->pid, ret))
		return 0;
	return err_usage(err, NULL, "'%s' is not a process ID", profile->pid);
}

int profile_duration(const struct profile *profile, uint64_t *ret_ns, struct err *err)
{
	uint64_t ms = 0;

	*ret_ns = UINT64_MAX;
	if (!profile->duration_ms)
		return 0;
	if (text_parse_number(profile->duration_ms, UINT64_MAX / 1000000 - 1, &ms))
		return err_usage(err, NULL, "'%s' is not a number of milliseconds",
				 profile->duration_ms);
	*ret_ns = ms * 1000000;
	return 0;
}
