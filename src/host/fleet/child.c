/*
 * Builds command lines, starts programs and reads their output.
 */
#include "host/fleet/child.h"

#include "host/core/bytes.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/room.h"
#include "host/core/self/environment.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ERRORS_MAX 4096u
#define GRACE_NS   1000000000ull
#define LOOK_NS    10000000
#define FORM_MAX   64u

void child_pipes_close(struct child_pipes *pipes)
{
	for (unsigned i = 0; i < CHILD_PIPES; i++)
		for (unsigned k = 0; k < 2; k++)
			if (pipes->ends[i][k] >= 0)
				close(TAKE_FD(pipes->ends[i][k]));
}

int child_pipes_open(struct child_pipes *ret, unsigned count)
{
	memset(ret, 0xff, sizeof(*ret));
	for (unsigned i = 0; i < count; i++)
		if (pipe2(ret->ends[i], O_CLOEXEC)) {
			int r = -errno;

			child_pipes_close(ret);
			return r;
		}
	return 0;
}

static int child_spawn(pid_t *ret, const char *const *argv, const struct child_pipes *pipes)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, usual;
	int r;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes->ends[CHILD_INPUT][0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, pipes->ends[CHILD_OUTPUT][1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, pipes->ends[CHILD_ERRORS][1], STDERR_FILENO);
	r = posix_spawnp(ret, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv,
			 environment_given());
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -r;
}

int child_start(struct child *ret, const char *const *argv, struct err *err)
{
	struct child_pipes pipes;
	int r = child_pipes_open(&pipes, CHILD_FILE);
	pid_t pid = 0;

	if (!r)
		r = child_spawn(&pid, argv, &pipes);
	if (r) {
		child_pipes_close(&pipes);
		if (r != -ENOENT)
			return err_set(err, r, "start %s: %s", argv[0], strerror(-r));
		err_set(err, r, "there is no program '%s' here", argv[0]);
		return err_fix(err, "run limpet where '%s' is installed", argv[0]);
	}
	*ret = (struct child){ .pid = pid };
	ret->input = TAKE_FD(pipes.ends[CHILD_INPUT][1]);
	ret->output = TAKE_FD(pipes.ends[CHILD_OUTPUT][0]);
	ret->errors = TAKE_FD(pipes.ends[CHILD_ERRORS][0]);
	fcntl(ret->input, F_SETFL, O_NONBLOCK);
	child_pipes_close(&pipes);
	return 0;
}

void child_close_input(struct child *self)
{
	if (self->input >= 0)
		close(TAKE_FD(self->input));
}

bool child_has_ended(struct child *self, int *ret_status)
{
	if (!self->pid || waitpid(self->pid, ret_status, WNOHANG) != self->pid)
		return false;
	self->pid = 0;
	return true;
}

void child_ask_to_end(struct child *self)
{
	int status;

	child_close_input(self);
	if (self->output >= 0)
		close(TAKE_FD(self->output));
	if (self->errors >= 0)
		close(TAKE_FD(self->errors));
	if (!self->pid || self->asked_ns || child_has_ended(self, &status))
		return;
	self->asked_ns = now_ns();
	kill(-self->pid, SIGTERM);
}

static bool child_ends_within(struct child *self, uint64_t limit_ns)
{
	uint64_t begin_ns = now_ns();
	int status;

	while (self->pid && !child_has_ended(self, &status)) {
		if (now_ns() - begin_ns >= limit_ns)
			return false;
		nanosleep(&(struct timespec){ 0, LOOK_NS }, NULL);
	}
	return true;
}

void child_end(struct child *self)
{
	uint64_t asked_for_ns;

	child_ask_to_end(self);
	asked_for_ns = now_ns() - self->asked_ns;
	if (child_ends_within(self, GRACE_NS - MIN(asked_for_ns, GRACE_NS)))
		return;
	kill(-self->pid, SIGKILL);
	if (child_ends_within(self, GRACE_NS))
		return;
	/* A child with more rights than limpet (sudo), or inside the kernel, cannot be killed: it
	 * is left. */
	self->pid = 0;
}

const char *child_describe(int status, char *buffer, size_t capacity)
{
	if (WIFSIGNALED(status))
		snprintf(buffer, capacity, "signal %d", WTERMSIG(status));
	else
		snprintf(buffer, capacity, "exit code %d", WEXITSTATUS(status));
	return buffer;
}

/* Reads one of its two outputs, and closes it at its end. */
static void output_take(int *fd, struct bytes *into, size_t bytes_max)
{
	char part[4096];
	ssize_t got = read(*fd, part, sizeof(part));

	if (got > 0)
		bytes_put(into, part, MIN((size_t)got, bytes_max - MIN(bytes_max, into->size)));
	else if (!got || (errno != EINTR && errno != EAGAIN))
		close(TAKE_FD(*fd));
}

/* Reads both outputs to their ends; -ETIME, -EFBIG. */
static int outputs_take(struct child *child, struct bytes *output, struct bytes *errors,
			size_t bytes_max, uint64_t until_ns)
{
	while (child->output >= 0 || child->errors >= 0) {
		struct pollfd fds[] = { { child->output, POLLIN, 0 },
					{ child->errors, POLLIN, 0 } };
		uint64_t now = now_ns();

		if (now >= until_ns)
			return -ETIME;
		poll(fds, 2, (int)((until_ns - now) / 1000000) + 1);
		if (fds[0].revents)
			output_take(&child->output, output, bytes_max);
		if (fds[1].revents)
			output_take(&child->errors, errors, ERRORS_MAX);
		if (output->size >= bytes_max)
			return -EFBIG;
	}
	return 0;
}

static int capture_refuse(const char *program, int r, int status, const struct bytes *errors,
			  struct err *err)
{
	struct text text = { (const char *)errors->data,
			     (const char *)errors->data + errors->size };
	struct text line, last = { 0 };
	char form[FORM_MAX];

	if (r == -ETIME)
		err_set(err, r, "%s does not answer", program);
	else if (r == -EFBIG)
		err_set(err, r, "%s says more than can be read", program);
	else
		err_set(err, -EIO, "%s failed: %s", program,
			child_describe(status, form, sizeof(form)));
	/* The last line on its stderr is the reason. */
	while (errors->size && text_take_line(&text, &line))
		if (line.end > line.at)
			last = line;
	if (last.at)
		err_why(err, "%.*s", (int)MIN(last.end - last.at, 300), last.at);
	return err->code;
}

int child_capture(const char *const *argv, size_t bytes_max, uint64_t limit_ns, char **ret,
		  struct err *err)
{
	CLEANUP(bytes_done) struct bytes output = { 0 }, errors = { 0 };
	struct child child = CHILD_NONE;
	uint64_t until_ns = now_ns() + limit_ns;
	int status = 0, r = child_start(&child, argv, err);

	if (r)
		return r;
	child_close_input(&child);
	r = outputs_take(&child, &output, &errors, bytes_max, until_ns);
	while (!r && !child_has_ended(&child, &status)) {
		if (now_ns() >= until_ns)
			r = -ETIME;
		nanosleep(&(struct timespec){ 0, LOOK_NS / 10 }, NULL);
	}
	child_end(&child);
	bytes_put(&output, "", 1);
	if (r || status)
		return capture_refuse(argv[0], r, status, &errors, err);
	if (output.has_failed)
		return err_set(err, -ENOMEM, "%s: no memory", argv[0]);
	*ret = (char *)output.data;
	output = (struct bytes){ 0 };
	return 0;
}

/* Owns the word; NULL: there is no memory for it. */
static void word_own(struct words *self, char *word)
{
	/* Two at a time: for the NULL behind it, too. */
	if (!word || make_room(&self->items, self->count + 1, &self->room, sizeof(*self->items))) {
		self->has_failed = true;
		free(word);
		return;
	}
	self->items[self->count++] = word;
	self->items[self->count] = NULL;
}

void words_add(struct words *self, const char *format, ...)
{
	va_list arguments;
	char *word = NULL;

	va_start(arguments, format);
	if (vasprintf(&word, format, arguments) < 0)
		word = NULL;
	va_end(arguments);
	word_own(self, word);
}

void words_add_text(struct words *self, const char *word)
{
	word_own(self, word ? strdup(word) : NULL);
}

void words_add_line(struct words *self, const char *line)
{
	while (*line) {
		size_t length = strcspn(line, " ");

		word_own(self, strndup(line, length));
		line += length + (line[length] == ' ');
	}
}

void words_done(struct words *self)
{
	for (size_t i = 0; i < self->count; i++)
		free(self->items[i]);
	free(self->items);
	*self = (struct words){ 0 };
}

/* A quote ends the text, is quoted itself, and begins the text again. */
char *word_quote(const char *word)
{
	size_t size = strlen(word) * 4 + 3;
	char *quoted = malloc(size), *at = quoted;

	if (!quoted)
		return NULL;
	*at++ = '\'';
	for (; *word; word++) {
		if (*word == '\'') {
			memcpy(at, "'\\''", 4);
			at += 4;
		} else {
			*at++ = *word;
		}
	}
	*at++ = '\'';
	*at = '\0';
	return quoted;
}
