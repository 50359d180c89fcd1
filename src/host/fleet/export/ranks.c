/*
 * Visits the ranks of a recorded fleet.
 */
#include "host/fleet/export/fleet_export.h"

#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/fleet/folder/fleet_folder.h"
#include "host/model/samples/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Other tools identify a rank by its name and by torchrun's variable. */
static int rank_name(struct model *model, const struct fleet *fleet, const struct fleet_rank *rank)
{
	char name[160], number[16], size[16];
	int r;

	if (rank->node != NODE_NONE)
		model->host = pool_keep(&model->texts, fleet->nodes[rank->node].name);
	r = model->host ? 0 : -ENOMEM;
	snprintf(number, sizeof(number), "%u", rank->number);
	snprintf(size, sizeof(size), "%zu", fleet->rank_count);
	for (uint32_t i = 0; !r && i < model->process_count; i++) {
		struct model_process *process = model->processes[i];

		print_into(name, sizeof(name), "rank %u on %s: %s", rank->number, model->host,
			   process->name);
		r = text_set(&process->name, name);
		if (!r)
			r = process_set_variable(model, process, "RANK", number);
		if (!r)
			r = process_set_variable(model, process, "WORLD_SIZE", size);
	}
	return r;
}

static void trouble_note(struct fleet_export *self, uint64_t *count, const struct fleet_rank *rank,
			 const char *why)
{
	if (!fleet_export_lacks(self))
		print_into(self->trouble, sizeof(self->trouble), "rank %u: %s", rank->number, why);
	(*count)++;
}

/* An unreadable recording is skipped. */
static int rank_open(struct fleet_export *self, const struct fleet_rank *rank, struct model **ret,
		     struct err *err)
{
	CLEANUP(free) char *path = fleet_folder_path(self->folder, rank->recording);
	char end[sizeof(self->trouble)];
	struct err unread = { 0 };
	int r = path ? model_open(path, ret, &unread) : -ENOMEM;

	if (r && r != -ENOMEM) {
		trouble_note(self, &self->unread, rank, unread.what);
		return 0;
	}
	if (!r)
		r = model_name_late(*ret);
	if (!r)
		r = rank_name(*ret, self->fleet, rank);
	if (r)
		return err_set(err, r, "rank %u: no memory", rank->number);
	model_describe_end(*ret, end, sizeof(end));
	if (*end)
		trouble_note(self, &self->cut, rank, end);
	(*ret)->samples->view = self->view;
	model_use_wall_clock(*ret);
	return 0;
}

int fleet_export_each(struct fleet_export *self, rank_visitor *visit, void *context,
		      struct err *err)
{
	int r = 0;

	self->unread = self->cut = self->absent = 0; /* some formats visit them twice */
	for (size_t i = 0; !r && i < self->fleet->rank_count; i++) {
		const struct fleet_rank *rank = &self->fleet->ranks[i];
		CLEANUP(model_free) struct model *model = NULL;

		if (*rank->recording)
			r = rank_open(self, rank, &model, err);
		else
			trouble_note(self, &self->absent, rank,
				     *rank->reason ? rank->reason : "it has no recording");
		if (!r && model)
			r = visit(self, model, rank, context, err);
	}
	return r;
}
