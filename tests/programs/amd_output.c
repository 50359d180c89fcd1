/*
 * Writes what rocprofv3 would leave behind, from a recording: the function that its door calls, by
 * itself.  Prints a line for each file and each note, and the number of events.
 *
 *   usage: amd_output FILE [OPTION]...
 */
#include <stdio.h>
#include <string.h>

#include "host/core/options.h"
#include "host/export/amd/output/output.h"

struct values {
	bool has_stats, is_whole, is_per_domain, is_mangled, is_truncated, is_renamed, is_by_queue;
	const char *directory, *file, *unit, *summary_output, *include, *exclude, *iterations,
		*agents;
	struct option_list formats, groups;
};

#define FIELD(member) offsetof(struct values, member)

static const struct option_desc table[] = {
	{ 'f', "output-format", "FORMAT", "", FIELD(formats), OPTION_LIST },
	{ 'd', "output-directory", "DIR", "", FIELD(directory), OPTION_TEXT },
	{ 'o', "output-file", "FILE", "", FIELD(file), OPTION_TEXT },
	{ 0, "stats", NULL, "", FIELD(has_stats) },
	{ 'S', "summary", NULL, "", FIELD(is_whole) },
	{ 'D', "summary-per-domain", NULL, "", FIELD(is_per_domain) },
	{ 0, "summary-groups", "RE", "", FIELD(groups), OPTION_LIST },
	{ 0, "summary-output-file", "FILE", "", FIELD(summary_output), OPTION_TEXT },
	{ 'u', "summary-units", "UNIT", "", FIELD(unit), OPTION_TEXT },
	{ 'M', "mangled-kernels", NULL, "", FIELD(is_mangled) },
	{ 'T', "truncate-kernels", NULL, "", FIELD(is_truncated) },
	{ 0, "kernel-rename", NULL, "", FIELD(is_renamed) },
	{ 0, "kernel-include-regex", "RE", "", FIELD(include), OPTION_TEXT },
	{ 0, "kernel-exclude-regex", "RE", "", FIELD(exclude), OPTION_TEXT },
	{ 0, "kernel-iteration-range", "RANGE", "", FIELD(iterations), OPTION_TEXT },
	{ 'A', "agent-index", "HOW", "", FIELD(agents), OPTION_TEXT },
	{ 0, "group-by-queue", NULL, "", FIELD(is_by_queue) },
	{ 0 },
};

static const struct {
	const char *name;
	enum amd_format format;
} formats[] = { { "rocpd", AMD_FORMAT_ROCPD },
		{ "csv", AMD_FORMAT_CSV },
		{ "json", AMD_FORMAT_JSON },
		{ "pftrace", AMD_FORMAT_PFTRACE } };

static void tell_file(void *context, const char *path)
{
	(void)context;
	printf("file %s\n", path);
	fflush(stdout);
}

static void tell_note(void *context, const char *note)
{
	(void)context;
	printf("note %s\n", note);
	fflush(stdout);
}

static unsigned find_formats(const struct option_list *list)
{
	unsigned found = 0;

	for (size_t i = 0; i < list->count; i++)
		for (size_t j = 0; j < ARRAY_SIZE(formats); j++)
			if (strcmp(formats[j].name, list->items[i]) == 0)
				found |= formats[j].format;
	return found;
}

static struct amd_output_options choose(const struct values *values)
{
	return (struct amd_output_options){
		.formats = find_formats(&values->formats),
		.directory = values->directory,
		.file = values->file,
		.has_stats = values->has_stats,
		.form = values->is_mangled     ? KERNEL_MANGLED
			: values->is_truncated ? KERNEL_TRUNCATED
					       : KERNEL_READABLE,
		.is_renamed = values->is_renamed,
		.filter = { values->include, values->exclude, values->iterations },
		.agent_index = values->agents && strcmp(values->agents, "type-relative") == 0
				       ? AGENT_TYPE_RELATIVE
				       : AGENT_RELATIVE,
		.is_by_queue = values->is_by_queue,
		.summary = { .is_whole = values->is_whole,
			     .is_per_domain = values->is_per_domain,
			     .groups = values->groups.items,
			     .group_count = values->groups.count,
			     .unit = values->unit },
		.summary_output = values->summary_output,
		.tell_file = tell_file,
		.tell_note = tell_note,
	};
}

int main(int argc, char **argv)
{
	struct values values = { 0 };
	struct amd_output_result result = { 0 };
	struct amd_output_options options;
	struct model *model = NULL;
	struct err err = { 0 };
	int r = options_parse(table, argv + 1, &values, &err);

	if (argc < 2 || r != 1) {
		fprintf(stderr, "%s\n", err.what);
		return 2;
	}
	options = choose(&values);
	r = model_open(argv[1], &model, &err);
	if (!r)
		r = amd_output_write(model, &options, &result, &err);
	model_free(model);
	if (r) {
		fprintf(stderr, "%s\n%s\n", err.what, err.fix);
		return (int)err.exit;
	}
	printf("%lu events, %u files\n", result.events, result.files);
	return 0;
}
