/*
 * Starts and ends helper programs.
 */
#include "host/attach/children/helper.h"

#include "host/attach/children/blobs.h"
#include "host/attach/children/spawn.h"
#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/core/notes.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define END_NS  2000000000ull
#define KILL_NS 1000000000ull
#define STEP_NS 2000000

/* The child unblocks all signals: a caller may have blocked some.  It changes its directory: an
 * empty part of LD_LIBRARY_PATH means the current one, in which any user may have put libraries. */
static int helper_spawn(struct helper *helper, int program, int socket, char *const words[])
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", program);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	r = posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
	if (!r)
		r = posix_spawn_file_actions_addchdir_np(&actions, "/");
	if (!r)
		r = posix_spawnattr_setsigmask(&attributes, &none);
	if (!r) /* no terminal signals: its reader ends it */
		r = posix_spawnattr_setflags(&attributes,
					     POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	if (!r)
		r = posix_spawn(&helper->pid, path, &actions, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int helper_start_nvml(struct helper *ret, char *const words[], struct err *err)
{
	CLEANUP(close)
	int program = program_open("limpet-nvml", blob_nvml, (size_t)(blob_nvml_end - blob_nvml));
	int pair[2], r;

	*ret = (struct helper){ 0, -1 };
	if (program < 0)
		return err_set(err, program, "cannot make the program limpet-nvml: %s",
			       strerror(-program));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(err, -errno, "a socket for limpet-nvml: %s", strerror(errno));
	r = helper_spawn(ret, program, pair[1], words);
	close(pair[1]);
	if (!r) {
		ret->socket = pair[0];
		return 0;
	}
	close(pair[0]);
	*ret = (struct helper){ 0, -1 };
	return err_set(err, r, "cannot run limpet-nvml: %s", strerror(-r));
}

static bool helper_wait(const struct helper *helper, uint64_t time_ns)
{
	uint64_t end_ns = now_ns() + time_ns;

	for (;;) {
		pid_t pid = waitpid(helper->pid, NULL, WNOHANG);

		if (pid == helper->pid || (pid < 0 && errno == ECHILD))
			return true;
		if (now_ns() >= end_ns)
			return false;
		sleep_ns(STEP_NS);
	}
}

/* SIGKILL does not end a helper inside a driver's call until the driver returns. */
void helper_end(struct helper *helper)
{
	if (helper->pid <= 0)
		return;
	close(helper->socket);
	if (!helper_wait(helper, END_NS)) {
		kill(helper->pid, SIGKILL);
		if (!helper_wait(helper, KILL_NS))
			note_add(
				"limpet-nvml (%d) was killed and has not ended: a driver holds it; "
				"it was left",
				(int)helper->pid);
	}
	*helper = (struct helper){ 0, -1 };
}
