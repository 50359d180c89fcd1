/*
 * Follows processes for a sampler.  Host only.
 */
#include "host/sampling/processes.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/room.h"

#define PATIENCE_MAX 256u /* rounds of some 20 ms */
#define JAVA_LOOK_NS 100000000u

static int open_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void look_for_java(struct process_entry *process)
{
	process->java_looked_ns = now_ns();
	java_code_look(&process->java, process->space);
}

static struct process_entry *append(struct processes *processes, pid_t pid, struct space *space)
{
	struct process_entry *entry;

	if (make_room(&processes->items, processes->count, &processes->room, sizeof(*entry)) < 0)
		return NULL;
	entry = &processes->items[processes->count++];
	*entry = (struct process_entry){ .pid = pid, .pidfd = open_pidfd(pid), .space = space };
	return entry;
}

int processes_add(struct processes *processes, pid_t pid, struct err *err)
{
	struct process_entry *entry;
	struct space *space;
	int r = space_open(&space, pid, err);

	if (r < 0)
		return r;
	entry = append(processes, pid, space);
	if (entry) {
		look_for_java(entry);
		return 0;
	}
	space_close(space);
	return err_set(err, -ENOMEM, "no memory to follow %d", (int)pid);
}

struct process_entry *processes_find(struct processes *processes, pid_t pid)
{
	for (size_t i = 0; i < processes->count; i++)
		if (processes->items[i].pid == pid)
			return &processes->items[i];
	return NULL;
}

struct process_entry *processes_add_child(struct processes *processes, pid_t pid, pid_t parent)
{
	const struct process_entry *elder = processes_find(processes, parent);
	struct process_entry *entry = processes_find(processes, pid);
	struct space *space;

	if (entry)
		return entry;
	if (space_fork(&space, elder ? elder->space : NULL, pid) < 0)
		return NULL;
	entry = append(processes, pid, space);
	if (!entry)
		space_close(space);
	else
		entry->is_unread = true;
	return entry;
}

void process_freshen(struct process_entry *process)
{
	struct err err = { 0 };

	if (!process->is_unread)
		return;
	process->is_unread = false;
	process->retried = process->round;
	(void)!space_refresh(process->space, &err);
	look_for_java(process);
}

bool process_retry(struct process_entry *process)
{
	unsigned before = process->space->generation;
	struct err err = { 0 };

	if (process->round - process->retried < process->patience)
		return false;
	process->retried = process->round;
	(void)!space_merge(process->space, &err);
	if (process->space->generation != before)
		java_code_seek_again(&process->java);
	look_for_java(process);
	if (process->space->generation != before) {
		process->patience = 1;
		return true;
	}
	process->patience = MIN(process->patience * 2 + 1, PATIENCE_MAX);
	return false;
}

void process_forget(struct process_entry *process)
{
	space_forget(process->space);
	java_code_done(&process->java);
	process->is_unread = false;
	process->patience = 0;
}

void processes_begin_round(struct processes *processes)
{
	uint64_t now = now_ns();

	for (size_t i = 0; i < processes->count; i++) {
		struct process_entry *process = &processes->items[i];

		process->round++;
		if (process->java.java && now - process->java_looked_ns >= JAVA_LOOK_NS)
			look_for_java(process);
	}
}

bool process_has_ended(const struct process_entry *process)
{
	struct pollfd poll_for = { .fd = process->pidfd, .events = POLLIN };

	if (process->pidfd < 0)
		return true;
	return poll(&poll_for, 1, 0) == 1 && poll_for.revents & POLLIN;
}

void processes_let_go_of_ended(struct processes *processes)
{
	for (size_t i = 0; i < processes->count; i++)
		if (processes->items[i].pidfd >= 0 && process_has_ended(&processes->items[i]))
			close(TAKE_FD(processes->items[i].pidfd));
}

bool processes_have_ended(const struct processes *processes)
{
	for (size_t i = 0; i < processes->count; i++)
		if (!process_has_ended(&processes->items[i]))
			return false;
	return true;
}

void processes_drop_last(struct processes *processes)
{
	struct process_entry *last = &processes->items[--processes->count];

	java_code_done(&last->java);
	space_close(last->space);
	if (last->pidfd >= 0)
		close(last->pidfd);
}

void processes_done(struct processes *processes)
{
	while (processes->count)
		processes_drop_last(processes);
	free(processes->items);
	*processes = (struct processes){ 0 };
}
