/*
 * Follows processes for a sampler.
 */
#include "host/sampling/followed.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/core/sorted.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RETRY_NS        20000000ull /* after a successful reading of mappings */
#define PATIENCE_NS     50000000ull /* first pause after a reading without result */
#define PATIENCE_MAX_NS 3000000000ull

static uint64_t pid_at(const void *items, size_t index)
{
	return (uint64_t)((struct followed *const *)items)[index]->pid;
}

static bool is_followed(const struct followed_set *set, pid_t pid, size_t *ret_index)
{
	return find_sorted(set->items, set->count, (uint64_t)pid, pid_at, ret_index);
}

struct followed *followed_find(const struct followed_set *set, pid_t pid)
{
	size_t index;

	return is_followed(set, pid, &index) ? set->items[index] : NULL;
}

/* After its end its number may be reused: the end is noted. */
static void open_pidfd(struct followed *process)
{
	process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	process->has_ended = process->pidfd < 0 && errno == ESRCH;
}

static void followed_free(struct followed *process)
{
	if (process->pidfd >= 0)
		close(process->pidfd);
	space_close(process->space);
	interpreter_close(process->interpreter);
	generated_code_done(&process->generated);
	free(process);
}

int followed_add(struct followed_set *set, struct space *space, struct followed **ret)
{
	struct followed *process = calloc(1, sizeof(*process));
	size_t index;

	(void)is_followed(set, space->pid, &index);
	if (!process || insert_room(&set->items, &set->count, &set->room, sizeof(void *), index)) {
		free(process);
		space_close(space);
		return -ENOMEM;
	}
	*process = (struct followed){ .pid = space->pid, .space = space };
	open_pidfd(process);
	set->items[index] = process;
	*ret = process;
	return 0;
}

int followed_add_child(struct followed_set *set, pid_t pid, pid_t parent, struct followed **ret)
{
	const struct followed *elder = followed_find(set, parent);
	struct followed *child = followed_find(set, pid);
	struct space *space;

	if (!child) {
		if (space_fork(&space, elder ? elder->space : NULL, pid) ||
		    followed_add(set, space, &child))
			return -ENOMEM;
		child->is_unread = true;
	}
	*ret = child;
	return 0;
}

void followed_remove(struct followed_set *set, pid_t pid)
{
	size_t index;

	if (!is_followed(set, pid, &index))
		return;
	followed_free(set->items[index]);
	remove_item(set->items, &set->count, sizeof(void *), index);
}

void followed_done(struct followed_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		followed_free(set->items[i]);
	free(set->items);
	*set = (struct followed_set){ 0 };
}

void followed_read_first(struct followed *process)
{
	struct err err = { 0 };

	if (!process->is_unread)
		return;
	process->is_unread = false;
	process->looked_ns = now_ns();
	(void)!space_refresh(process->space, &err);
	process->was_interpreter_sought = false;
	followed_read_generated(process);
}

bool followed_retry(struct followed *process)
{
	unsigned before = process->space->generation;
	uint64_t now = now_ns();
	struct err err = { 0 };

	if (now - process->looked_ns < process->retry_pause_ns)
		return false;
	process->looked_ns = now;
	(void)!space_merge(process->space, &err);
	if (process->space->generation != before)
		generated_code_seek_again(&process->generated);
	followed_read_generated(process);
	if (process->space->generation != before) {
		process->was_interpreter_sought = false;
		process->retry_pause_ns = RETRY_NS;
		return true;
	}
	followed_back_off(process);
	return false;
}

void followed_back_off(struct followed *process)
{
	process->retry_pause_ns =
		MIN(MAX(process->retry_pause_ns * 2, PATIENCE_NS), PATIENCE_MAX_NS);
}

void followed_read_generated(struct followed *process)
{
	process->generated_ns = now_ns();
	process->is_owed_rules = !generated_code_read(&process->generated, process->space);
}

void followed_refresh_java(struct followed *process, uint64_t now)
{
	if (!process->generated.java || now - MIN(now, process->generated_ns) < FOLLOWED_JAVA_NS)
		return;
	if (process->has_ended) { /* since the last round: its samples have been walked */
		generated_code_done(&process->generated);
		space_set_made(process->space, NULL, 0);
		return;
	}
	followed_read_generated(process);
	(void)!followed_has_ended(process);
}

int followed_find_interpreter(struct followed *process, enum interpreter_reader reader,
			      struct err *err)
{
	const struct interpreter *known = process->interpreter;
	int r;

	if (process->was_interpreter_sought ||
	    (known && (reader == READER_KERNEL || !interpreter_threads(known)->why_unknown(known))))
		return 0;
	interpreter_close(process->interpreter); /* what it lacked may be mapped now */
	process->interpreter = NULL;
	r = interpreter_open(&process->interpreter, process->space, process->pid, reader, err);
	process->was_interpreter_sought = r != -EAGAIN;
	return r == -ENOENT || r == -EAGAIN ? 0 : r;
}

void followed_use_outside(struct followed *process, struct outside_frames *frames,
			  struct sampler *sampler)
{
	bool was_sought = process->was_interpreter_sought;
	struct err err = { 0 };
	int r = followed_find_interpreter(process, READER_OUTSIDE, &err);
	char why[256] = "";

	if (!was_sought)
		outside_frames_explain(process->space, process->interpreter, r, &err, why,
				       sizeof(why));
	if (why[0])
		sampler_limit(sampler, "%s", why);
	outside_frames_use(frames, process->interpreter);
}

void followed_forget_interpreter(struct followed *process)
{
	interpreter_close(process->interpreter);
	process->interpreter = NULL;
	process->was_interpreter_sought = false;
}

void followed_forget(struct followed *process)
{
	space_forget(process->space);
	followed_forget_interpreter(process);
	generated_code_done(&process->generated);
	process->is_unread = false;
	process->retry_pause_ns = 0;
}

bool followed_has_ended(struct followed *process)
{
	struct pollfd poller = { .events = POLLIN };

	if (process->pidfd < 0 && !process->has_ended)
		open_pidfd(process);
	poller.fd = process->pidfd;
	if (process->pidfd >= 0 && poll(&poller, 1, 0) > 0) {
		close(TAKE_FD(process->pidfd));
		process->has_ended = true;
	}
	return process->has_ended;
}

bool followed_all_have_ended(const struct followed_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		if (!followed_has_ended(set->items[i]))
			return false;
	return true;
}
