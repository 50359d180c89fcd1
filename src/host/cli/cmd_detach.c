/*
 * limpet detach: detach the agent in a process, held or left behind.
 */
#include "host/cli/attach/attach.h"
#include "host/cli/common/operand.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/interrupt.h"
#include "host/process/procfs.h"
#include "host/session/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#define HOLDER_LIMIT_S 10

struct detach_values {
	const char *pid;
	bool unload, is_json;
};

static const struct option_desc detach_options[] = {
	OPERAND_OPTION(offsetof(struct detach_values, pid)),
	{ 'u', "unload", NULL, "unmap the agent and its tools too",
	  offsetof(struct detach_values, unload) },
	{ 'j', "json", NULL, "print one JSON object per line",
	  offsetof(struct detach_values, is_json) },
	{ 0 },
};

/* Only a limpet may get the request to detach by a signal, and only a living one: the page with its
 * number is the target's memory, and a program that uses the library would die of the signal. */
static bool is_limpet(pid_t pid)
{
	char path[64];
	struct stat mine, theirs;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return !stat(path, &theirs) && !stat("/proc/self/exe", &mine) &&
	       mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino;
}

/* Whether the holder has a pidfd of the process. */
static bool holder_has_process(pid_t holder, pid_t pid)
{
	CLEANUP(free) pid_t *fds = NULL;
	struct err ignored;
	size_t count;

	if (proc_list(holder, "fdinfo", &fds, &count, &ignored))
		return false;
	for (size_t i = 0; i < count; i++) {
		char name[32], text[512], line[32];

		snprintf(name, sizeof(name), "fdinfo/%d", fds[i]);
		snprintf(line, sizeof(line), "\nPid:\t%d\n", pid);
		if (proc_read_small(holder, name, text, sizeof(text), &ignored) > 0 &&
		    strstr(text, line))
			return true;
	}
	return false;
}

static int holder_detach(const struct target *target, struct resident *resident, struct err *err)
{
	uint64_t deadline_ns = now_ns() + HOLDER_LIMIT_S * 1000000000ull;
	struct timespec delay = { 0, 2000000 };
	pid_t holder = resident->page.holder_pid;
	CLEANUP(close) int fd = (int)syscall(SYS_pidfd_open, holder, 0);
	int r;

	if (fd < 0 || !resident_holder_lives(resident) || !is_limpet(holder) ||
	    !holder_has_process(holder, target->process.pid)) {
		err_set(err, -EBUSY,
			"process %d (%s) is attached to it, and limpet cannot make it detach",
			holder, resident->page.holder_name);
		err_why(err, "that process is not limpet, or runs in another PID namespace");
		err_fix(err, "detach with that program");
		return err_exit(err, EXIT_BUSY);
	}
	r = interrupt_send_detach(fd, target->process.pid);
	if (r)
		return err_set(err, r, "ask limpet %d, which is attached to it, to detach: %s",
			       holder, strerror(-r));
	while (now_ns() < deadline_ns) {
		if (resident_refresh(target, resident) || !resident_is_held(target, resident))
			return 0;
		nanosleep(&delay, NULL);
	}
	err_set(err, -EBUSY, "limpet %d is attached to it and does not detach", holder);
	err_why(err, "it was asked to, and has not detached within %u s", HOLDER_LIMIT_S);
	err_fix(err, "end it: kill %d", holder);
	return err_exit(err, EXIT_BUSY);
}

/* Attaches once more, to have everything unmapped.  Another `limpet detach` would signal this
 * holder and end it in the middle: the descriptors that prevent this stay open until its end. */
static int detach_unload(pid_t pid, struct session_left *left, struct err *err)
{
	struct session_options options = { 0 };
	static struct session session;
	int r = interrupt_watch(NULL, err);

	if (r >= 0)
		r = interrupt_watch_detaches(err);
	if (r >= 0)
		r = session_open(&session, pid, &options, err);
	if (r)
		return r;
	r = session_detach(&session, true, left, err);
	session_close(&session);
	return r;
}

/* The target's memory is enough to find its holder: whether it can be attached does not matter. */
static int detach_one(pid_t pid, bool unloads, bool *ret_was_held, struct session_left *left,
		      struct err *err)
{
	struct resident resident;
	struct target target;
	int r = target_inspect(&target, pid, err);

	if (r)
		return r;
	r = resident_find(&target, &resident);
	if (r) {
		resident_explain(&target, r, err);
	} else if (resident_is_held(&target, &resident)) {
		*ret_was_held = true;
		r = holder_detach(&target, &resident, err);
	}
	target_close(&target);
	return r || !unloads ? r : detach_unload(pid, left, err);
}

static int detach_run(const struct command_line *line, struct err *err)
{
	const struct detach_values *values = line->values;
	struct session_left left = { 0 };
	struct departure departure = { .left = &left };
	bool was_held = false;
	char words[96];
	int r = operand_process(line, values->pid, &departure.pid, err);

	if (!r)
		r = detach_one(departure.pid, values->unload, &was_held, &left, err);
	if (r)
		return r;
	departure.reason = was_held ? "asked" : "resting";
	departure.is_unloaded = values->unload && !left.count;
	snprintf(words, sizeof(words), "%d: %s%s", departure.pid,
		 was_held ? "detached" : "the agent is at rest",
		 departure.is_unloaded ? ", and nothing of it is mapped any more" : "");
	show_detached(&departure, words, values->is_json);
	return 0;
}

const struct command command_detach = {
	.name = "detach",
	.summary = "detach limpet from a process",
	.usage = "PID [--unload] [--json]",
	.options = detach_options,
	.values_size = sizeof(struct detach_values),
	.run = detach_run,
	.notes =
		"Asks the limpet that is attached to the process to detach; limpet ui ends that one session and\n"
		"keeps what it recorded.  An agent whose limpet has died has detached already; --unload unmaps it.\n",
};
