/*
 * A model as rows of a rocpd database.  Rows of threads, agents, queues, streams, kernels and names
 * are inserted at their first use.
 *
 * Numbers of processes and of their parts are those of the recording; from its second process on
 * they have the process's index in their upper half, so that one file can hold several.
 */
#include "host/export/amd/rocpd/rocpd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/core/cleanup.h"
#include "host/export/amd/rocpd/rocpd_parts.h"
#include "host/export/exporter.h"
#include "shared/base/hash.h"

static void fill_environment(struct json *json, const void *context)
{
	const struct model_process *process = context;

	json_object(json, NULL);
	for (uint32_t i = 0; i < process->variable_count; i++)
		json_text(json, process->variables[i].name, process->variables[i].value);
	json_object_end(json);
}

static int put_process(struct rocpd *self, const struct model_process *process)
{
	const struct model *model = self->view->model;
	CLEANUP(free) char *environment = rocpd_json(fill_environment, process);

	if (!environment)
		return rocpd_no_memory(self);
	return rocpd_put(
		self, INSERT_PROCESS,
		(struct rocpd_cell[]){ NUMBER(process_id(process)), NUMBER(self->node),
				       NUMBER(process->parent), NUMBER(process->pid),
				       NUMBER(process->start_ns), NUMBER(model->last.boot_ns),
				       NUMBER(process->start_ns), NUMBER(model->last.boot_ns),
				       TEXT(process->command), TEXT(environment), TEXT("{}") });
}

/* The rows that others refer to, as far as known before them. */
static int put_surroundings(struct rocpd *self, const struct model_process *process)
{
	int r = put_process(self, process);

	if (!r)
		r = rocpd_queue(self, process, 0);
	if (!r)
		r = rocpd_stream(self, process, 0);
	if (!r)
		r = rocpd_agents(self, process);
	if (!r)
		r = rocpd_put(self, INSERT_CODE_OBJECT,
			      (struct rocpd_cell[]){ NUMBER(id_of(process, 0)), NUMBER(self->node),
						     NUMBER(process_id(process)) });
	return r;
}

static int put_threads(struct rocpd *self)
{
	const struct model *model = self->view->model;
	int r = 0;

	for (uint32_t i = 0; !r && i < model->thread_count; i++) {
		const struct model_thread *thread = model->threads[i];

		if (!self->view->process || thread->process == self->view->process)
			r = rocpd_thread(self, thread->process, thread->tid, thread->name);
	}
	return r;
}

/* Once: several recordings may be of one. */
static int put_node(struct rocpd *self)
{
	const struct model *model = self->view->model;
	uint64_t hash = hash_bytes(model->host, strlen(model->host)) & INT64_MAX;
	int is_new;

	self->node = (uint32_t)hash;
	is_new = rocpd_learn(self, KNOWN_NODE, self->node);
	if (is_new <= 0)
		return is_new;
	return rocpd_put(self, INSERT_NODE,
			 (struct rocpd_cell[]){ NUMBER(self->node), NUMBER(hash), TEXT(model->host),
						TEXT("Linux"), TEXT(model->host),
						TEXT(model->kernel), TEXT(""), TEXT(model->machine),
						TEXT("") });
}

static int event_take(const struct amd_event *event, void *context)
{
	return rocpd_event(context, event);
}

static int put_everything(struct rocpd *self)
{
	const struct model *model = self->view->model;
	int64_t empty;
	int r = put_node(self);

	if (!r)
		r = rocpd_string(self, "", &empty);
	for (uint32_t i = 0; !r && i < model->process_count; i++)
		if (!self->view->process || model->processes[i] == self->view->process)
			r = put_surroundings(self, model->processes[i]);
	if (!r)
		r = put_threads(self);
	if (!r)
		r = amd_each_event(self->view, event_take, self);
	if (!r)
		r = rocpd_windows(self);
	if (r == -ENOMEM && !self->err->code)
		r = rocpd_no_memory(self);
	return r;
}

/* Version 7: milliseconds of the day when the process began, then bits that distinguish this
 * recording from all others.  A recording always has the same one. */
static void make_guid(const struct amd_view *view, char ret[ROCPD_GUID_BYTES])
{
	const struct model *model = view->model;
	const struct model_process *process =
		view->process ? view->process : (model->process_count ? model->processes[0] : NULL);
	uint64_t facts[] = { process ? (uint64_t)process->pid : 0, process ? process->start_ns : 0,
			     model->first.ticks, model->first.real_ns,
			     hash_bytes(model->host, strlen(model->host)) };
	uint64_t begin_ns = (process ? process->start_ns : model->first.boot_ns) +
			    (uint64_t)model_wall_offset_ns(model);
	uint64_t first = hash_bytes(facts, sizeof(facts)), second,
		 milliseconds = begin_ns / 1000000;

	facts[0] ^= first;
	second = hash_bytes(facts, sizeof(facts));
	snprintf(ret, ROCPD_GUID_BYTES, "%08x-%04x-7%03x-%04x-%04x%08x",
		 (unsigned)(milliseconds >> 16 & 0xffffffff), (unsigned)(milliseconds & 0xffff),
		 (unsigned)(first & 0xfff), (unsigned)(0x8000 | (first >> 12 & 0x3fff)),
		 (unsigned)(second & 0xffff), (unsigned)(second >> 16 & 0xffffffff));
}

/* Texts of the next recording may reuse addresses: drops addresses, keeps hashes. */
static int view_add(struct rocpd *self, struct amd_view *view)
{
	uint32_t count = view->model->process_count;
	int r;

	self->view = view;
	self->agents = agents_new(view->model, view->process);
	for (uint32_t i = 0; i < count; i++)
		view->model->processes[i]->number_in_file = self->process_count + i;
	r = self->agents ? put_everything(self) : rocpd_no_memory(self);
	self->process_count += count;
	agents_free(self->agents, view->model);
	self->agents = NULL;
	table_done(&self->text_ids);
	self->text_ids = (struct table){ 0 };
	return r;
}

static void rocpd_done(struct rocpd *self)
{
	table_done(&self->known);
	table_done(&self->strings);
	table_done(&self->text_ids);
	rocpd_close(&self->file);
}

int rocpd_write(struct amd_view *view, const char *path, const char *shown, struct err *err)
{
	struct rocpd self = { .err = err };
	char guid[ROCPD_GUID_BYTES];
	int r;

	make_guid(view, guid);
	r = rocpd_open(&self.file, path, shown, guid, err);
	if (!r)
		r = view_add(&self, view);
	if (!r)
		r = rocpd_finish(&self.file, err);
	rocpd_done(&self);
	return r;
}

int rocpd_ranks_open(struct rocpd **ret, const char *path, const char *shown, struct model *first,
		     struct err *err)
{
	struct amd_view view = { .model = first };
	struct rocpd *self = calloc(1, sizeof(*self));
	char guid[ROCPD_GUID_BYTES];
	int r;

	if (!self)
		return err_set(err, -ENOMEM, "write '%s': no memory", shown);
	self->err = err;
	make_guid(&view, guid);
	r = rocpd_open(&self->file, path, shown, guid, err);
	if (r)
		rocpd_ranks_close(self);
	else
		*ret = self;
	return r;
}

int rocpd_ranks_add(struct rocpd *self, struct model *model)
{
	CLEANUP(amd_view_done) struct amd_view view = { 0 };
	int r = amd_view_init(&view, model, &(struct amd_view_options){ 0 }, self->err);

	return r ? r : view_add(self, &view);
}

int rocpd_ranks_finish(struct rocpd *self)
{
	return rocpd_finish(&self->file, self->err);
}

void rocpd_ranks_close(struct rocpd *self)
{
	if (!self)
		return;
	rocpd_done(self);
	free(self);
}

static int write_all(struct model *model, const struct output_file *file, struct err *err)
{
	CLEANUP(amd_view_done) struct amd_view view = { 0 };
	int r = amd_view_init(&view, model, &(struct amd_view_options){ 0 }, err);

	return r ? r : rocpd_write(&view, file->reachable, file->path, err);
}

const struct exporter_format format_rocpd = {
	.looks_like = "SQLite format 3*" ROCPD_APPLICATION "*",
	.write_named = write_all,
};
