/*
 * From variables to settings.  Older names come first: if both are set, the newer one decides.
 */
#include "host/rocprofv3/environment.h"

#include "host/core/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PREFIX     "ROCPROF_"
#define VALUES_MAX PROFILE_LIST_MAX
#define NO_TRACE   "limpet does not trace this library"

enum form {
	FORM_PLAIN,
	FORM_NOT,    /* the setting is the opposite */
	FORM_PARTS,  /* separated by `separator` */
	FORM_NOTED,  /* unsupported, with a note: AMD's rocprofv3 sets it with others */
	FORM_OTHERS, /* read elsewhere, or not by limpet */
};

static const struct variable {
	const char *name; /* behind ROCPROF_; a star at the end stands for anything */
	const char *setting;
	enum form form;
	const char *detail; /* the separator; of unsupported ones, why */
} variables[] = {
	{ "SYS_TRACE", "sys-trace" },
	{ "RUNTIME_TRACE", "runtime-trace" },
	{ "HIP_TRACE", "hip-trace" },
	{ "HIP_API_TRACE", "hip-trace" },
	{ "HIP_RUNTIME_API_TRACE", "hip-runtime-trace" },
	{ "HIP_COMPILER_API_TRACE", "hip-compiler-trace" },
	{ "HSA_TRACE", "hsa-trace" },
	{ "HSA_API_TRACE", "hsa-trace" },
	{ "HSA_CORE_API_TRACE", "hsa-core-trace" },
	{ "HSA_AMD_EXT_API_TRACE", "hsa-amd-trace" },
	{ "HSA_IMAGE_EXT_API_TRACE", "hsa-image-trace" },
	{ "HSA_FINALIZER_EXT_API_TRACE", "hsa-finalizer-trace" },
	{ "MARKER_TRACE", "marker-trace" },
	{ "MARKER_API_TRACE", "marker-trace" },
	{ "KERNEL_TRACE", "kernel-trace" },
	{ "MEMORY_COPY_TRACE", "memory-copy-trace" },
	{ "MEMORY_ALLOCATION_TRACE", "memory-allocation-trace" },
	{ "SCRATCH_MEMORY_TRACE", "scratch-memory-trace" },
	{ "RCCL_TRACE", "rccl-trace" },
	{ "RCCL_API_TRACE", "rccl-trace" },
	{ "ROCDECODE_API_TRACE", "rocdecode-trace" },
	{ "ROCJPEG_API_TRACE", "rocjpeg-trace" },
	{ "KERNEL_FILTER_INCLUDE_REGEX", "kernel-include-regex" },
	{ "KERNEL_FILTER_EXCLUDE_REGEX", "kernel-exclude-regex" },
	{ "KERNEL_FILTER_RANGE", "kernel-iteration-range" },
	{ "DEMANGLE_KERNELS", "mangled-kernels", FORM_NOT },
	{ "TRUNCATE_KERNELS", "truncate-kernels" },
	{ "KERNEL_RENAME", "kernel-rename" },
	{ "COLLECTION_PERIOD", "collection-period", FORM_PARTS, ";" },
	{ "OUTPUT_FORMAT", "output-format", FORM_PARTS, ", " },
	{ "OUTPUT_PATH", "output-directory" },
	{ "OUTPUT_FILE_NAME", "output-file" },
	{ "STATS", "stats" },
	{ "STATS_SUMMARY", "summary" },
	{ "STATS_SUMMARY_PER_DOMAIN", "summary-per-domain" },
	{ "STATS_SUMMARY_GROUPS", "summary-groups", FORM_PARTS, "##@@##" },
	{ "STATS_SUMMARY_OUTPUT", "summary-output-file" },
	{ "STATS_SUMMARY_UNITS", "summary-units" },
	{ "AGENT_INDEX", "agent-index" },
	{ "GROUP_BY_QUEUE", "group-by-queue" },
	{ "ATTACH_OUTPUT_GENERATION_SYNC", "attach-sync-output" },
	{ "PROCESS_SYNC", "process-sync" },
	{ "SIGNAL_HANDLERS", "disable-signal-handlers", FORM_NOT },
	{ "SELECTED_REGIONS", "selected-regions" },
	{ "SELECTED_REGIONS_REF_COUNT", "selected-regions-ref-count" },

	{ "COUNTER_COLLECTION", NULL, FORM_OTHERS }, /* the list of names implies it */
	{ "COUNTERS", "pmc", FORM_PARTS, ", " },
	{ "COUNTER_GROUPS*", "pmc-groups" },
	{ "EXTRA_COUNTERS_CONTENTS", "extra-counters-contents" },
	{ "KERNEL_REPLAY", "kernel-replay" },
	{ "SPM_*", "spm" },
	{ "PC_SAMPLING_*", "pc-sampling" },
	{ "ADVANCED_THREAD_TRACE", "att" },
	{ "ATT_*", "att" },
	{ "OUTPUT_CONFIG_FILE", "output-config" },
	{ "MINIMUM_OUTPUT_*", "minimum-output-data" },
	{ "PERFETTO_*", "perfetto-" },

	/* Set by AMD's script for -s and -r, for HIP, and for ranks of MPI. */
	{ "KFD_*", NULL, FORM_NOTED, "limpet does not trace the kernel driver" },
	{ "OMPT_TRACE*", NULL, FORM_NOTED, "limpet does not trace OpenMP" },
	{ "ROCSHMEM_API_TRACE", NULL, FORM_NOTED, NO_TRACE },
	{ "HIPFILE_API_TRACE", NULL, FORM_NOTED, NO_TRACE },
	{ "HIP_GRAPH_TRACE", NULL, FORM_NOTED, "limpet does not trace that as such" },
	{ "HIP_EVENT_TRACE", NULL, FORM_NOTED, "limpet does not trace that as such" },
	{ "MPI_*", NULL, FORM_NOTED, "ranks are not chosen by limpet, and all are traced" },

	{ "LOG_LEVEL", NULL, FORM_OTHERS },
	{ "LOGGING_LEVEL", NULL, FORM_OTHERS },
	{ "ATTACH_*", NULL, FORM_OTHERS },
	{ "COMPUTE_HOME", NULL, FORM_OTHERS }, /* rocprof-compute's */
	{ "TMPDIR", NULL, FORM_OTHERS },
	{ "TIME_FORMAT", NULL, FORM_OTHERS },
	{ "DATE_FORMAT", NULL, FORM_OTHERS },
};

/* The value of a variable in a text "NAME=VALUE"; NULL: none. */
static const char *value_in(const char *text, const struct variable *variable)
{
	const char *name = variable->name, *equals = strchr(text, '=');

	if (strncmp(text, PREFIX, strlen(PREFIX)) || !equals)
		return NULL;
	text += strlen(PREFIX);
	for (; *name && *name != '*'; name++, text++)
		if (*text != *name)
			return NULL;
	return *name == '*' || text == equals ? equals + 1 : NULL;
}

/* The parts of a value, kept in the profile. */
static int value_split(struct profile *profile, const char *value, const char *separator,
		       const char **ret, size_t *ret_count, struct err *err)
{
	bool is_word = strlen(separator) > 2; /* else any one of its characters */

	while (*value) {
		const char *end = is_word ? strstr(value, separator) : strpbrk(value, separator);
		size_t length = end ? (size_t)(end - value) : strlen(value);

		if (length && *ret_count == VALUES_MAX)
			return err_set(err, -E2BIG, "more than %u parts", VALUES_MAX);
		if (length) {
			ret[*ret_count] = profile_keep(profile, value, length);
			if (!ret[(*ret_count)++])
				return err_set(err, -ENOMEM, "no memory for variables");
		}
		value += length + (end ? (is_word ? strlen(separator) : 1) : 0);
	}
	return 0;
}

static int setting_apply(struct profile *profile, const struct variable *variable,
			 const char *value, struct err *err)
{
	const struct setting *setting = setting_find(variable->setting, strlen(variable->setting));
	const char *values[VALUES_MAX];
	size_t count = 0;
	int r = 0;

	if (variable->form == FORM_PARTS) {
		r = value_split(profile, value, variable->detail, values, &count, err);
	} else if (variable->form == FORM_NOT && setting_truth(value) >= 0) {
		values[count++] = setting_truth(value) ? "false" : "true";
	} else {
		values[count] = profile_keep(profile, value, strlen(value));
		if (!values[count++])
			r = err_set(err, -ENOMEM, "no memory for variables");
	}
	if (!r && count)
		r = setting_make(profile, setting, values, count, err);
	return r;
}

static void note_write(environment_note *note, void *context, const char *text, const char *what,
		       const char *why)
{
	char line[256];

	snprintf(line, sizeof(line), "%.*s is not %s%s", (int)strcspn(text, "="), text, what, why);
	note(context, line);
}

static int variable_read(struct profile *profile, const struct variable *variable, const char *text,
			 struct err *err)
{
	const char *value = value_in(text, variable);
	int r = 0;

	if (value && value[0] && variable->setting)
		r = setting_apply(profile, variable, value, err);
	return r ? err_while(err, "%.*s", (int)strcspn(text, "="), text) : 0;
}

static void variable_judge(const char *text, environment_note *note, void *context)
{
	bool is_known = strncmp(text, PREFIX, strlen(PREFIX)) != 0;

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *value = value_in(text, &variables[i]);

		is_known |= value != NULL;
		if (value && variables[i].form == FORM_NOTED && setting_truth(value) != 0)
			note_write(note, context, text, "supported: ", variables[i].detail);
	}
	if (!is_known)
		note_write(note, context, text, "known to limpet", ", and changes nothing");
}

int environment_read(struct profile *profile, char *const *environment, environment_note *note,
		     void *context, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(variables); i++)
		for (char *const *text = environment; !r && *text; text++)
			r = variable_read(profile, &variables[i], *text, err);
	if (!r && profile->period_texts.count)
		profile->period_unit = "nsec";
	for (char *const *text = environment; !r && *text; text++)
		variable_judge(*text, note, context);
	return r;
}

int environment_read_output(struct profile *profile, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < ARRAY_SIZE(variables); i++) {
		const struct variable *variable = &variables[i];
		char name[64];
		const char *value;

		if (!variable->setting || strncmp(variable->setting, "output-", 7) ||
		    !strcmp(variable->setting, "output-config"))
			continue;
		snprintf(name, sizeof(name), PREFIX "%s", variable->name);
		value = secure_getenv(name);
		if (value && value[0])
			r = setting_apply(profile, variable, value, err);
		if (r)
			err_while(err, "%s", name);
	}
	/* They are defaults: the command line or a file may differ. */
	memset(profile->given, 0, sizeof(profile->given));
	return r;
}
