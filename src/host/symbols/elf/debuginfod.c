/*
 * Runs debuginfod-find.
 */
#include "host/symbols/elf/debuginfod.h"

#include "host/core/clock.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM  "debuginfod-find"
#define FILE_S   20u
#define ALL_NS   60000000000ull
#define ID_BYTES 32u

static bool is_in_path(void)
{
	const char *at = secure_getenv("PATH");
	char path[PATH_MAX];

	for (size_t length; at && *at; at += length + (at[length] == ':')) {
		length = strcspn(at, ":");
		snprintf(path, sizeof(path), "%.*s/" PROGRAM, (int)length, at);
		if (length && access(path, X_OK) == 0)
			return true;
	}
	return false;
}

int debuginfod_check(struct err *err)
{
	const char *urls = secure_getenv("DEBUGINFOD_URLS");

	if (!urls || !urls[strspn(urls, " ")]) {
		err_set(err, -EINVAL, "no server to ask for debug files");
		err_why(err, "DEBUGINFOD_URLS is not set");
		err_fix(err, "export DEBUGINFOD_URLS=https://debuginfod.debian.net");
		return err_exit(err, EXIT_USAGE);
	}
	if (is_in_path())
		return 0;
	err_set(err, -ENOENT, "debug files cannot be asked for: there is no " PROGRAM);
	return err_fix(err, "apt install debuginfod");
}

/* Its output is read through the pipe. */
static int debuginfod_start(pid_t *ret, const char *build_id, int output)
{
	char *const argv[] = { (char[]){ PROGRAM }, (char[]){ "debuginfo" },
			       (char *)(uintptr_t)build_id, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int r;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	r = posix_spawnp(ret, PROGRAM, &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -r;
}

static int ms_until(uint64_t end_ns)
{
	uint64_t now = now_ns();

	return now >= end_ns ? 0 : (int)((end_ns - now) / 1000000) + 1;
}

/* One line; false when it does not arrive in time. */
static bool read_line(int fd, uint64_t end_ns, char *ret, size_t room)
{
	size_t size = 0;
	ssize_t got = 1;

	while (got > 0 && size < room - 1) {
		struct pollfd wait = { fd, POLLIN, 0 };
		int limit_ms = ms_until(end_ns);

		if (!limit_ms)
			return false;
		if (poll(&wait, 1, limit_ms) <= 0)
			continue;
		got = read(fd, ret + size, room - 1 - size);
		size += got > 0 ? (size_t)got : 0;
	}
	ret[size] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

/* Its output may be complete while it still runs. */
static void end_in_time(pid_t child, uint64_t end_ns)
{
	struct pollfd wait = { (int)syscall(SYS_pidfd_open, child, 0), POLLIN, 0 };

	while (wait.fd >= 0 && poll(&wait, 1, ms_until(end_ns)) < 0 && errno == EINTR)
		;
	if (!wait.revents)
		kill(child, SIGKILL);
	if (wait.fd >= 0)
		close(wait.fd);
}

static bool ends_well(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static uint64_t limit_ns(const struct debuginfod *self)
{
	const char *wanted = secure_getenv("DEBUGINFOD_TIMEOUT");
	uint64_t seconds = FILE_S;

	if (wanted && text_parse_number(wanted, FILE_S, &seconds))
		seconds = FILE_S;
	return MIN(seconds * 1000000000u, ALL_NS - self->spent_ns);
}

static bool debuginfod_request(struct debuginfod *self, const char *build_id, char *ret,
			       size_t room)
{
	uint64_t begin_ns = now_ns(), end_ns = begin_ns + limit_ns(self);
	int ends[2];
	pid_t child;
	bool is_told, is_well;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	if (debuginfod_start(&child, build_id, ends[1])) {
		close(ends[0]);
		close(ends[1]);
		return false;
	}
	close(ends[1]);
	is_told = read_line(ends[0], end_ns, ret, room);
	close(ends[0]);
	end_in_time(child, is_told ? end_ns : 0);
	self->late += !is_told;
	is_well = ends_well(child);
	self->spent_ns += now_ns() - begin_ns;
	return is_told && is_well && ret[0] == '/';
}

bool debuginfod_find(struct debuginfod *self, const unsigned char *build_id, size_t size, char *ret,
		     size_t room)
{
	char text[2 * ID_BYTES + 1];

	if (!size || size > ID_BYTES)
		return false;
	self->asked++;
	if (self->spent_ns >= ALL_NS) {
		self->late++;
		return false;
	}
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", build_id[i]);
	if (!debuginfod_request(self, text, ret, room))
		return false;
	self->found++;
	return true;
}
