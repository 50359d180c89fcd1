/*
 * rocprof-csv: header and texts in quotes, numbers bare, a newline at the end of each line, times
 * in nanoseconds of CLOCK_BOOTTIME.  A quote in a text is written twice.
 */
#include "host/export/amd/csv/csv.h"

#include <errno.h>
#include <stdlib.h>

#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/export/amd/csv/csv_parts.h"
#include "host/export/exporter.h"

static int check_stranger(const struct output_file *file, const char *path, const char *header,
			  struct err *err)
{
	char pattern[32];

	snprintf(pattern, sizeof(pattern), "%.20s*", header);
	return output_check_stranger(&file->location, path, pattern, err);
}

/* "PREFIX_suffix.csv" */
int csv_open(struct csv_set *set, struct output_file *file, const char *suffix, const char *header)
{
	CLEANUP(free) char *path = NULL;
	int r;

	if (asprintf(&path, "%s_%s.csv", set->prefix, suffix) < 0) {
		path = NULL;
		return err_set(set->err, -ENOMEM, "write '%s': no memory", set->prefix);
	}
	r = output_open(file, path, set->err);
	if (!r && set->options->keeps_strangers)
		r = check_stranger(file, path, header, set->err);
	if (!r)
		print_lines(file->out, header);
	return r;
}

static int amd_csv_take(const struct amd_event *event, void *context)
{
	struct csv_set *set = context;
	struct output_file *trace = &set->traces[event->domain];
	int r = trace->out ? 0
			   : csv_open(set, trace, amd_domains[event->domain].trace_file,
				      csv_headers[event->domain]);

	if (!r)
		r = csv_rows[event->domain](set, trace->out, event);
	if (r)
		return r;
	fputc('\n', trace->out);
	return export_state(trace->out);
}

static int amd_csv_commit(struct csv_set *set, struct output_file *file)
{
	int r = file->out ? output_commit(file, set->err) : 0;

	if (!r && file->path && set->options->tell)
		set->options->tell(set->options->context, file->path);
	return r;
}

/* A full disk is noticed before the first file gets its name. */
static int amd_csv_flush(struct csv_set *set, struct output_file *file)
{
	errno = 0;
	if (!file->out || (!fflush(file->out) && !ferror(file->out)))
		return 0;
	return output_explain(errno ? -errno : -EIO, file->path, set->err);
}

static int each_file(struct csv_set *set, int (*act)(struct csv_set *, struct output_file *))
{
	int r = act(set, &set->agent_info);

	for (unsigned domain = 0; !r && domain < AMD_DOMAINS; domain++) {
		r = act(set, &set->traces[domain]);
		if (!r)
			r = act(set, &set->stats[domain]);
	}
	return r ? r : act(set, &set->domain_stats);
}

static int commit_all(struct csv_set *set)
{
	int r = each_file(set, amd_csv_flush);

	return r ? r : each_file(set, amd_csv_commit);
}

static void set_done(struct csv_set *set)
{
	for (unsigned domain = 0; domain < AMD_DOMAINS; domain++) {
		output_discard(&set->traces[domain]);
		output_discard(&set->stats[domain]);
	}
	output_discard(&set->domain_stats);
	output_discard(&set->agent_info);
	agents_free(set->agents, set->view->model);
}

int amd_csv_write(struct amd_view *view, const char *prefix, const struct amd_csv_options *options,
		  struct err *err)
{
	struct csv_set set = { .view = view, .prefix = prefix, .options = options, .err = err };
	int r = 0;

	set.agents = agents_new(view->model, view->process);
	if (!set.agents)
		r = err_set(err, -ENOMEM, "write '%s': no memory", prefix);
	if (!r) {
		errno = 0;
		r = amd_each_event(view, amd_csv_take, &set);
		if (r && !err->code)
			output_explain(r, prefix, err);
	}
	if (!r)
		r = csv_agents(&set);
	if (!r)
		r = csv_stats(&set);
	if (!r)
		r = commit_all(&set);
	set_done(&set);
	return r;
}

/* Each process has its set of files; several have their numbers in the names, as in AMD's tool. */
static int write_process(struct model *model, const struct model_process *process,
			 const char *prefix, struct err *err)
{
	CLEANUP(amd_view_done) struct amd_view view = { 0 };
	CLEANUP(amd_stats_done) struct amd_stats stats = { 0 };
	struct amd_csv_options options = { .stats = &stats, .keeps_strangers = true };
	int r = amd_view_init(&view, model, &(struct amd_view_options){ .process = process }, err);

	if (!r && amd_stats_init(&stats, &view))
		r = err_set(err, -ENOMEM, "write '%s': no memory", prefix);
	return r ? r : amd_csv_write(&view, prefix, &options, err);
}

static int write_all(struct model *model, const char *prefix, struct err *err)
{
	int r = output_make_folders(prefix, err);

	for (uint32_t i = 0; !r && i < model->process_count; i++) {
		CLEANUP(free) char *own = NULL;
		char number[16] = "";

		if (i)
			snprintf(number, sizeof(number), "_%d", model->processes[i]->pid);
		if (asprintf(&own, "%s%s", prefix, number) < 0) {
			own = NULL;
			return err_set(err, -ENOMEM, "write '%s': no memory", prefix);
		}
		r = write_process(model, model->processes[i], own, err);
	}
	return r;
}

const struct exporter_format format_rocprof_csv = {
	.write_set = write_all,
};
