/*
 * Lists /proc/PID/task.  Stops nothing.
 */
#include "host/process/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"

static int thread_read(pid_t pid, pid_t tid, struct thread *ret)
{
	struct process_stat stat;
	struct err ignored;
	char name[48];
	int r = stat_read(pid, tid, &stat, &ignored);

	if (r < 0)
		return r;
	*ret = (struct thread){ .tid = tid, .state = stat.state, .cpu_ns = stat.cpu_ns };
	memcpy(ret->name, stat.name, sizeof(ret->name));

	snprintf(name, sizeof(name), "task/%d/wchan", (int)tid);
	if (proc_read_small(pid, name, ret->wait_channel, sizeof(ret->wait_channel), &ignored) <
		    0 ||
	    strcmp(ret->wait_channel, "0") == 0)
		ret->wait_channel[0] = '\0';
	return 0;
}

int threads_read(pid_t pid, struct threads *ret, struct err *err)
{
	CLEANUP(threads_done) struct threads threads = { 0 };
	CLEANUP(free) pid_t *tids = NULL;
	size_t count;
	int r = proc_list(pid, "task", &tids, &count, err);

	if (r < 0)
		return r;
	threads.items = calloc(count, sizeof(*threads.items));
	if (!threads.items)
		return err_set(err, -ENOMEM, "%zu threads", count);
	for (size_t i = 0; i < count; i++)
		if (thread_read(pid, tids[i], &threads.items[threads.count]) == 0)
			threads.count++;
	*ret = threads;
	threads.items = NULL;
	return 0;
}

int threads_list_own(pid_t pid, size_t most, pid_t **ret_tids, size_t *ret_count, struct err *err)
{
	struct process_stat stat;
	struct err ignored;
	pid_t *tids;
	size_t count, own = 0;
	int r = proc_list(pid, "task", &tids, &count, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count && own < most; i++)
		/* One that has ended stays listed: the caller's next read of it fails, too. */
		if (stat_read(pid, tids[i], &stat, &ignored) || !stat.is_kernel_worker)
			tids[own++] = tids[i];
	*ret_tids = tids;
	*ret_count = own;
	return 0;
}

bool thread_is_there(pid_t pid, pid_t tid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return !access(path, F_OK);
}

void thread_read_name(pid_t pid, pid_t tid, char *ret, size_t room)
{
	char path[48], name[32];
	struct err ignored;
	ssize_t size;

	snprintf(path, sizeof(path), "task/%d/comm", (int)tid);
	size = proc_read_small(pid, path, name, sizeof(name), &ignored);
	if (size <= 0)
		return;
	name[strcspn(name, "\n")] = '\0';
	snprintf(ret, room, "%s", name);
}

int thread_read_call(pid_t pid, pid_t tid, struct blocked_call *ret)
{
	char path[48], text[256];
	struct err ignored;
	ssize_t size;

	snprintf(path, sizeof(path), "task/%d/syscall", (int)tid);
	size = proc_read_small(pid, path, text, sizeof(text), &ignored);
	blocked_call_parse(size < 0 ? "" : text, ret);
	return (int)MIN(size, 0);
}

void threads_done(struct threads *threads)
{
	free(threads->items);
	threads->items = NULL;
	threads->count = 0;
}
