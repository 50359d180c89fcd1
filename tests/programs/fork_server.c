/*
 * A server that makes a process for each request, in all the ways there are.  Each worker lives for
 * the time it is given, then answers with what it sees in itself: is there a thread of limpet's?
 *
 * usage: fork_server SOCKET
 * request: "WAY LIFE_MS NUMBER\n"; answer: "PID ATTACHED EINTR SQUARE\n".  With a negative life the
 * worker says "PID\n" at once, lives at least that long, and then until the client has closed its
 * side for writing.  The request "count" is answered with "WORKERS DEATHS\n": how many were reaped,
 * and how many of them had not ended well.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BEFORE_EXEC_MS 150
#define BEFORE_END_MS  50
#define SLOW_END_MS    2000
#define STEP_MS        20

struct request {
	char way[16];
	long life_ms, number;
	int connection;
};

static unsigned long workers, deaths;

static bool has_limpet(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	bool found = false;

	while (tasks && (entry = readdir(tasks))) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		found |= fgets(name, sizeof(name), file) && !strcmp(name, "limpet\n");
		fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return found;
}

/* How often a sleep was cut short. */
static int live(long life_ms)
{
	struct timespec end;
	int interrupts = 0;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += life_ms / 1000;
	end.tv_nsec += life_ms % 1000 * 1000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		interrupts++;
	return interrupts;
}

/* Computes and allocates all the time, in a frame that has not been written before: whatever fork
 * has left on the stack is still there. */
static int live_busily(long life_ms)
{
	char room[4096];
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		__asm__ volatile("" : : "r"(room) : "memory"); /* the room must stay */
		free(strdup("an allocation"));
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
		 life_ms);
	return 0;
}

static bool is_released(int connection)
{
	struct pollfd wait = { connection, POLLRDHUP, 0 };

	return poll(&wait, 1, 0) > 0;
}

static int work(const struct request *request)
{
	int (*pass)(long) = strcmp(request->way, "busy") ? live : live_busily;
	int interrupts, size;
	char answer[128];

	if (request->life_ms < 0)
		dprintf(request->connection, "%d\n", getpid());
	interrupts = pass(labs(request->life_ms));
	while (request->life_ms < 0 && !is_released(request->connection))
		interrupts += pass(STEP_MS);
	size = snprintf(answer, sizeof(answer), "%d %d %d %ld\n", getpid(), has_limpet(),
			interrupts, request->number * request->number);

	return write(request->connection, answer, (size_t)size) == size ? 0 : 1;
}

/* The arguments with which this program is a worker. */
struct worker_arguments {
	char texts[3][24];
	char *list[6];
};

static void fill_arguments(const struct request *request, struct worker_arguments *ret)
{
	static char program[] = "/proc/self/exe", mode[] = "--worker";

	snprintf(ret->texts[0], sizeof(ret->texts[0]), "%d", request->connection);
	snprintf(ret->texts[1], sizeof(ret->texts[1]), "%ld", request->life_ms);
	snprintf(ret->texts[2], sizeof(ret->texts[2]), "%ld", request->number);
	ret->list[0] = program;
	ret->list[1] = mode;
	for (int i = 0; i < 3; i++)
		ret->list[2 + i] = ret->texts[i];
	ret->list[5] = NULL;
}

static void execute(const struct request *request)
{
	struct worker_arguments arguments;

	fill_arguments(request, &arguments);
	execv(arguments.list[0], arguments.list);
	_exit(127);
}

static pid_t by_fork(const struct request *request)
{
	pid_t pid = fork();

	if (!pid)
		_exit(work(request));
	return pid;
}

static pid_t by_vfork(const struct request *request)
{
	struct worker_arguments arguments;
	pid_t pid;

	fill_arguments(request, &arguments);
	pid = vfork();
	if (!pid) {
		execv(arguments.list[0], arguments.list);
		_exit(127);
	}
	return pid;
}

static pid_t by_spawn(const struct request *request)
{
	struct worker_arguments arguments;
	pid_t pid;

	fill_arguments(request, &arguments);
	errno = posix_spawn(&pid, arguments.list[0], NULL, NULL, arguments.list, environ);
	return errno ? -1 : pid;
}

static int clone_main(void *request)
{
	_exit(work(request));
}

static pid_t by_clone(const struct request *request)
{
	static char stack[65536] __attribute__((aligned(16)));

	return clone(clone_main, stack + sizeof(stack), SIGCHLD, (void *)(uintptr_t)request);
}

/* Lives for a while as a copy of the server, then becomes another program: with a negative life
 * only when limpet has come. */
static pid_t by_late_exec(const struct request *request)
{
	pid_t pid = fork();

	if (!pid) {
		while (request->life_ms < 0 && !has_limpet())
			live(STEP_MS);
		live(BEFORE_EXEC_MS);
		execute(request);
	}
	return pid;
}

/* As a daemon does: a session of its own, and its parent ends soon. */
static pid_t start_daemon(const struct request *request, long before_end_ms)
{
	pid_t pid = fork();

	if (!pid) {
		setsid();
		if (!fork())
			_exit(work(request));
		live(before_end_ms);
		_exit(0);
	}
	return pid;
}

static pid_t by_daemon(const struct request *request)
{
	return start_daemon(request, BEFORE_END_MS);
}

static pid_t by_slow_daemon(const struct request *request)
{
	return start_daemon(request, SLOW_END_MS);
}

/* Without a session, and at once: nothing ties it to the server any more. */
static pid_t by_orphan(const struct request *request)
{
	pid_t pid = fork();

	if (!pid) {
		if (!fork())
			_exit(work(request));
		_exit(0);
	}
	return pid;
}

static const struct {
	const char *name;
	pid_t (*start)(const struct request *request);
} ways[] = {
	{ "fork", by_fork },     { "busy", by_fork },           { "vfork", by_vfork },
	{ "spawn", by_spawn },   { "clone", by_clone },         { "daemon", by_daemon },
	{ "orphan", by_orphan }, { "late_exec", by_late_exec }, { "slow_daemon", by_slow_daemon },
};

static void answer_count(int connection)
{
	dprintf(connection, "%lu %lu\n", workers, deaths);
}

static void start_worker(const struct request *request)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(ways[i].name, request->way) && ways[i].start(request) < 0)
			deaths++;
}

static void serve(int connection)
{
	struct request request = { .connection = connection };
	char text[128] = "";
	ssize_t size = read(connection, text, sizeof(text) - 1);

	if (size > 0 && !strcmp(text, "count\n"))
		answer_count(connection);
	else if (size > 0 &&
		 sscanf(text, "%15s %ld %ld", request.way, &request.life_ms, &request.number) == 3)
		start_worker(&request);
	close(connection);
}

static void reap(void)
{
	int status;

	while (waitpid(-1, &status, WNOHANG) > 0) {
		workers++;
		deaths += status != 0;
	}
}

static int open_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 64))
		return -1;
	return fd;
}

static int run_server(const char *path)
{
	struct pollfd wait = { open_socket(path), POLLIN, 0 };

	if (wait.fd < 0)
		return 1;
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (poll(&wait, 1, 20) > 0)
			serve(accept(wait.fd, NULL, NULL));
		reap();
	}
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--worker")) {
		struct request request = { .life_ms = atol(argv[3]),
					   .number = atol(argv[4]),
					   .connection = atoi(argv[2]) };

		return work(&request);
	}
	return argc == 2 ? run_server(argv[1]) : 2;
}
