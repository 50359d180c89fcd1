/*
 * Names a target's open descriptors.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/collect/facts.h"
#include "host/collect/sockets.h"
#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/text/text.h"
#include "host/process/procfs.h"

#define FILES_MAX 65536u

struct files {
	struct recorded_file *items;
	uint32_t count;
	size_t room;
};

static void files_done(struct files *files)
{
	for (uint32_t i = 0; i < files->count; i++)
		free((char *)(uintptr_t)files->items[i].name);
	free(files->items);
}

static inline void files_done_at_scope_end(struct files *files)
{
	files_done(files);
}

DEFINE_CLEANUP(DIR *, closedir)

/* "socket:[123]" is called by its peer where that is known. */
static const char *better_name(pid_t pid, const char *link, struct network *network)
{
	struct text text = text_of(link);
	const char *name = NULL;
	uint64_t inode;

	if (text_take_prefix(&text, "socket:[") && text_take_number(&text, 10, &inode))
		name = network_find(network, pid, inode);
	return name ? name : link;
}

static int files_take(struct files *files, pid_t pid, const char *entry, struct network *network)
{
	char path[32], link[512];
	uint64_t descriptor;
	char *copy;

	if (text_parse_number(entry, INT32_MAX, &descriptor))
		return 0;
	snprintf(path, sizeof(path), "fd/%u", (unsigned)descriptor);
	if (proc_read_link(pid, path, link, sizeof(link)) <= 0)
		return 0;
	copy = strdup(better_name(pid, link, network));
	if (!copy || make_room(&files->items, files->count, &files->room, sizeof(*files->items))) {
		free(copy);
		return -ENOMEM;
	}
	files->items[files->count].descriptor = (int32_t)descriptor;
	files->items[files->count++].name = copy;
	return 0;
}

int facts_files(struct recording *recording, pid_t pid, uint32_t number, struct network *network,
		struct err *err)
{
	CLEANUP(files_done) struct files files = { 0 };
	CLEANUP(closedir) DIR *directory = NULL;
	struct dirent *entry;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	directory = opendir(path);
	if (!directory)
		return proc_error(pid, "fd", -errno, err);
	while ((entry = readdir(directory)) && files.count < FILES_MAX)
		if (files_take(&files, pid, entry->d_name, network))
			return err_set(err, -ENOMEM, "files of %d: no memory", (int)pid);
	return recording_list(recording, CHUNK_FILES, &(struct list_head){ number, 0, files.count },
			      files.items, err);
}
