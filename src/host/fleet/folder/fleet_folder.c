/*
 * Makes the folder and writes its fleet.json.
 */
#include "host/fleet/folder/fleet_folder.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/output/output_file.h"
#include "host/core/text/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

char *fleet_folder_path(const char *folder, const char *name)
{
	char *path = NULL;

	return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* A folder's owner could replace limpet's files. */
static int stranger_refuse(const char *path, const char *what, struct err *err)
{
	err_set(err, -EPERM, "the folder '%s' is %s", path, what);
	err_why(err, "its owner could exchange the recordings");
	err_fix(err, "-o with a name that is not there yet");
	return err_exit(err, EXIT_USAGE);
}

static bool is_ours(const struct stat *present)
{
	return !present->st_uid || present->st_uid == geteuid();
}

static int empty_check(DIR *folder, const char *path, struct err *err)
{
	const struct dirent *entry = readdir(folder);

	while (entry && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")))
		entry = readdir(folder);
	if (!entry)
		return 0;
	err_set(err, -EEXIST, "the folder '%s' is not empty", path);
	err_why(err, "recordings of one fleet have a folder of their own");
	err_fix(err, "-o with another name");
	return err_exit(err, EXIT_USAGE);
}

/* Follows only limpet's user's own links: another user's may change its target at any moment. */
static int folder_open(const char *path, DIR **ret, struct err *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	CLEANUP(close) int fd = open(path, flags | O_NOFOLLOW);
	struct stat link;

	if (fd < 0 && !lstat(path, &link) && S_ISLNK(link.st_mode)) {
		if (!is_ours(&link))
			return stranger_refuse(path, "behind another user's link", err);
		fd = open(path, flags);
	}
	*ret = fd < 0 ? NULL : fdopendir(fd);
	if (!*ret)
		return err_set(err, -errno, "open '%s': %s", path, strerror(errno));
	(void)!TAKE_FD(fd);
	return 0;
}

/* The path of the opened folder, even if the name leads elsewhere by now; the caller frees it. */
static int folder_locate(DIR *folder, const char *path, char **ret, struct err *err)
{
	char self[64], found[PATH_MAX];
	ssize_t size;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", dirfd(folder));
	size = readlink(self, found, sizeof(found));
	if (size < 0 || size == (ssize_t)sizeof(found))
		return err_set(err, size < 0 ? -errno : -ENAMETOOLONG,
			       "'%s': where it is cannot be read", path);
	*ret = strndup(found, (size_t)size);
	return *ret ? 0 : err_set(err, -ENOMEM, "no memory");
}

static int folder_check(const char *path, char **ret, struct err *err)
{
	DIR *folder = NULL;
	struct stat present;
	int r = folder_open(path, &folder, err);

	if (!folder)
		return r;
	r = empty_check(folder, path, err);
	if (!r && fstat(dirfd(folder), &present))
		r = err_set(err, -errno, "'%s': %s", path, strerror(errno));
	if (!r && !is_ours(&present))
		r = stranger_refuse(path, "another user's", err);
	if (!r)
		r = folder_locate(folder, path, ret, err);
	closedir(folder);
	return r;
}

int fleet_folder_make(struct fleet_folder *ret, const char *path, const char *version,
		      const char *options, struct err *err)
{
	const struct fleet nothing = { .title = (char *)(uintptr_t) "" };
	struct fleet_folder folder = { .version = version,
				       .options = options,
				       .begin_ns = clock_read_ns(CLOCK_REALTIME) };
	uint64_t mark[2];
	int r = output_make_private_folder(path, err);

	if (!r)
		r = folder_check(path, &folder.path, err);
	if (r)
		return r;
	if (getrandom(mark, sizeof(mark), 0) != (ssize_t)sizeof(mark)) {
		mark[0] = folder.begin_ns;
		mark[1] = now_ns();
	}
	snprintf(folder.mark, sizeof(folder.mark), "%016llx%016llx", (unsigned long long)mark[0],
		 (unsigned long long)mark[1]);
	r = fleet_folder_write(&folder, &nothing, /* is_whole */ false, err);
	if (r)
		fleet_folder_done(&folder);
	else
		*ret = folder;
	return r;
}

void fleet_folder_done(struct fleet_folder *folder)
{
	free(folder->path);
	folder->path = NULL;
}

static void node_write(struct json *json, const struct fleet_node *node)
{
	json_object(json, NULL);
	json_text(json, "name", node->name);
	json_bool(json, "answered", node->phase == NODE_ENDED);
	json_text(json, "trouble", node->trouble);
	json_text(json, "limpet", node->version);
	json_text(json, "machine", node->machine);
	json_text(json, "kernel", node->kernel);
	json_number(json, "processors", node->processors);
	json_number(json, "real_ns", node->real_ns);
	json_number(json, "boot_ns", node->boot_ns);
	json_bool(json, "clock_synchronized", node->is_synchronized);
	json_number(json, "clock_error_ns", node->clock_error_ns);
	json_number(json, "lost_lines", node->lost_lines);
	json_object_end(json);
}

static void rank_write(struct json *json, const struct fleet_rank *rank)
{
	json_object(json, NULL);
	json_number(json, "rank", rank->number);
	json_bool(json, "numbered", rank->is_told);
	if (rank->node != NODE_NONE)
		json_number(json, "node", rank->node);
	json_number(json, "pid", (uint64_t)rank->pid);
	json_text(json, "program", rank->program);
	json_text(json, "command", rank->command);
	json_text(json, "user", rank->user);
	json_text(json, "state", rank_state_key(rank->state));
	json_text(json, "reason", rank->reason);
	json_text(json, "recording", rank->recording);
	json_object_end(json);
}

/* Nodes come before the ranks that refer to them by number. */
static void fleet_write(FILE *out, const struct fleet_folder *folder, const struct fleet *fleet,
			bool is_whole)
{
	struct json json = { .out = out };

	json_object(&json, NULL);
	json_text(&json, "limpet", folder->version);
	json_number(&json, "fleet", 1);
	json_text(&json, "mark", folder->mark);
	json_text(&json, "title", fleet->title);
	json_text(&json, "options", folder->options);
	json_number(&json, "begin_real_ns", folder->begin_ns);
	json_bool(&json, "complete", is_whole);
	json_list(&json, "nodes");
	for (size_t i = 0; i < fleet->node_count; i++)
		node_write(&json, &fleet->nodes[i]);
	json_list_end(&json);
	json_list(&json, "ranks");
	for (size_t i = 0; i < fleet->rank_count; i++)
		rank_write(&json, &fleet->ranks[i]);
	json_list_end(&json);
	json_object_end(&json);
}

int fleet_folder_write(const struct fleet_folder *folder, const struct fleet *fleet, bool is_whole,
		       struct err *err)
{
	CLEANUP(free) char *path = fleet_folder_path(folder->path, "fleet.json");
	CLEANUP(output_discard) struct output_file file = { 0 };
	int r = path ? output_open(&file, path, err) : err_set(err, -ENOMEM, "no memory");

	if (!r)
		r = output_check_stranger(&file.location, path, "{\"limpet\":*", err);
	if (r)
		return r;
	fleet_write(file.out, folder, fleet, is_whole);
	return output_commit(&file, err);
}
