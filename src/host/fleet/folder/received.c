/*
 * Writes the recordings that nodes send.  Runs at home; input is foreign.
 */
#include "host/fleet/folder/received.h"

#include "host/core/cleanup.h"
#include "host/core/descriptors.h"
#include "host/core/output/output_file.h"
#include "host/core/room.h"
#include "host/core/text/print.h"
#include "host/fleet/rank.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "DIR/rank-00005-n2-4711.limpet": the caller frees it; NULL: no memory. */
static char *path_of(const struct received *self, const struct fleet *fleet,
		     const struct fleet_rank *rank)
{
	char name[RECORDING_NAME_MAX];

	return fleet_folder_path(self->folder->path,
				 recording_name(rank->is_told ? rank->number : RANK_NONE,
						fleet->nodes[rank->node].name, rank->top, name));
}

static struct received_file *file_add(struct received *self, const struct fleet_rank *rank)
{
	struct table_entry *entry;
	bool is_new;

	if (make_room(&self->files, self->count, &self->room, sizeof(*self->files)))
		return NULL;
	entry = table_make(&self->by_rank, rank->node, (uint64_t)rank->top, &is_new);
	if (!entry)
		return NULL;
	entry->value = self->count;
	self->files[self->count] =
		(struct received_file){ .node = rank->node, .top = rank->top, .fd = -1 };
	return &self->files[self->count++];
}

/* Only for ranks that the node has reported.  *ret NULL: there is none. */
static int file_find(struct received *self, const struct fleet *fleet, uint32_t node, uint32_t pid,
		     struct received_file **ret)
{
	const struct table_entry *entry = table_find(&self->by_rank, node, pid);
	const struct fleet_rank *rank = fleet_find_rank(fleet, node, (pid_t)pid);

	*ret = entry ? &self->files[entry->value] : NULL;
	if (*ret || !rank)
		return 0;
	*ret = file_add(self, rank);
	return *ret ? 0 : -ENOMEM;
}

static void piece_write(struct received *self, const struct fleet *fleet,
			struct received_file *file, const struct piece_message *piece)
{
	CLEANUP(free) char *path = NULL;

	if (file->error || file->is_torn || file->is_told || !piece->size)
		return;
	if (piece->offset != file->bytes) {
		file->is_torn = true;
		return;
	}
	if (!file->bytes) {
		path = path_of(self, fleet, fleet_find_rank(fleet, file->node, file->top));
		file->fd = path ? output_begin_new(path) : -ENOMEM;
		file->error = MIN(file->fd, 0);
	}
	if (!file->error)
		file->error = descriptor_write(file->fd, piece->bytes, piece->size);
	if (file->error)
		return;
	file->bytes += piece->size;
	self->bytes += piece->size;
}

static void file_close(struct received_file *file)
{
	if (file->fd >= 0 && close(TAKE_FD(file->fd)) < 0 && !file->error)
		file->error = -errno;
}

int received_take(struct received *self, const struct fleet *fleet, uint32_t node, uint32_t kind,
		  struct cursor *cursor)
{
	struct received_file *file = NULL;
	struct recorded_message recorded;
	struct piece_message piece;
	int r = 0;

	if (kind == MESSAGE_PIECE && piece_take(cursor, &piece)) {
		r = file_find(self, fleet, node, piece.pid, &file);
		if (file)
			piece_write(self, fleet, file, &piece);
	} else if (kind == MESSAGE_RECORDED && recorded_take(cursor, &recorded)) {
		r = file_find(self, fleet, node, recorded.pid, &file);
		if (file) {
			file->is_told = true;
			file->is_there = recorded.is_there;
			file->told_bytes = recorded.size_bytes;
			file_close(file);
		}
	}
	return r;
}

/* Why it is incomplete; false: it is complete. */
static bool file_blame(const struct received_file *file, char *ret, size_t room)
{
	if (file->error)
		print_into(ret, room, "its recording could not be written here: %s",
			   strerror(-file->error));
	else if (file->is_torn ||
		 (file->is_told && !file->is_there && file->told_bytes != file->bytes))
		print_into(ret, room,
			   "a part of its recording was damaged on the way; the first %" PRIu64
			   " KiB are there",
			   (file->bytes + 1023) / 1024);
	else
		return false;
	return true;
}

/* Written by home or by the node, which may have died and left a part.  Without one, no rank is
 * done. */
static int recording_find(const struct received *self, struct fleet *fleet, struct fleet_rank *rank)
{
	CLEANUP(free) char *path = NULL;
	struct stat there;

	if (rank->node == NODE_NONE || !rank->top)
		return 0;
	path = path_of(self, fleet, rank);
	if (!path)
		return -ENOMEM;
	if (lstat(path, &there) || !S_ISREG(there.st_mode) || !there.st_size)
		return fleet_set_state(fleet, rank, RANK_CUT, "its recording is missing");
	return fleet_set_text(fleet, &rank->recording, strrchr(path, '/') + 1);
}

int received_settle(struct received *self, struct fleet *fleet)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->count; i++) {
		struct received_file *file = &self->files[i];
		struct fleet_rank *rank = fleet_find_rank(fleet, file->node, file->top);
		char reason[256];

		file_close(file);
		if (rank && file_blame(file, reason, sizeof(reason)))
			r = fleet_set_state(fleet, rank, RANK_CUT, reason);
	}
	for (size_t i = 0; !r && i < fleet->rank_count; i++)
		r = recording_find(self, fleet, &fleet->ranks[i]);
	return r;
}

void received_done(struct received *self)
{
	for (size_t i = 0; i < self->count; i++)
		file_close(&self->files[i]);
	free(self->files);
	table_done(&self->by_rank);
	*self = (struct received){ 0 };
}
