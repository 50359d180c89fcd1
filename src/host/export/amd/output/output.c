/*
 * Names, then files.
 */
#include "host/export/amd/output/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/core/output/output_file.h"
#include "host/export/amd/csv/csv.h"
#include "host/export/amd/json/json.h"
#include "host/export/amd/output/name_rule.h"
#include "host/export/amd/rocpd/rocpd.h"
#include "host/export/exporter.h"
#include "host/export/trace/pftrace.h"

#define USUAL_FILE "%hostname%/%pid%"

/* One process's part. */
struct part {
	const struct amd_output_options *options;
	struct amd_output_result *result;
	const struct model_process *process;
	struct amd_view view;
	struct amd_stats stats;
	const char *prefix; /* of its files */
	struct err *err;
};

static void tell_file(void *context, const char *path)
{
	struct part *part = context;

	part->result->files++;
	if (part->options->tell_file)
		part->options->tell_file(part->options->context, path);
}

static void tell_note(const struct part *part, const char *note)
{
	if (part->options->tell_note)
		part->options->tell_note(part->options->context, note);
}

static const char *find_variable(void *context, const char *name)
{
	const struct part *part = context;
	const char *value = process_variable(part->process, name);

	if (!value && part->options->variable)
		value = part->options->variable(part->options->context, name);
	return value;
}

static int amd_output_expand(struct part *part, const char *pattern, char **ret)
{
	const struct model *model = part->view.model;
	const struct model_process *process = part->process;
	struct name_facts facts = {
		.hostname = model->host,
		.folder = process->folder,
		.command = process->command,
		.pid = process->pid,
		.parent = process->parent,
		.group = process->group,
		.session = process->session,
		.siblings = process->siblings,
		.launched_s = (int64_t)(model->first.real_ns / 1000000000),
		.variable = find_variable,
		.context = part,
	};

	if (name_rule_expand(pattern, &facts, ret))
		return err_set(part->err, -ENOMEM, "name the output: no memory");
	return 0;
}

static const char *or_else(const char *text, const char *otherwise)
{
	return text && text[0] ? text : otherwise;
}

/* "DIRECTORY/FILE" of a process; the caller's to free. */
static int make_prefix(struct part *part, char **ret)
{
	CLEANUP(free) char *directory = NULL;
	CLEANUP(free) char *file = NULL;
	int r = amd_output_expand(part, or_else(part->options->directory, "."), &directory);

	if (!r)
		r = amd_output_expand(part, or_else(part->options->file, USUAL_FILE), &file);
	if (r)
		return r;
	/* A file with a folder of its own needs none. */
	if (asprintf(ret, "%s%s%s", file[0] == '/' ? "" : directory, file[0] == '/' ? "" : "/",
		     file) < 0)
		return err_set(part->err, -ENOMEM, "name the output: no memory");
	return 0;
}

static char *with_suffix(const struct part *part, const char *suffix)
{
	char *path;

	if (asprintf(&path, "%s_%s", part->prefix, suffix) >= 0)
		return path;
	err_set(part->err, -ENOMEM, "write '%s': no memory", part->prefix);
	return NULL;
}

typedef int file_opener(struct output_file *ret, const char *path, struct err *err);
typedef int file_writer(struct part *part, struct output_file *file);

static int write_rocpd(struct part *part, struct output_file *file)
{
	return rocpd_write(&part->view, file->reachable, file->path, part->err);
}

static int write_json(struct part *part, struct output_file *file)
{
	return amd_json_write(&part->view, 1, file->out);
}

static int write_pftrace(struct part *part, struct output_file *file)
{
	struct pftrace_style style = { .view = &part->view,
				       .agent_index = part->options->agent_index,
				       .is_by_stream = !part->options->is_by_queue &&
						       pftrace_has_streams(&part->view) };

	return pftrace_write_styled(part->view.model, &style, file->out);
}

static int write_recording(struct part *part, struct output_file *file)
{
	return model_copy_file(part->view.model, fileno(file->out));
}

static int write_file(struct part *part, const char *suffix, file_opener *begin, file_writer *write)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	CLEANUP(free) char *path = with_suffix(part, suffix);
	int r = path ? begin(&file, path, part->err) : -ENOMEM;

	if (r)
		return r;
	errno = 0;
	r = write(part, &file);
	if (r && !part->err->code)
		output_explain(r, path, part->err);
	if (!r)
		r = output_commit(&file, part->err);
	if (!r)
		tell_file(part, path);
	return r;
}

static int write_csv(struct part *part)
{
	struct amd_csv_options options = { .agent_index = part->options->agent_index,
					   .stats = part->options->has_stats ? &part->stats : NULL,
					   .tell = tell_file,
					   .context = part };

	return amd_csv_write(&part->view, part->prefix, &options, part->err);
}

static int write_formats(struct part *part)
{
	unsigned formats = part->options->formats;
	bool is_filled = part->stats.events != 0;
	int r = 0;

	if (formats & AMD_FORMAT_ROCPD)
		r = write_file(part, "results.db", output_open_named, write_rocpd);
	if (!r && formats & AMD_FORMAT_CSV && is_filled)
		r = write_csv(part);
	if (!r && formats & AMD_FORMAT_JSON && is_filled)
		r = write_file(part, "results.json", output_open, write_json);
	if (!r && formats & AMD_FORMAT_PFTRACE && is_filled)
		r = write_file(part, "results.pftrace", output_open, write_pftrace);
	if (!r && formats & AMD_FORMAT_LIMPET && is_filled)
		r = write_file(part, "results.limpet", output_open, write_recording);
	return r;
}

static bool has_summary(const struct amd_summary_options *summary)
{
	return summary->is_whole || summary->is_per_domain || summary->group_count;
}

static int print_summary(struct part *part, FILE *out, bool is_indented)
{
	struct amd_summary_options summary = part->options->summary;
	const char *empty = NULL;
	char note[256];
	int r;

	summary.is_indented = is_indented;
	r = amd_summary_write(&part->stats, &summary, out, &empty, part->err);
	if (!r && empty) {
		snprintf(note, sizeof(note), "the summary of '%s' is empty: nothing of it happened",
			 empty);
		tell_note(part, note);
	}
	return r;
}

static FILE *standard_stream(const char *name)
{
	static const char *const outs[] = { "stdout", "STDOUT" }, *const errs[] = { "stderr",
										    "STDERR" };

	for (size_t i = 0; i < ARRAY_SIZE(outs); i++) {
		if (strcmp(name, outs[i]) == 0)
			return stdout;
		if (strcmp(name, errs[i]) == 0)
			return stderr;
	}
	return NULL;
}

static int write_summary_file(struct part *part, const char *name)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	CLEANUP(free) char *path = NULL;
	int r;

	if (asprintf(&path, "%s_%s.txt", part->prefix, name) < 0) {
		path = NULL;
		return err_set(part->err, -ENOMEM, "write '%s': no memory", part->prefix);
	}
	r = output_open(&file, path, part->err);
	if (!r)
		r = print_summary(part, file.out, false);
	if (!r)
		r = output_commit(&file, part->err);
	if (!r)
		tell_file(part, path);
	return r;
}

static int write_summary(struct part *part)
{
	const char *name = or_else(part->options->summary_output, "stderr");
	FILE *out = standard_stream(name);
	int r;

	if (!has_summary(&part->options->summary) || !part->stats.events)
		return 0;
	if (!out)
		return write_summary_file(part, name);
	r = print_summary(part, out, true);
	fflush(out);
	return r;
}

/* Reports counted kernels whose values are not in the files. */
static void tell_counted(const struct part *part)
{
	const struct counted *counted = &part->view.counted;
	char note[256];

	if (counted->together) {
		snprintf(note, sizeof(note),
			 "%" PRIu64 " of %" PRIu64
			 " counted kernels ran, or were counted, at the same time as others on "
			 "their device: their values may be of all of them, and are left out",
			 counted->together, counted_kernels(counted));
		tell_note(part, note);
	}
	if (counted->unfinished) {
		snprintf(note, sizeof(note),
			 "%" PRIu64 " of %" PRIu64
			 " counted kernels were not done, or not read, when their queue, their "
			 "program or the recording ended: they have no values",
			 counted->unfinished, counted_kernels(counted));
		tell_note(part, note);
	}
}

static int write_part(struct part *part)
{
	int r = output_make_folders(part->prefix, part->err);

	if (!r)
		r = write_formats(part);
	if (!r)
		r = write_summary(part);
	if (!r)
		tell_counted(part);
	part->result->events += part->stats.events;
	part->result->counted += counted_kernels(&part->view.counted);
	return r;
}

int amd_output_check(const struct amd_output_options *options, struct err *err)
{
	struct kernel_filter filter;
	int r = kernel_filter_init(&filter, &options->filter, err);

	if (r)
		return r;
	kernel_filter_done(&filter);
	return amd_summary_check(&options->summary, err);
}

static int begin_part(struct part *part, struct model *model)
{
	struct amd_view_options options = { .process = part->process,
					    .form = part->options->form,
					    .is_renamed = part->options->is_renamed,
					    .filter = part->options->filter,
					    .regions = part->options->regions };
	int r = amd_view_init(&part->view, model, &options, part->err);

	if (!r && amd_stats_init(&part->stats, &part->view))
		r = err_set(part->err, -ENOMEM, "add up: no memory");
	return r;
}

static bool is_taken(const struct amd_output_names *names, const char *prefix)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], prefix) == 0)
			return true;
	return false;
}

/* "PREFIX_PID", and if that is in use "PREFIX_PID_2", ...; frees the prefix.  NULL: no memory. */
static char *make_free(const struct amd_output_names *names, char *prefix, int pid)
{
	char *own = NULL;

	for (unsigned i = 1; !own || is_taken(names, own); i++) {
		char number[16] = "";

		free(own);
		if (i > 1)
			snprintf(number, sizeof(number), "_%u", i);
		if (asprintf(&own, "%s_%d%s", prefix, pid, number) < 0) {
			own = NULL;
			break;
		}
	}
	free(prefix);
	return own;
}

/* The prefix of a process; a repeated one gets the number of its process.  The list owns it. */
static int take_name(struct part *part, struct amd_output_names *names)
{
	char **items = reallocarray(names->items, names->count + 1, sizeof(*items));
	char *prefix = NULL;
	int r;

	if (!items)
		return err_set(part->err, -ENOMEM, "name the output: no memory");
	names->items = items;
	r = make_prefix(part, &prefix);
	if (r)
		return r;
	if (is_taken(names, prefix))
		prefix = make_free(names, prefix, part->process->pid);
	if (!prefix)
		return err_set(part->err, -ENOMEM, "name the output: no memory");
	names->items[names->count++] = prefix;
	part->prefix = prefix;
	return 0;
}

static int write_process(struct model *model, struct part *part, struct amd_output_names *names)
{
	int r = begin_part(part, model);

	/* Of several processes, idle ones get no files. */
	if (!r && (part->stats.events || model->process_count == 1)) {
		r = take_name(part, names);
		if (!r)
			r = write_part(part);
	}
	amd_stats_done(&part->stats);
	amd_view_done(&part->view);
	return r;
}

void amd_output_names_done(struct amd_output_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct amd_output_names){ 0 };
}

int amd_output_write(struct model *model, const struct amd_output_options *options,
		     struct amd_output_result *ret, struct err *err)
{
	struct amd_output_names own = { 0 }, *names = options->names ? options->names : &own;
	int r = 0;

	*ret = (struct amd_output_result){ 0 };
	for (uint32_t i = 0; !r && i < model->process_count; i++) {
		struct part part = { .options = options,
				     .result = ret,
				     .process = model->processes[i],
				     .err = err };

		r = write_process(model, &part, names);
	}
	amd_output_names_done(&own);
	return r;
}
