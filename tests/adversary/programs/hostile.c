/*
 * A target that does one or several unfriendly things again and again, at random moments, each on a
 * thread of its own:
 *
 *     hostile SEED CANARY NAME[,NAME]...
 *
 * In the current folder it makes folders that it takes for its root.
 * Says "ready", "settled" when it has given up the rights that it wants to give up, and "ESCAPED:
 * how" whenever it got at the canary, a file that it must not reach. Started from a copy with the
 * setuid bit it stays root for a moment and goes on as who it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HER         1234
#define STACK       (128 << 10)
#define MAX_FD      1024
#define MANY        2000
#define AREAS       512
#define HOP_SUFFIX  "-setuid"
#define DOCKER      0xa80425fbu
#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static char **arguments;
static const char *canary;
static char own_path[512];
static pthread_mutex_t areas_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int is_begun;

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void wait_at_most(uint64_t *random, uint64_t most_us)
{
	struct timespec delay = { 0, (long)(next_random(random) % most_us) * 1000 };

	nanosleep(&delay, NULL);
}

static void say(const char *words, const char *more)
{
	char line[128];
	int length = snprintf(line, sizeof(line), "%s%s\n", words, more);

	if (write(STDOUT_FILENO, line, (size_t)length) < 0)
		_exit(1);
}

/* Anything but our own three, which the driver listens to. */
static int each_fd(int (*visit)(int fd, uint64_t *random), uint64_t *random)
{
	int count = 0;

	for (int fd = 3; fd < MAX_FD; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			count += visit(fd, random);
	return count;
}

static int close_one(int fd, uint64_t *random)
{
	(void)random;
	return !close(fd);
}

static void close_all(uint64_t *random)
{
	each_fd(close_one, random);
}

/* A socket that nobody reads and that has no room left. */
static int full_socket(void)
{
	static int full = -1;
	int pair[2];
	char bytes[1024] = { 0 };

	if (full >= 0 && fcntl(full, F_GETFD) >= 0)
		return full;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return -1;
	while (send(pair[0], bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
	full = pair[0];
	return full;
}

static int replace_socket(int fd, uint64_t *random)
{
	struct stat file;
	int full = full_socket();

	(void)random;
	if (full < 0 || fd == full || fd == full + 1 || fstat(fd, &file) || !S_ISSOCK(file.st_mode))
		return 0;
	return dup2(full, fd) >= 0;
}

static void replace_sockets(uint64_t *random)
{
	each_fd(replace_socket, random);
}

/* Something else, of the program's own, under every number. */
static int replace_one(int fd, uint64_t *random)
{
	return dup2((int)(next_random(random) % 3), fd) >= 0;
}

static void replace_all(uint64_t *random)
{
	each_fd(replace_one, random);
}

/* What was mapped when the program began. */
static struct area {
	uintptr_t start, end;
} own_areas[AREAS];
static size_t own_count;

/* Without stdio, which would map memory of its own. */
static size_t read_areas(struct area *into)
{
	static char text[1 << 18];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t size = 0, count = 0;
	ssize_t got;
	char rights[5];

	while (fd >= 0 && (got = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	text[size] = '\0';
	if (fd >= 0)
		close(fd);
	for (char *line = text; *line && count < AREAS; line += strcspn(line, "\n") + 1) {
		if (sscanf(line, "%lx-%lx %4s", &into[count].start, &into[count].end, rights) ==
			    3 &&
		    rights[1] == 'w')
			count++;
		if (!strchr(line, '\n'))
			break;
	}
	return count;
}

static int is_own(const struct area *area)
{
	for (size_t i = 0; i < own_count; i++)
		if (area->start < own_areas[i].end && own_areas[i].start < area->end)
			return 1;
	return 0;
}

static void write_word(uintptr_t at, uint64_t value)
{
	struct iovec from = { &value, sizeof(value) }, to = { (void *)at, sizeof(value) };

	process_vm_writev(getpid(), &from, 1, &to, 1, 0);
}

static uint64_t interesting(uint64_t *random)
{
	static const uint64_t values[] = { 0, 1, ~0ull, 1ull << 63, 1ull << 31, 0xffffffff, 4096 };
	uint64_t choice = next_random(random) % (COUNT(values) + 1);

	return choice < COUNT(values) ? values[choice] : next_random(random);
}

/* In all that came since, limpet's among it; `each` words of every area. */
static void write_areas(uint64_t *random, unsigned each)
{
	static struct area now[AREAS];
	size_t count = read_areas(now);

	for (size_t i = 0; i < count; i++)
		for (unsigned k = 0; k < each && !is_own(&now[i]); k++)
			write_word(now[i].start + next_random(random) %
							  (now[i].end - now[i].start) / 8 * 8,
				   interesting(random));
}

static void scribble(uint64_t *random)
{
	pthread_mutex_lock(&areas_lock);
	write_areas(random, 64);
	pthread_mutex_unlock(&areas_lock);
}

/* One word in the first page, where headers, magic numbers and lengths are. */
static void forge(uint64_t *random)
{
	static struct area now[AREAS];
	size_t count;

	pthread_mutex_lock(&areas_lock);
	count = read_areas(now);
	for (size_t i = 0; i < count; i++)
		if (!is_own(&now[i]))
			write_word(now[i].start + 8 + next_random(random) % 500 * 8,
				   interesting(random));
	pthread_mutex_unlock(&areas_lock);
}

static void exec_self(uint64_t *random)
{
	wait_at_most(random, 900000);
	execv(own_path, arguments);
}

/* A copy with the setuid bit, if there is one. */
static void exec_setuid(uint64_t *random)
{
	char path[sizeof(own_path) + sizeof(HOP_SUFFIX)];

	wait_at_most(random, 300000);
	snprintf(path, sizeof(path), "%s" HOP_SUFFIX, own_path);
	execv(path, arguments);
}

static void fork_some(uint64_t *random)
{
	pid_t child = next_random(random) % 2 ? fork() : vfork();

	if (child == 0)
		_exit(0);
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void unshare_some(uint64_t *random)
{
	static const int kinds[] = { CLONE_FS,     CLONE_FILES,  CLONE_NEWNS,
				     CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWUSER };

	(void)!unshare(kinds[next_random(random) % COUNT(kinds)]);
}

static void join_namespaces(uint64_t *random)
{
	static const char *const names[] = { "uts", "ipc", "mnt", "user", "pid" };
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", names[next_random(random) % COUNT(names)]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!setns(fd, 0);
		close(fd);
	}
}

static void chroot_empty(uint64_t *random)
{
	char path[] = "root-XXXXXX";

	wait_at_most(random, 500000);
	if (mkdtemp(path)) {
		(void)!chroot(path);
		(void)!chdir("/");
	}
}

/* As systemd and dbus do it: capabilities of this thread, ids of the process.  On the first thread,
 * and only where it is the only one: libc ends a program of several threads for it. */
static void drop_rights(uint64_t *random)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	wait_at_most(random, 250000);
	data[0].effective = data[0].permitted = 1u << CAP_SETGID;
	if (getuid() || prctl(PR_SET_KEEPCAPS, 1) || setresuid(HER, HER, HER))
		return;
	(void)!syscall(SYS_capset, &header, data);
	(void)!setresgid(HER, HER, HER);
	data[0].effective = data[0].permitted = 0;
	(void)!syscall(SYS_capset, &header, data);
}

/* One more filter for all threads: it kills for what nobody needs. */
static void add_filter(uint64_t *random)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_swapoff, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { COUNT(code), code };

	wait_at_most(random, 500000);
	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		(void)!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			       &program);
}

static void rename_all(uint64_t *random)
{
	static const char *const names[] = { "\033[2J\033[31m",
					     "\x9b"
					     "31m",
					     "a\nb: c",
					     "\033]0;x\a",
					     "\r\x7f\b\b",
					     "(()) ) R 1" };
	const char *name = names[next_random(random) % COUNT(names)];
	char path[64];
	int fd;

	prctl(PR_SET_NAME, name);
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)getpid());
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, name, strlen(name));
		close(fd);
	}
	memset(arguments[1], '\033', strlen(arguments[1]));
}

static void *sleep_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static int start_thread(void *(*run)(void *), void *data)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int r;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	r = pthread_create(&thread, &attributes, run, data);
	pthread_attr_destroy(&attributes);
	return r;
}

static void have_many_threads(uint64_t *random)
{
	static int made;

	(void)random;
	while (made < MANY && !start_thread(sleep_for_ever, NULL))
		made++;
}

static void exit_soon(uint64_t *random)
{
	wait_at_most(random, 900000);
	_exit(0);
}

static void try_canary(int at, const char *path, const char *how)
{
	int fd = openat(at, path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	say("ESCAPED: ", how);
	close(fd);
}

/* Up and out from every directory that turns up, and through every link to a process. */
static int walk_out(int fd, uint64_t *random)
{
	char path[640];
	struct stat file;

	(void)random;
	if (fstat(fd, &file) || !S_ISDIR(file.st_mode))
		return 0;
	snprintf(path, sizeof(path), "../../../../../../../..%s", canary);
	try_canary(fd, path, "from a directory that was handed in");
	snprintf(path, sizeof(path), "../root%s", canary);
	try_canary(fd, path, "through the root of a process");
	return 1;
}

/* Without a pause: a descriptor may be there for a moment only. */
static void look_for_a_way_out(uint64_t *random)
{
	for (unsigned i = 0; i < 1000; i++)
		each_fd(walk_out, random);
	try_canary(AT_FDCWD, canary, "by its name");
}

static const struct {
	const char *name;
	void (*act)(uint64_t *random);
} deeds[] = {
	{ "close", close_all },
	{ "replace", replace_all },
	{ "sockets", replace_sockets },
	{ "scribble", scribble },
	{ "forge", forge },
	{ "exec", exec_self },
	{ "setuid", exec_setuid },
	{ "fork", fork_some },
	{ "unshare", unshare_some },
	{ "setns", join_namespaces },
	{ "chroot", chroot_empty },
	{ "filter", add_filter },
	{ "names", rename_all },
	{ "threads", have_many_threads },
	{ "exit", exit_soon },
	{ "escape", look_for_a_way_out },
};

static void *do_for_ever(void *data)
{
	size_t index = (size_t)data;
	uint64_t random = strtoull(arguments[1], NULL, 10) * 7919 + index * 104729 + 1;

	while (!is_begun)
		wait_at_most(&random, 1000);
	for (;;) {
		deeds[index].act(&random);
		wait_at_most(&random, 20000);
	}
	return NULL;
}

/* An empty root in a mount namespace of its own, with the capabilities that Docker gives: what the
 * canary is in cannot be reached from there. */
static int enter_container(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct few[2] = { { DOCKER, DOCKER, 0 } };
	char root[] = "root-XXXXXX";

	if (!mkdtemp(root) || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", root, "tmpfs", 0, NULL) || chdir(root) || mkdir("old", 0700) ||
	    syscall(SYS_pivot_root, ".", "old") || chdir("/") || umount2("/old", MNT_DETACH))
		return -1;
	return prctl(PR_SET_DUMPABLE, 1) || syscall(SYS_capset, &header, few);
}

/* Root for a moment, and then again who it was. */
static void come_from_setuid(void)
{
	struct timespec moment = { 0, 20000000 };
	char *suffix = strstr(own_path, HOP_SUFFIX);

	if (!suffix)
		return;
	nanosleep(&moment, NULL);
	*suffix = '\0';
	if (setresuid(getuid(), getuid(), getuid()))
		_exit(1);
	execv(own_path, arguments);
	_exit(1);
}

static void start_deeds(char *names)
{
	char *rest = names, *name;

	while ((name = strsep(&rest, ",")))
		for (size_t i = 0; i < COUNT(deeds); i++)
			if (!strcmp(name, deeds[i].name))
				start_thread(do_for_ever, (void *)i);
}

int main(int argc, char **argv)
{
	char names[256];
	uint64_t random = 1;
	ssize_t length = readlink("/proc/self/exe", own_path, sizeof(own_path) - 1);

	if (argc != 4 || length <= 0)
		return 2;
	arguments = argv;
	canary = argv[2];
	come_from_setuid();
	random += strtoull(argv[1], NULL, 10);
	snprintf(names, sizeof(names), "%s", argv[3]);
	if (strstr(names, "container") && enter_container())
		return 77;
	start_deeds(names);
	own_count = read_areas(own_areas);
	is_begun = 1;
	say("ready", "");
	if (!strcmp(argv[3], "drop"))
		drop_rights(&random);
	say("settled", "");
	for (;;)
		pause();
}
