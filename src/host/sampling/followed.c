/*
 * A list of processes by their numbers.  Host only.
 */
#include "host/sampling/followed.h"

#include "host/core/room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The place of the first one that is not below pid. */
static size_t place_of(const struct followed_set *set, pid_t pid)
{
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (set->items[middle]->pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct followed *followed_find(const struct followed_set *set, pid_t pid)
{
	size_t place = place_of(set, pid);

	return place < set->count && set->items[place]->pid == pid ? set->items[place] : NULL;
}

static void leave_space(struct followed *process)
{
	struct shared_space *shared = process->shared;

	process->shared = NULL;
	if (!shared || --shared->users)
		return;
	space_close(shared->space);
	free(shared);
}

static void followed_free(struct followed *process)
{
	leave_space(process);
	python_close(process->python);
	java_code_done(&process->java);
	free(process);
}

int followed_add(struct followed_set *set, pid_t pid, struct followed **ret)
{
	size_t place = place_of(set, pid);
	struct followed *process;

	if (make_room(&set->items, set->count, &set->room, sizeof(void *)))
		return -ENOMEM;
	process = calloc(1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	process->pid = pid;
	process->nowhere.pid = pid;
	memmove(set->items + place + 1, set->items + place, (set->count - place) * sizeof(void *));
	set->items[place] = process;
	set->count++;
	*ret = process;
	return 0;
}

void followed_remove(struct followed_set *set, pid_t pid)
{
	size_t place = place_of(set, pid);

	if (place == set->count || set->items[place]->pid != pid)
		return;
	followed_free(set->items[place]);
	set->count--;
	memmove(set->items + place, set->items + place + 1, (set->count - place) * sizeof(void *));
}

void followed_done(struct followed_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		followed_free(set->items[i]);
	free(set->items);
	*set = (struct followed_set){ 0 };
}

struct space *followed_space(struct followed *process)
{
	return process->shared ? process->shared->space : &process->nowhere;
}

int followed_set_space(struct followed *process, struct space *space)
{
	struct shared_space *shared = space ? malloc(sizeof(*shared)) : NULL;

	leave_space(process);
	if (!space)
		return 0;
	if (!shared) {
		space_close(space);
		return -ENOMEM;
	}
	*shared = (struct shared_space){ .space = space, .users = 1 };
	process->shared = shared;
	return 0;
}

void followed_share_space(struct followed *process, const struct followed *parent)
{
	if (parent->shared)
		parent->shared->users++;
	leave_space(process);
	process->shared = parent->shared;
}

bool followed_has_own_space(const struct followed *process)
{
	return process->shared && process->shared->space->pid == process->pid;
}
