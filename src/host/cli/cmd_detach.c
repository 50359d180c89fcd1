/*
 * limpet detach: take down an agent that is in a process, held or left behind.
 */
#include "host/cli/command.h"
#include "host/cli/operand.h"
#include "host/cli/report.h"
#include "host/core/clock.h"
#include "host/session/session.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define HOLDER_LIMIT_NS 10000000000ull

struct detach_values {
	bool unload, is_json;
};

static const struct option_desc detach_options[] = {
	{ 'u', "unload", NULL, "unmap the agent and its tools too", OPTION_FLAG,
	  offsetof(struct detach_values, unload) },
	{ 'j', "json", NULL, "one JSON object per line", OPTION_FLAG,
	  offsetof(struct detach_values, is_json) },
	{ 0 },
};

/* The holder leaves in good order when asked to; its identity was checked. */
static int ask_holder(const struct target *target, struct resident *resident, struct err *err)
{
	uint64_t deadline_ns = now_ns() + HOLDER_LIMIT_NS;
	struct timespec delay = { 0, 2000000 };
	pid_t holder = resident->page.holder_pid;

	if (!resident_holder_lives(resident)) {
		err_set(err, -EBUSY, "it is held by a limpet that cannot be seen from here");
		err_why(err, "it runs in another pid namespace; there it is process %d (%s)",
			holder, resident->page.holder_name);
		return err_exit(err, EXIT_BUSY);
	}
	if (kill(holder, SIGTERM))
		return err_set(err, -errno, "ask limpet %d, which holds it, to leave: %s", holder,
			       strerror(errno));
	while (now_ns() < deadline_ns) {
		if (resident_refresh(target, resident) || !resident_is_held(target, resident))
			return 0;
		nanosleep(&delay, NULL);
	}
	err_set(err, -EBUSY, "limpet %d holds it and does not leave", holder);
	return err_exit(err, EXIT_BUSY);
}

/* Gets in once more, to have everything unmapped. */
static int unload(pid_t pid, struct session_left *left, struct err *err)
{
	struct session_options options = { 0 };
	static struct session session;
	int r = session_open(&session, pid, &options, err);

	if (r)
		return r;
	r = session_leave(&session, true, left, err);
	session_close(&session);
	return r;
}

static int detach(pid_t pid, bool unloads, bool *ret_was_held, struct session_left *left,
		  struct err *err)
{
	struct resident resident;
	struct target target;
	int r = target_open(&target, pid, err);

	if (r)
		return r;
	r = resident_find(&target, &resident);
	if (r) {
		err_set(err, r, "there is no agent in %d (%s)", pid, target.process.status.name);
		err_why(err, r == -EPROTO ? "the one that is there is of another version of limpet"
					  : "limpet is not attached to it and has not been");
	} else if (resident_is_held(&target, &resident)) {
		*ret_was_held = true;
		r = ask_holder(&target, &resident, err);
	}
	target_close(&target);
	return r || !unloads ? r : unload(pid, left, err);
}

static void print_detached(pid_t pid, const struct detach_values *values, bool was_held,
			   const struct session_left *left)
{
	bool unloaded = values->unload && !left->count;
	struct json json = { .out = stdout };

	if (!values->is_json) {
		printf("%d: %s%s\n", pid, was_held ? "its limpet has left" : "the agent is at rest",
		       unloaded ? ", and nothing of it is mapped any more" : "");
		for (size_t i = 0; i < left->count; i++)
			printf("  stays: %s\n", left->items[i]);
		return;
	}
	json_object(&json, NULL);
	json_text(&json, "event", "detached");
	json_signed(&json, "pid", pid);
	json_text(&json, "reason", was_held ? "asked" : "resting");
	json_bool(&json, "unloaded", unloaded);
	json_list(&json, "left");
	for (size_t i = 0; i < left->count; i++)
		json_text(&json, NULL, left->items[i]);
	json_list_end(&json);
	json_object_end(&json);
}

static enum exit_code detach_run(char **argv)
{
	struct detach_values values = { 0 };
	struct session_left left = { 0 };
	struct err err = { 0 };
	bool was_held = false;
	int operands = options_parse(detach_options, argv, &values, &err);
	pid_t pid = 0;

	if (operands >= 0 && !operand_pid(argv, operands, &pid, &err) &&
	    !detach(pid, values.unload, &was_held, &left, &err))
		print_detached(pid, &values, was_held, &left);
	return report_end("detach", values.is_json, &err);
}

const struct command command_detach = {
	.name = "detach",
	.summary = "take down an agent that is in a process",
	.usage = "PID [--unload] [--json]",
	.options = detach_options,
	.run = detach_run,
	.notes =
		"A limpet that holds the process is asked to leave.  An agent whose limpet died rests by itself;\n"
		"--unload unmaps it.\n",
};
