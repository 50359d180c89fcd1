/*
 * Starts limpet itself, and reads its output.  Runs on nodes.
 */
#include "host/fleet/node/rank_recorder.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/self/environment.h"
#include "host/core/text/json_reader.h"
#include "host/core/text/print.h"
#include "host/fleet/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_FD 3

/* In the child: only system calls, as other threads may hold locks.  New descriptors are far above
 * those that the child needs, as standard ones are open. */
static void child_become(const struct child_pipes *pipes, const char *const *argv, pid_t parent)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() != parent || dup2(pipes->ends[CHILD_INPUT][0], STDIN_FILENO) < 0 ||
	    dup2(pipes->ends[CHILD_OUTPUT][1], STDOUT_FILENO) < 0 ||
	    dup2(pipes->ends[CHILD_ERRORS][1], STDERR_FILENO) < 0)
		_exit(EXIT_FAILED);
	if (pipes->ends[CHILD_FILE][1] >= 0 && dup2(pipes->ends[CHILD_FILE][1], FILE_FD) < 0)
		_exit(EXIT_FAILED);
	/* It may have that number already, with FD_CLOEXEC set. */
	if (pipes->ends[CHILD_FILE][1] == FILE_FD)
		fcntl(FILE_FD, F_SETFD, 0);
	execve("/proc/self/exe", (char *const *)(uintptr_t)argv, environment_given());
	_exit(EXIT_FAILED);
}

int rank_recorder_start(struct rank_recorder *ret, const char *const *arguments, bool is_sent,
			struct err *err)
{
	pid_t parent = getpid(), pid = -1;
	struct child_pipes pipes;
	int r = child_pipes_open(&pipes, is_sent ? CHILD_PIPES : CHILD_FILE);

	if (!r) {
		pid = fork();
		r = pid < 0 ? -errno : 0;
	}
	if (!pid)
		child_become(&pipes, arguments, parent);
	if (r)
		err_set(err, r, "cannot start its recorder: %s", strerror(-r));
	*ret = (struct rank_recorder){ .pid = r ? 0 : pid };
	ret->input = TAKE_FD(pipes.ends[CHILD_INPUT][1]);
	ret->output = TAKE_FD(pipes.ends[CHILD_OUTPUT][0]);
	ret->errors = TAKE_FD(pipes.ends[CHILD_ERRORS][0]);
	ret->file = TAKE_FD(pipes.ends[CHILD_FILE][0]);
	child_pipes_close(&pipes);
	return r;
}

static void recorded_parse(struct rank_recorder *self, struct json_reader *reader)
{
	char key[32];

	while (json_read_member(reader, key, sizeof(key))) {
		if (!strcmp(key, "reason"))
			json_read_text(reader, self->reason, sizeof(self->reason));
		else if (!strcmp(key, "bytes"))
			self->size_bytes = json_read_number(reader);
		else
			json_read_past(reader);
	}
}

static void summary_read(struct rank_recorder *self, struct json_reader *reader)
{
	char key[32];

	self->has_summary = true;
	while (json_read_member(reader, key, sizeof(key))) {
		if (!strcmp(key, "exit"))
			self->exit = json_read_number(reader);
		else if (!strcmp(key, "error"))
			json_read_text(reader, self->error, sizeof(self->error));
		else if (!strcmp(key, "why"))
			json_read_text(reader, self->why, sizeof(self->why));
		else
			json_read_past(reader);
	}
}

/* {"event":"recorded",...}: the event is the first member. */
static void line_hear(struct rank_recorder *self, const char *line, size_t size)
{
	struct json_reader reader = json_reader_of(line, size);
	char key[32], event[32];

	if (!json_read_object(&reader) || !json_read_member(&reader, key, sizeof(key)) ||
	    strcmp(key, "event") != 0)
		return;
	json_read_text(&reader, event, sizeof(event));
	if (!strcmp(event, "recorded"))
		recorded_parse(self, &reader);
	else if (!strcmp(event, "summary"))
		summary_read(self, &reader);
}

void rank_recorder_hear(struct rank_recorder *self)
{
	ssize_t got = read(self->output, self->line + self->line_size,
			   sizeof(self->line) - self->line_size);
	char *end;

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		close(TAKE_FD(self->output));
		return;
	}
	self->line_size += (size_t)got;
	while ((end = memchr(self->line, '\n', self->line_size))) {
		line_hear(self, self->line, (size_t)(end - self->line));
		self->line_size -= (size_t)(end + 1 - self->line);
		memmove(self->line, end + 1, self->line_size);
	}
	if (self->line_size == sizeof(self->line))
		self->line_size = 0;
}

/* Discards stderr: all that matters of it is in the summary, too. */
void rank_recorder_drain_errors(struct rank_recorder *self)
{
	char ignored[4096];
	ssize_t got = read(self->errors, ignored, sizeof(ignored));

	if (!got || (got < 0 && errno != EINTR && errno != EAGAIN))
		close(TAKE_FD(self->errors));
}

ssize_t rank_recorder_read_file(struct rank_recorder *self, void *bytes, size_t room)
{
	ssize_t got = read(self->file, bytes, room);

	if (got > 0) {
		self->sent_bytes += (uint64_t)got;
		return got;
	}
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return -EAGAIN;
	close(TAKE_FD(self->file));
	return 0;
}

void rank_recorder_ask(struct rank_recorder *self)
{
	if (!self->pid || self->asked_ns)
		return;
	self->asked_ns = now_ns();
	kill(self->pid, SIGTERM);
}

void rank_recorder_kill(struct rank_recorder *self)
{
	if (!self->pid || self->killed_ns)
		return;
	self->killed_ns = now_ns();
	kill(self->pid, SIGKILL);
}

bool rank_recorder_has_ended(struct rank_recorder *self)
{
	int status;

	if (self->pid && !self->killed_ns &&
	    (self->output >= 0 || self->errors >= 0 || self->file >= 0))
		return false;
	if (self->pid && waitpid(self->pid, &status, WNOHANG) == self->pid)
		self->pid = 0;
	return !self->pid;
}

bool rank_recorder_is_stuck(const struct rank_recorder *self, uint64_t patience_ns)
{
	return self->pid && self->killed_ns && now_ns() - self->killed_ns > patience_ns;
}

static enum rank_state state_of_exit(uint64_t exit)
{
	static const enum rank_state states[] = {
		[EXIT_DONE] = RANK_DONE,
		[EXIT_FAILED] = RANK_CUT,
		[EXIT_USAGE] = RANK_REFUSED,
		[EXIT_NOT_PERMITTED] = RANK_REFUSED,
		[EXIT_NO_PROCESS] = RANK_ENDED,
		[EXIT_NOTHING_CAPTURED] = RANK_IDLE,
		[EXIT_NOT_ATTACHABLE] = RANK_REFUSED,
		[EXIT_BUSY] = RANK_REFUSED,
	};

	return exit < ARRAY_SIZE(states) ? states[exit] : RANK_CUT;
}

enum rank_state rank_recorder_judge(const struct rank_recorder *self, char *reason, size_t room)
{
	bool has_exited = !strcmp(self->reason, "exit");

	if (self->killed_ns) {
		print_into(reason, room, "its recorder did not stop in time, and %s",
			   self->pid ? "cannot be ended: it hangs in the kernel" : "was ended");
		return RANK_NO_ANSWER;
	}
	if (!self->has_summary) {
		print_into(reason, room, "its recorder was killed, or had no memory");
		return RANK_CUT;
	}
	print_into(reason, room, "%s%s%s", self->error, *self->why ? ": " : "", self->why);
	if (!has_exited || (self->exit != EXIT_DONE && self->exit != EXIT_NOTHING_CAPTURED))
		return state_of_exit(self->exit);
	print_into(reason, room, "it ended meanwhile; it is recorded up to its end");
	return RANK_ENDED;
}
