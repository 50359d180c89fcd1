/*
 * limpet detach: detach the agent in a process, held or left behind.
 */
#include "host/cli/attach/departure.h"
#include "host/cli/command.h"
#include "host/cli/operand.h"
#include "host/cli/report.h"
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

#define HOLDER_LIMIT_S  10
#define HOLDER_LIMIT_NS (HOLDER_LIMIT_S * 1000000000ull)

struct detach_values {
	const char *pid;
	bool unload, is_json;
};

static const struct option_desc detach_options[] = {
	OPERAND_OPTION(offsetof(struct detach_values, pid)),
	{ 'u', "unload", NULL, "unmap the agent and its tools too", OPTION_FLAG,
	  offsetof(struct detach_values, unload) },
	{ 'j', "json", NULL, "print one JSON object per line", OPTION_FLAG,
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

/* It has a descriptor of the process that it holds. */
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

static int refuse_to_ask(const struct resident *resident, struct err *err)
{
	err_set(err, -EBUSY,
		"process %d (%s) is attached to it, and limpet cannot ask it to detach",
		resident->page.holder_pid, resident->page.holder_name);
	err_why(err, "that process is not limpet, or runs in another PID namespace");
	err_fix(err, "end the visit with that program");
	return err_exit(err, EXIT_BUSY);
}

static int ask_holder(const struct target *target, struct resident *resident, struct err *err)
{
	uint64_t deadline_ns = now_ns() + HOLDER_LIMIT_NS;
	struct timespec delay = { 0, 2000000 };
	pid_t holder = resident->page.holder_pid;
	CLEANUP(close) int fd = (int)syscall(SYS_pidfd_open, holder, 0);
	int r;

	if (fd < 0 || !resident_holder_lives(resident) || !is_limpet(holder) ||
	    !holder_has_process(holder, target->process.pid))
		return refuse_to_ask(resident, err);
	r = interrupt_send_detach(fd, target->process.pid);
	if (r)
		return err_set(err, r, "ask limpet %d, which holds it, to leave: %s", holder,
			       strerror(-r));
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

/* While limpet unmaps, it holds the process: another `limpet detach` would signal it, and end it in
 * the middle.  The descriptors stay open until its end. */
static int outlast_other_detaches(struct err *err)
{
	int fd = interrupt_watch(NULL, err);

	if (fd >= 0)
		fd = interrupt_watch_detaches(err);
	return fd < 0 ? fd : 0;
}

/* Gets in once more, to have everything unmapped. */
static int detach_unload(pid_t pid, struct session_left *left, struct err *err)
{
	struct session_options options = { 0 };
	static struct session session;
	int r = outlast_other_detaches(err);

	if (!r)
		r = session_open(&session, pid, &options, err);
	if (r)
		return r;
	r = session_leave(&session, true, left, err);
	session_close(&session);
	return r;
}

/* Reading the target is enough to find its holder; reasons against an attach do not matter here. */
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
		r = ask_holder(&target, &resident, err);
	}
	target_close(&target);
	return r || !unloads ? r : detach_unload(pid, left, err);
}

static void print_detached(pid_t pid, const struct detach_values *values, bool was_held,
			   const struct session_left *left)
{
	bool unloaded = values->unload && !left->count;
	char words[96];
	struct departure departure = {
		.pid = pid,
		.reason = was_held ? "asked" : "resting",
		.words = words,
		.is_unloaded = unloaded,
		.left = left,
	};

	snprintf(words, sizeof(words), "%d: %s%s", pid,
		 was_held ? "detached" : "the agent is at rest",
		 unloaded ? ", and nothing of it is mapped any more" : "");
	departure_print(&departure, values->is_json);
}

static enum exit_code detach_run(char **argv)
{
	struct detach_values values = { 0 };
	struct session_left left = { 0 };
	struct err err = { 0 };
	bool was_held = false;
	int operands = options_parse(detach_options, argv, &values, &err);
	pid_t pid = 0;

	if (operands >= 0 && !operand_process(values.pid, argv, operands, &pid, &err) &&
	    !detach_one(pid, values.unload, &was_held, &left, &err))
		print_detached(pid, &values, was_held, &left);
	return report_end("detach", values.is_json, &err);
}

const struct command command_detach = {
	.name = "detach",
	.summary = "detach limpet from a process",
	.usage = "PID [--unload] [--json]",
	.options = detach_options,
	.run = detach_run,
	.notes =
		"A limpet that holds the process is asked to leave; limpet ui ends that one session and keeps what\n"
		"it has seen.  An agent whose limpet died rests by itself; --unload unmaps it.\n",
};
