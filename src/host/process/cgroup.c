/*
 * Paths are those in this process's view of /proc/PID/cgroup, below the visible mounts: in another
 * container some may be missing.
 */
#include "host/process/cgroup.h"

#include "host/core/cleanup.h"
#include "host/process/file_system.h"
#include "host/process/procfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOUNTS_MAX    (1u << 20)
#define STAT_BYTES    16384
#define NO_LIMIT_FROM (1ull << 60) /* the first form has a large number for none */
#define MIB           (1ull << 20)

/* One of the two forms: its names of the same things. */
struct form {
	const char *type;    /* of the file system */
	const char *freezer; /* the controller, NULL: all groups have it */
	const char *memory;  /* likewise */
	const char *freeze;  /* the freezer's file, and its contents when frozen */
	const char *is_frozen[2];
	const char *limit, *usage;
	const char *caches[3]; /* in memory.stat: what the kernel reclaims before it kills */
};

static const struct form forms[] = {
	{ "cgroup2",
	  NULL,
	  NULL,
	  "cgroup.freeze",
	  { "1", "1" },
	  "memory.max",
	  "memory.current",
	  { "inactive_file", "active_file", "slab_reclaimable" } },
	{ "cgroup",
	  "freezer",
	  "memory",
	  "freezer.state",
	  { "FROZEN", "FREEZING" },
	  "memory.limit_in_bytes",
	  "memory.usage_in_bytes",
	  { "total_inactive_file", "total_active_file", "" } },
};

static bool has_field(struct text list, const char *word)
{
	struct text field;

	while (text_take_field(&list, ',', &field))
		if (text_equals(field, word))
			return true;
	return false;
}

/* "NUMBER:CONTROLLERS:PATH"; the second form has no controllers there. */
static bool find_path(struct text groups, const char *controller, struct text *ret)
{
	struct text line, number, controllers;

	while (text_take_line(&groups, &line))
		if (text_take_field(&line, ':', &number) &&
		    text_take_field(&line, ':', &controllers) &&
		    (controller ? has_field(controllers, controller)
				: controllers.at == controllers.end)) {
			*ret = line;
			return true;
		}
	return false;
}

/* The known control groups of the process. */
struct view {
	struct text mounts, groups;
};

/* The group's folder, and where its mount begins. */
struct folder {
	char path[CGROUP_PATH_MAX];
	size_t mount_size;
};

/* As the mount has it: a container's begins at the container's group. */
static void path_shorten(struct text *path, struct text root)
{
	size_t size = (size_t)(root.end - root.at), path_size = (size_t)(path->end - path->at);

	if (size > 1 && path_size >= size && !memcmp(path->at, root.at, size) &&
	    (path_size == size || path->at[size] == '/'))
		path->at += size;
}

static bool find_folder(const struct view *view, const struct form *form, const char *controller,
			struct folder *ret)
{
	struct text mounts = view->mounts, path;
	struct mount mount;
	size_t size;

	do
		if (!mountinfo_next(&mounts, &mount))
			return false;
	while (!text_equals(mount.type, form->type) ||
	       (controller && !has_field(mount.options, controller)));
	if (!find_path(view->groups, controller, &path))
		return false;
	path_shorten(&path, mount.root);
	ret->mount_size = (size_t)(mount.point.end - mount.point.at);
	size = ret->mount_size + (size_t)(path.end - path.at);
	if (size >= sizeof(ret->path))
		return false;
	text_copy(mount.point, ret->path, sizeof(ret->path));
	text_copy(path, ret->path + ret->mount_size, sizeof(ret->path) - ret->mount_size);
	if (size && ret->path[size - 1] == '/')
		ret->path[size - 1] = 0;
	return !strstr(ret->path, "/..");
}

/* False: that was the last one below the mount. */
static bool folder_ascend(struct folder *self)
{
	char *last = strrchr(self->path, '/');

	if (!last || (size_t)(last - self->path) < self->mount_size)
		return false;
	*last = 0;
	return true;
}

static bool read_file(const struct folder *folder, const char *name, char *ret, size_t room)
{
	char path[CGROUP_PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	return text_read_small(path, ret, room) > 0;
}

static bool read_bytes(const struct folder *folder, const char *name, uint64_t *ret)
{
	char text[64];
	struct text number = { text, text };

	if (!read_file(folder, name, text, sizeof(text)))
		return false;
	number.end = text + strlen(text);
	return text_take_number(&number, 10, ret);
}

/* A group above may be the one that is frozen. */
static void find_frozen(const struct view *view, const struct form *form, struct cgroup *ret)
{
	struct folder folder;
	char state[64];

	if (!find_folder(view, form, form->freezer, &folder))
		return;
	do {
		if (!read_file(&folder, form->freeze, state, sizeof(state)))
			continue;
		for (unsigned i = 0; i < ARRAY_SIZE(form->is_frozen); i++)
			if (!strncmp(state, form->is_frozen[i], strlen(form->is_frozen[i])))
				snprintf(ret->frozen, sizeof(ret->frozen), "%.400s/%s", folder.path,
					 form->freeze);
	} while (folder_ascend(&folder));
}

static bool is_cache(const struct form *form, struct text name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(form->caches); i++)
		if (text_equals(name, form->caches[i]))
			return true;
	return false;
}

static uint64_t read_caches(const struct folder *folder, const struct form *form)
{
	CLEANUP(free) char *text = malloc(STAT_BYTES);
	struct text rest, line, name;
	uint64_t value, sum = 0;

	if (!text || !read_file(folder, "memory.stat", text, STAT_BYTES))
		return 0;
	rest = (struct text){ text, text + strlen(text) };
	while (text_take_line(&rest, &line))
		if (text_take_word(&line, &name) && is_cache(form, name) &&
		    text_take_char(&line, ' ') && text_take_number(&line, 10, &value))
			sum += value;
	return sum;
}

static void compare_limit(const struct folder *folder, const struct form *form, struct cgroup *ret)
{
	uint64_t limit, usage, left;

	if (!read_bytes(folder, form->limit, &limit) || limit >= NO_LIMIT_FROM ||
	    !read_bytes(folder, form->usage, &usage))
		return;
	left = limit - MIN(limit, usage - MIN(usage, read_caches(folder, form)));
	if (left >= ret->memory_left)
		return;
	ret->memory_left = left;
	ret->memory_limit = limit;
	snprintf(ret->memory, sizeof(ret->memory), "%s", folder->path);
}

/* Whether a group of this process is the folder or lies below it. */
static bool counts_there(const struct view *own, const char *path)
{
	size_t size = strlen(path);
	struct folder mine;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (find_folder(own, &forms[i], forms[i].memory, &mine) &&
		    !strncmp(mine.path, path, size) && (!mine.path[size] || mine.path[size] == '/'))
			return true;
	return false;
}

void cgroup_read(pid_t pid, struct cgroup *ret)
{
	CLEANUP(free) char *mounts = NULL, *groups = NULL, *own = NULL;
	size_t mounts_size, groups_size, own_size;
	struct view view, mine;
	struct folder folder;
	struct err ignored;

	*ret = (struct cgroup){ .memory_left = UINT64_MAX };
	if (text_read_file("/proc/self/mountinfo", MOUNTS_MAX, &mounts, &mounts_size) ||
	    proc_read(pid, "cgroup", &groups, &groups_size, &ignored))
		return;
	view = (struct view){ { mounts, mounts + mounts_size }, { groups, groups + groups_size } };
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		find_frozen(&view, &forms[i], ret);
		if (!find_folder(&view, &forms[i], forms[i].memory, &folder))
			continue;
		do
			compare_limit(&folder, &forms[i], ret);
		while (folder_ascend(&folder));
	}
	if (!ret->memory[0] || proc_read(getpid(), "cgroup", &own, &own_size, &ignored))
		return;
	mine = (struct view){ view.mounts, { own, own + own_size } };
	ret->shares_limit = counts_there(&mine, ret->memory);
}

static int refuse_memory(pid_t pid, const struct cgroup *cgroup, uint64_t bytes, struct err *err)
{
	err_set(err, -ENOMEM, "cannot attach to %d: its control group has too little memory left",
		(int)pid);
	err_why(err,
		"%.1f MiB of the %.1f MiB of %s are left, limpet may need %.1f, and the kernel kills "
		"a process of the group when the limit is reached",
		(double)cgroup->memory_left / MIB, (double)cgroup->memory_limit / MIB,
		cgroup->memory, (double)bytes / MIB);
	err_fix(err, "raise that limit%s",
		cgroup->shares_limit ? ", or take smaller rings (--ring-size 64K)" : "");
	return err_exit(err, EXIT_NOT_ATTACHABLE);
}

int cgroup_check(pid_t pid, uint64_t bytes, uint64_t shared, struct err *err)
{
	struct cgroup cgroup;

	cgroup_read(pid, &cgroup);
	if (cgroup.frozen[0]) {
		err_set(err, -EBUSY, "cannot attach to %d: it is frozen", (int)pid);
		err_why(err, "%s stops it, and what is loaded could not run", cgroup.frozen);
		err_fix(err, "thaw its control group, then try again");
		return err_exit(err, EXIT_BUSY);
	}
	if (cgroup.shares_limit)
		bytes += shared;
	return cgroup.memory_left < bytes ? refuse_memory(pid, &cgroup, bytes, err) : 0;
}
