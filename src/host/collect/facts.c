/*
 * Facts about session, process and threads; the target's open descriptors; the variables that it
 * was started with, as far as the user asked for them.
 */
#include "host/collect/facts.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/collect/sockets.h"
#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/text/secrets.h"
#include "host/core/text/text.h"
#include "host/process/inspect/process.h"
#include "host/process/procfs.h"

/* As the kernel has it: reading options changes the words of main(). */
static void own_command(char *ret, size_t room)
{
	size_t size = 0;
	FILE *file = fopen("/proc/self/cmdline", "re");

	if (file) {
		size = fread(ret, 1, room - 1, file);
		fclose(file);
	}
	size = secrets_hide(ret, size);
	for (size_t i = 0; i + 1 < size; i++)
		if (!ret[i])
			ret[i] = ' ';
	ret[size] = '\0';
}

int facts_session(struct recording *recording, const char *limpet_version, const char *options,
		  struct err *err)
{
	struct utsname machine = { 0 };
	char command[4096];

	uname(&machine);
	own_command(command, sizeof(command));
	return recording_item(recording, CHUNK_SESSION,
			      &(struct recorded_session){ .limpet_version = limpet_version,
							  .host = machine.nodename,
							  .kernel = machine.release,
							  .machine = machine.machine,
							  .command = command,
							  .options = options },
			      err);
}

/* Children of its parent; 0 where the kernel does not list them. */
static uint32_t count_siblings(pid_t parent)
{
	CLEANUP(free) char *children = NULL;
	struct text rest, word;
	uint32_t count = 0;
	char name[64];
	struct err err;
	size_t size;

	snprintf(name, sizeof(name), "task/%d/children", (int)parent);
	if (parent <= 0 || proc_read(parent, name, &children, &size, &err))
		return 0;
	rest = (struct text){ children, children + size };
	while (text_take_word(&rest, &word))
		count++;
	return count;
}

int facts_process(struct recording *recording, pid_t pid, uint32_t *ret_number, struct err *err)
{
	struct process process;
	struct recorded_process facts = { .pid = pid };
	char folder[PATH_MAX] = "";
	int r = process_inspect_briefly(pid, &process, err);

	if (r)
		return r;
	facts.start_ns = process.stat.start_tick * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	facts.name = process.status.name;
	facts.executable = process.executable;
	facts.command = process.command;
	facts.parent = process.status.parent;
	facts.group = MAX(getpgid(pid), 0);
	facts.session = MAX(getsid(pid), 0);
	facts.siblings = count_siblings(facts.parent);
	if (proc_read_link(pid, "cwd", folder, sizeof(folder)) > 0)
		facts.folder = folder;
	r = recording_process(recording, &facts, err);
	*ret_number = facts.number;
	return r;
}

void target_threads_done(struct target_threads *threads)
{
	free(threads->pairs);
}

static pid_t facts_find(const struct target_threads *threads, int32_t tid)
{
	for (size_t i = 0; i < threads->count; i++)
		if (threads->pairs[i].inner == tid)
			return threads->pairs[i].outer;
	return 0;
}

/* Reads the numbers of all threads. */
static void facts_refresh(struct target_threads *threads)
{
	CLEANUP(free) pid_t *tids = NULL;
	struct process_status status;
	struct thread_pair *pairs;
	struct err err;
	size_t count;

	threads->count = 0;
	if (proc_list(threads->pid, "task", &tids, &count, &err))
		return;
	pairs = reallocarray(threads->pairs, count, sizeof(*pairs));
	if (!pairs)
		return;
	threads->pairs = pairs;
	for (size_t i = 0; i < count; i++)
		if (!status_read(threads->pid, tids[i], &status, &err))
			pairs[threads->count++] = (struct thread_pair){ status.inner_pid, tids[i] };
}

static bool is_there(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

/* limpet's number of a living thread, 0: it has ended. */
static pid_t thread_living(struct target_threads *threads, int32_t tid)
{
	pid_t outer = facts_find(threads, tid);

	if (!outer) {
		facts_refresh(threads);
		outer = facts_find(threads, tid);
	}
	return outer && is_there(threads->pid, outer) ? outer : 0;
}

bool target_thread_is_alive(void *context, int32_t tid)
{
	return thread_living(context, tid) != 0;
}

bool target_thread_name(void *context, int32_t tid, char name[16])
{
	struct target_threads *threads = context;
	pid_t outer = thread_living(threads, tid);
	char path[64], text[64];
	struct err err;
	struct text all, line;
	ssize_t size;

	snprintf(path, sizeof(path), "task/%d/comm", (int)outer);
	size = outer ? proc_read_small(threads->pid, path, text, sizeof(text), &err) : 0;
	all = (struct text){ text, text + MAX(size, 0) };
	if (size <= 0 || !text_take_line(&all, &line))
		return false;
	text_copy(line, name, 16);
	return true;
}

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

DEFINE_STRUCT_CLEANUP(files, files_done)

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

/* "NAME=value" with this name: its value, else NULL. */
static const char *value_of(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1
									 : NULL;
}

/* Entries end with zeros; the last one may lack its own, but the text has one. */
static const char *variables_find(const char *environment, size_t size, const char *name)
{
	const char *end = environment + size;

	for (const char *at = environment; at < end; at += strlen(at) + 1) {
		const char *value = value_of(at, name);

		if (value)
			return value;
	}
	return NULL;
}

static size_t count_names(const char *const *names)
{
	size_t count = 0;

	while (names[count])
		count++;
	return count;
}

int facts_variables(struct recording *recording, pid_t pid, uint32_t number,
		    const char *const *names, struct err *err)
{
	struct recorded_variable *found = calloc(count_names(names) + 1, sizeof(*found));
	CLEANUP(free) char *environment = NULL;
	struct err unreadable;
	uint32_t count = 0;
	size_t size = 0;
	int r;

	if (!found)
		return err_set(err, -ENOMEM, "variables of %d: no memory", (int)pid);
	if (proc_read(pid, "environ", &environment, &size, &unreadable))
		size = 0;
	for (; *names; names++) {
		const char *value = size ? variables_find(environment, size, *names) : NULL;

		if (value)
			found[count++] = (struct recorded_variable){ *names, value };
	}
	r = recording_list(recording, CHUNK_VARIABLES, &(struct list_head){ number, 0, count },
			   found, err);
	free(found);
	return r;
}
