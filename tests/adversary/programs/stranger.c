/*
 * Another user of the machine, with no rights over anything here:
 *
 *     stranger FOLDER CANARY PID...
 *
 * Whatever appears in FOLDER, which is the stranger's own, is at once replaced by a link to the
 * canary; links lie ready under the names that limpet would choose; the processes are locked, and
 * their listeners rung, again and again.
 */
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static const char *canary;

static void plant(const char *name)
{
	unlink(name);
	(void)!symlink(canary, name);
}

static void plant_names_of(const char *pid)
{
	char name[64];

	snprintf(name, sizeof(name), "limpet-%s.limpet", pid);
	plant(name);
	snprintf(name, sizeof(name), "limpet-%s-1.limpet", pid);
	plant(name);
}

static void swap_what_appears(int watch)
{
	_Alignas(struct inotify_event) char events[4096];
	ssize_t size = read(watch, events, sizeof(events));

	for (char *at = events; at < events + size;) {
		const struct inotify_event *event = (const struct inotify_event *)(void *)at;
		char target[8];

		/* Not our own links. */
		if (event->len && readlink(event->name, target, sizeof(target)) < 0)
			plant(event->name);
		at += sizeof(*event) + event->len;
	}
}

static void lock_process(int pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	char path[64];

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB))
		close(fd);
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB))
		close(fd);
}

/* And says nothing. */
static void ring(int pid)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			      "limpet-attach-%d-0", pid);

	(void)!connect(fd, (struct sockaddr *)&address,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length));
	usleep(1000);
	close(fd);
}

int main(int argc, char **argv)
{
	int watch = inotify_init1(IN_CLOEXEC);
	struct pollfd wait = { watch, POLLIN, 0 };

	if (argc < 3 || chdir(argv[1]) || inotify_add_watch(watch, ".", IN_CREATE | IN_CLOSE) < 0)
		return 2;
	canary = argv[2];
	for (int i = 3; i < argc; i++) {
		plant_names_of(argv[i]);
		lock_process(atoi(argv[i]));
	}
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (poll(&wait, 1, 2) > 0)
			swap_what_appears(watch);
		for (int i = 3; i < argc; i++)
			ring(atoi(argv[i]));
	}
}
