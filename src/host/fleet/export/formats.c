/*
 * How a fleet is written in each format: all ranks in one file, or a file for each.
 */
#include "host/core/cleanup.h"
#include "host/core/output/output_file.h"
#include "host/export/amd/rocpd/rocpd.h"
#include "host/export/exporter.h"
#include "host/export/trace/chrome.h"
#include "host/fleet/export/fleet_export.h"
#include "host/fleet/export/trace_archive.h"
#include "host/fleet/rank.h"
#include "host/model/samples/samples.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME_BYTES 256u

/* "rank-00005-n2-4711" of its recording. */
static void rank_file_name(const struct fleet_rank *rank, const char *extension,
			   char ret[NAME_BYTES])
{
	size_t length = strlen(rank->recording), end = strlen(RECORDING_EXTENSION);

	if (length > end && !strcmp(rank->recording + length - end, RECORDING_EXTENSION))
		length -= end;
	snprintf(ret, NAME_BYTES, "%.*s%s", (int)length, rank->recording, extension);
}

static void totals_add(struct fleet_export *self, const struct model *model)
{
	self->ranks++;
	self->samples += model->samples->count;
	self->calls += model->calls;
}

/* Samples of all ranks, by an exporter for one recording. */
static int merged_write(struct fleet_export *self, const struct fleet_format *format,
			struct err *err)
{
	const struct exporter *exporter = exporter_find(format->name);
	CLEANUP(model_free) struct model *model = NULL;
	int kept, r, file = memfd_create("limpet-fleet", MFD_CLOEXEC);

	if (file < 0)
		return err_set(err, -errno, "'%s': %s", self->output, strerror(errno));
	kept = fcntl(file, F_DUPFD_CLOEXEC, 0);
	r = fleet_export_merge(self, file, self->output, err);
	if (!r)
		r = model_open_fd(kept, "the ranks together", &model, err);
	else
		close(kept);
	if (r)
		return r;
	model->samples->view = self->view;
	return export_file(model, exporter, self->output, err);
}

/* One file for each rank, by the exporters for one recording. */
static int rank_write(struct fleet_export *self, struct model *model, const struct fleet_rank *rank,
		      void *context, struct err *err)
{
	const struct exporter *exporter = context;
	char name[NAME_BYTES];
	CLEANUP(free) char *path = NULL;

	if (!(exporter_content(model) & exporter->holds))
		return 0;
	rank_file_name(rank, exporter->extensions[0], name);
	if (asprintf(&path, "%s/%s", self->output, name) < 0)
		return err_set(err, -ENOMEM, "'%s': no memory", self->output);
	totals_add(self, model);
	return export_file(model, exporter, path, err);
}

static int folder_write(struct fleet_export *self, const struct fleet_format *format,
			struct err *err)
{
	CLEANUP(free) char *first = NULL;
	int r;

	if (asprintf(&first, "%s/-", self->output) < 0)
		return err_set(err, -ENOMEM, "'%s': no memory", self->output);
	r = output_make_folders(first, err);
	if (r)
		return r;
	return fleet_export_each(self, rank_write, (void *)(uintptr_t)exporter_find(format->name),
				 err);
}

static int recording_write(struct fleet_export *self, const struct fleet_format *format,
			   struct err *err)
{
	(void)format;
	return fleet_export_merge(self, -1, self->output, err);
}

static int rank_archive(struct fleet_export *self, struct model *model,
			const struct fleet_rank *rank, void *context, struct err *err)
{
	const struct exporter *exporter = exporter_find("pftrace");
	char name[NAME_BYTES];

	if (!(exporter_content(model) & exporter->holds))
		return 0;
	rank_file_name(rank, ".pftrace", name);
	totals_add(self, model);
	return trace_archive_add(context, name, model, exporter, err);
}

/* Perfetto needs the manifest first: its file names are known without reading. */
static void manifest_fill(struct json *json, const struct fleet *fleet)
{
	json_object(json, NULL);
	json_object(json, "perfetto_manifest");
	json_number(json, "version", 1);
	json_list(json, "files");
	for (size_t i = 0; i < fleet->rank_count; i++) {
		char name[NAME_BYTES];

		if (!*fleet->ranks[i].recording)
			continue;
		rank_file_name(&fleet->ranks[i], ".pftrace", name);
		json_object(json, NULL);
		json_text(json, "path", name);
		if (fleet->ranks[i].node != NODE_NONE) {
			json_object(json, "machine");
			json_text(json, "name", fleet->nodes[fleet->ranks[i].node].name);
			json_object_end(json);
		}
		json_object_end(json);
	}
	json_list_end(json);
	json_object_end(json);
	json_object_end(json);
}

static int archive_write(struct fleet_export *self, const struct fleet_format *format,
			 struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	int r = output_open(&file, self->output, err);

	(void)format;
	if (!r)
		r = output_check_stranger(&file.location, self->output, TRACE_ARCHIVE_BEGINS "*",
					  err);
	if (!r)
		r = trace_archive_manifest(file.out, manifest_fill, self->fleet, err);
	if (!r)
		r = fleet_export_each(self, rank_archive, file.out, err);
	if (!r)
		r = trace_archive_end(file.out, err);
	return r ? r : output_commit(&file, err);
}

static int rank_origin(struct fleet_export *self, struct model *model,
		       const struct fleet_rank *rank, void *context, struct err *err)
{
	uint64_t *origin_ns = context, begin_ns = model->first.boot_ns;

	(void)self;
	(void)rank;
	(void)err;
	if (model->windows.count)
		begin_ns = MIN(begin_ns, model->windows.first_ns);
	*origin_ns = MIN(*origin_ns, begin_ns);
	return 0;
}

/* Where processes of two nodes share a number, the later one gets another. */
struct chrome_file {
	struct chrome_ranks chrome;
	struct table taken;
	int32_t spare;
};

#define PID_LIMIT 0x400000 /* the kernel's maximum */

static int rank_chrome(struct fleet_export *self, struct model *model,
		       const struct fleet_rank *rank, void *context, struct err *err)
{
	struct chrome_file *file = context;
	bool is_new = false;
	int r = 0;

	(void)rank;
	if (!(exporter_content(model) & (HOLDS_CALLS | HOLDS_WINDOWS)))
		return 0;
	for (uint32_t i = 0; !r && i < model->process_count; i++) {
		int32_t *pid = &model->processes[i]->pid;

		if (!table_make(&file->taken, (uint64_t)*pid, 0, &is_new))
			r = -ENOMEM;
		if (!r && !is_new)
			*pid = PID_LIMIT + ++file->spare;
	}
	if (!r)
		r = chrome_ranks_add(&file->chrome, model);
	totals_add(self, model);
	return r ? output_explain(r, self->output, err) : 0;
}

/* Events may begin a little before the first reading of the clock. */
#define ORIGIN_EARLIER_NS 1000000000u

static int chrome_write(struct fleet_export *self, const struct fleet_format *format,
			struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	struct chrome_file chrome = { 0 };
	uint64_t origin_ns = UINT64_MAX;
	int r = fleet_export_each(self, rank_origin, &origin_ns, err);

	(void)format;
	self->unread = 0; /* counted again later */
	if (!r)
		r = output_open(&file, self->output, err);
	if (!r)
		r = output_check_stranger(&file.location, self->output,
					  exporter_find("chrome")->format->looks_like, err);
	if (r)
		return r;
	chrome_ranks_begin(&chrome.chrome, file.out, origin_ns - MIN(origin_ns, ORIGIN_EARLIER_NS));
	r = fleet_export_each(self, rank_chrome, &chrome, err);
	chrome_ranks_end(&chrome.chrome);
	table_done(&chrome.taken);
	if (!r && !self->ranks)
		return 0;
	return r ? r : output_commit(&file, err);
}

struct rocpd_ranks {
	struct rocpd *database;
	const struct output_file *file;
};

static int rank_rocpd(struct fleet_export *self, struct model *model, const struct fleet_rank *rank,
		      void *context, struct err *err)
{
	struct rocpd_ranks *ranks = context;
	int r = 0;

	(void)rank;
	if (!(exporter_content(model) & (HOLDS_CALLS | HOLDS_WINDOWS)))
		return 0;
	if (!ranks->database)
		r = rocpd_ranks_open(&ranks->database, ranks->file->reachable, self->output, model,
				     err);
	totals_add(self, model);
	return r ? r : rocpd_ranks_add(ranks->database, model);
}

static int rocpd_write_ranks(struct fleet_export *self, const struct fleet_format *format,
			     struct err *err)
{
	CLEANUP(output_discard) struct output_file file = { 0 };
	struct rocpd_ranks ranks = { .file = &file };
	int r = output_open_named(&file, self->output, err);

	(void)format;
	if (!r)
		r = output_check_stranger(&file.location, self->output,
					  exporter_find("rocpd")->format->looks_like, err);
	if (!r)
		r = fleet_export_each(self, rank_rocpd, &ranks, err);
	if (!r && ranks.database)
		r = rocpd_ranks_finish(ranks.database);
	rocpd_ranks_close(ranks.database);
	if (r || !ranks.database)
		return r;
	return output_commit(&file, err);
}

static const struct fleet_format own_formats[] = {
	{ "pftrace", "a TAR for ui.perfetto.dev: ranks by the machines they ran on", ".tar", false,
	  archive_write },
	{ "chrome", "chrome://tracing, Perfetto: all ranks beside each other", ".chrome.json",
	  false, chrome_write },
	{ "rocpd", "AMD's database: all nodes and processes in one set of tables", ".db", false,
	  rocpd_write_ranks },
	{ "limpet", "one recording of all samples, for limpet ui and report", ".limpet", false,
	  recording_write },
	{ 0 },
};

#define OTHERS_MAX 32u

/* The other formats of limpet export: samples together, calls for each rank separately. */
static const struct fleet_format *formats_derive(void)
{
	static struct fleet_format formats[OTHERS_MAX];
	size_t count = 0;

	for (const struct exporter *exporter = exporters; exporter->name && count < OTHERS_MAX - 1;
	     exporter++) {
		bool is_together = exporter->holds == HOLDS_SAMPLES, is_own = false;

		for (const struct fleet_format *own = own_formats; own->name; own++)
			is_own |= !strcmp(own->name, exporter->name);
		if (!is_own)
			formats[count++] =
				(struct fleet_format){ exporter->name, exporter->help,
						       exporter->extensions[0], !is_together,
						       is_together ? merged_write : folder_write };
	}
	return formats;
}

void fleet_formats_each(fleet_format_visitor *visit, void *context)
{
	for (const struct fleet_format *format = formats_derive(); format->name; format++)
		if (!format->is_folder)
			visit(format, context);
	for (const struct fleet_format *format = own_formats; format->name; format++)
		visit(format, context);
	for (const struct fleet_format *format = formats_derive(); format->name; format++)
		if (format->is_folder)
			visit(format, context);
}

const struct fleet_format *fleet_format_find(const char *name)
{
	const struct fleet_format *formats[] = { own_formats, formats_derive() };

	for (unsigned i = 0; i < ARRAY_SIZE(formats); i++)
		for (const struct fleet_format *format = formats[i]; format->name; format++)
			if (!strcmp(format->name, name))
				return format;
	return NULL;
}

int fleet_export_write(struct fleet_export *self, const struct fleet_format *format,
		       struct err *err)
{
	int r = format->write(self, format, err);

	if (!r && !self->ranks) {
		err_set(err, -ENODATA, "no rank has anything that %s can hold", format->name);
		if (self->unread)
			err_why(err, "%s", self->trouble);
		r = -ENODATA;
	}
	if (r == -ENODATA)
		err_exit(err, EXIT_NOTHING_CAPTURED);
	return r;
}
