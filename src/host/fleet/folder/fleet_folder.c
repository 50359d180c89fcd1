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

static void mark_make(char ret[FLEET_MARK_MAX])
{
	uint64_t numbers[2];

	if (getrandom(numbers, sizeof(numbers), 0) != (ssize_t)sizeof(numbers))
		numbers[0] = clock_read_ns(CLOCK_REALTIME), numbers[1] = now_ns();
	snprintf(ret, FLEET_MARK_MAX, "%016llx%016llx", (unsigned long long)numbers[0],
		 (unsigned long long)numbers[1]);
}

static bool is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Whoever owns a folder can put other files in the place of ours. */
static int owner_check(DIR *folder, const char *path, struct err *err)
{
	struct stat present;

	if (fstat(dirfd(folder), &present))
		return err_set(err, -errno, "'%s': %s", path, strerror(errno));
	if (!present.st_uid || present.st_uid == geteuid())
		return 0;
	err_set(err, -EPERM, "the folder '%s' is another user's", path);
	err_why(err, "its owner could exchange the recordings");
	err_fix(err, "-o with a name that is not there yet");
	return err_exit(err, EXIT_USAGE);
}

static int empty_check(const char *path, struct err *err)
{
	DIR *folder = opendir(path);
	const struct dirent *entry = NULL;
	int r;

	if (!folder)
		return err_set(err, -errno, "open '%s': %s", path, strerror(errno));
	while ((entry = readdir(folder)) && !is_entry(entry))
		;
	r = entry ? 0 : owner_check(folder, path, err);
	closedir(folder);
	if (!entry)
		return r;
	err_set(err, -EEXIST, "the folder '%s' is not empty", path);
	err_why(err, "recordings of one fleet have a folder of their own");
	err_fix(err, "-o with another name");
	return err_exit(err, EXIT_USAGE);
}

int fleet_folder_make(struct fleet_folder *ret, const char *path, const char *version,
		      const char *options, struct err *err)
{
	CLEANUP(free) char *first = fleet_folder_path(path, "fleet.json");
	const struct fleet nothing = { .title = (char *)(uintptr_t) "" };
	struct fleet_folder folder = { .version = version,
				       .options = options,
				       .begin_ns = clock_read_ns(CLOCK_REALTIME) };
	int r = first ? output_make_folders(first, err) : err_set(err, -ENOMEM, "no memory");

	if (!r)
		r = empty_check(path, err);
	if (r)
		return r;
	folder.path = realpath(path, NULL);
	if (!folder.path)
		return err_set(err, -errno, "'%s': %s", path, strerror(errno));
	mark_make(folder.mark);
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

/* Nodes come before the ranks that name them by their number. */
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
